#include "models/topology/edge_list.h"

#include <limits>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

EdgeList::EdgeList(const FabricSpec& spec)
    : Shape(spec, spec.edge_chips, static_cast<std::uint32_t>(spec.switch_names.size())),
      names_(spec.switch_names),
      out_of_(nodes()),
      next_(std::size_t{chips()} * nodes(), kNone) {
  std::vector<std::vector<std::uint32_t>> into(nodes());
  for (const EdgeSpec& edge : spec.edges) {
    const std::uint32_t link = connect(edge.from, edge.to, "edge", edge.bandwidth, edge.latency);
    out_of_[edge.from].push_back(link);
    into[edge.to].push_back(link);
  }
  for (std::uint32_t to = 0; to < chips(); ++to) find_ways(to, into);
}

// Breadth first from the destination against the direction of the links.
void EdgeList::find_ways(std::uint32_t to, const std::vector<std::vector<std::uint32_t>>& into) {
  std::vector<std::uint32_t> distance(nodes(), kNone);
  std::vector<std::uint32_t> order{to};
  distance[to] = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t link : into[order[i]]) {
      const std::uint32_t from = links()[link].from;
      if (distance[from] != kNone) continue;
      distance[from] = distance[order[i]] + 1;
      order.push_back(from);
    }
  }
  for (const std::uint32_t node : order) {
    std::vector<std::uint32_t> best;
    for (const std::uint32_t link : out_of_[node]) {
      const std::uint32_t after = distance[links()[link].to];
      if (after != kNone && after + 1 == distance[node]) best.push_back(link);
    }
    if (!best.empty()) next_[std::size_t{to} * nodes() + node] = best[to % best.size()];
  }
  for (std::uint32_t chip = 0; chip < chips(); ++chip) {
    if (distance[chip] != kNone) continue;
    throw InputError("no way leads from chip" + std::to_string(chip) + " to chip" + std::to_string(to) +
                     "; add the links, a row for each direction");
  }
}

Step EdgeList::next(std::uint32_t node, std::uint32_t to, bool /*even*/) const {
  const std::uint32_t link = next_[std::size_t{to} * nodes() + node];
  return {link, links()[link].to};
}

}  // namespace trnsim
