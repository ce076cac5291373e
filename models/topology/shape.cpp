#include "models/topology/shape.h"

#include <algorithm>
#include <cmath>

namespace trnsim {

std::uint32_t Shape::connect(std::uint32_t from, std::uint32_t to, std::string_view level, BytesPerSecond raw,
                             Time latency) {
  const double sustained = std::max(1.0, static_cast<double>(raw.count()) * fraction_);
  links_.push_back(
      {from, to, std::string(level), BytesPerSecond(static_cast<std::uint64_t>(std::llround(sustained))), latency});
  return static_cast<std::uint32_t>(links_.size() - 1);
}

namespace {

/// The link over which a breadth-first search from node `first` reaches each node; kUnreached where it does not.
/// `forwards`: along the links, else against them.
constexpr std::uint32_t kUnreached = ~std::uint32_t{};
std::vector<std::uint32_t> reached_over(const std::vector<ShapeLink>& links, std::uint32_t nodes, std::uint32_t first,
                                        const std::vector<bool>& down, bool forwards) {
  std::vector<std::vector<std::uint32_t>> out(nodes);
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    if (!down[i]) out[forwards ? links[i].from : links[i].to].push_back(i);
  }
  std::vector<std::uint32_t> over(nodes, kUnreached);
  std::vector<std::uint32_t> order{first};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t link : out[order[i]]) {
      const std::uint32_t next = forwards ? links[link].to : links[link].from;
      if (next == first || over[next] != kUnreached) continue;
      over[next] = link;
      order.push_back(next);
    }
  }
  return over;
}

}  // namespace

// The fewest links, of several ways the one over the lowest numbers of links.
std::vector<Step> Shape::around(std::uint32_t from, std::uint32_t to, bool /*even*/,
                                const std::vector<bool>& down) const {
  const std::vector<std::uint32_t> over = reached_over(links_, nodes_, from, down, true);
  std::vector<Step> steps;
  if (over[to] == kUnreached) return steps;
  for (std::uint32_t node = to; node != from; node = links_[over[node]].from) steps.push_back({over[node], node});
  return {steps.rbegin(), steps.rend()};
}

Shape::Cut Shape::cut_off(const std::vector<bool>& down) const {
  for (const bool forwards : {true, false}) {
    const std::vector<std::uint32_t> over = reached_over(links_, nodes_, 0, down, forwards);
    for (std::uint32_t chip = 1; chip < chips_; ++chip) {
      if (over[chip] == kUnreached) return forwards ? std::pair(0U, chip) : std::pair(chip, 0U);
    }
  }
  return std::nullopt;
}

}  // namespace trnsim
