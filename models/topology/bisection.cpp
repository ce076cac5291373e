#include "models/topology/bisection.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace trnsim {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// A network of nodes and edges with capacities; edge e ^ 1 is the way back of edge e.
class Network {
 public:
  explicit Network(std::size_t nodes) : leaving_(nodes) {}

  void connect(std::size_t from, std::size_t to, std::uint64_t capacity) {
    leaving_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    leaving_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  /// By shortest paths (Edmonds and Karp). REQUIRES: every path has an edge with a limit.
  std::uint64_t largest_flow(std::size_t from, std::size_t to) {
    std::uint64_t flow = 0;
    while (find_path(from, to)) flow += fill_path(from, to);
    return flow;
  }

 private:
  struct Edge {
    std::size_t to = 0;
    std::uint64_t left = 0;
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Leaves in `reached_by_` the edge by which each node is reached.
  bool find_path(std::size_t from, std::size_t to) {
    reached_by_.assign(leaving_.size(), kNone);
    std::vector<std::size_t> front = {from};
    for (std::size_t next = 0; next < front.size() && reached_by_[to] == kNone; ++next) {
      for (const std::size_t edge : leaving_[front[next]]) {
        const std::size_t node = edges_[edge].to;
        if (edges_[edge].left == 0 || node == from || reached_by_[node] != kNone) continue;
        reached_by_[node] = edge;
        front.push_back(node);
      }
    }
    return reached_by_[to] != kNone;
  }

  std::uint64_t fill_path(std::size_t from, std::size_t to) {
    std::uint64_t room = kUnlimited;
    const auto along = [&](auto&& act) {
      for (std::size_t node = to; node != from; node = edges_[reached_by_[node] ^ 1U].to) act(reached_by_[node]);
    };
    along([&](std::size_t edge) { room = std::min(room, edges_[edge].left); });
    along([&](std::size_t edge) {
      if (edges_[edge].left != kUnlimited) edges_[edge].left -= room;
      if (edges_[edge ^ 1U].left != kUnlimited) edges_[edge ^ 1U].left += room;
    });
    return room;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> leaving_;  ///< by node: edges
  std::vector<std::size_t> reached_by_;
};

/// Which link follows which, on the way from any source to any sink.
class Joints {
 public:
  explicit Joints(const Topology& topology)
      : topology_(topology),
        first_(topology.links().size()),
        last_(topology.links().size()),
        followed_(topology.links().size()),
        walked_(2 * topology.links().size()) {}

  void add(ChipId source, ChipId sink) {
    if (topology_.any_down()) return add_detour(topology_.route(source, sink).hops);
    std::uint32_t before = kNoLink;
    for (Way way = topology_.way(source, sink); !way.arrived();) {
      const std::uint32_t link = topology_.cross(way).link.value();
      join(before, link);
      before = link;
      // From here on it goes as every message to this sink that comes over this link.
      std::uint32_t& walked = walked_[2 * std::size_t{link} + (way.even ? 1 : 0)];
      if (walked == sink.value() + 1) return;
      walked = sink.value() + 1;
    }
    last_[before] = true;
  }

  [[nodiscard]] bool is_first(std::size_t link) const { return first_[link]; }
  [[nodiscard]] bool is_last(std::size_t link) const { return last_[link]; }
  [[nodiscard]] const std::vector<std::uint32_t>& after(std::size_t link) const { return followed_[link]; }

 private:
  static constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();

  void add_detour(const std::vector<Hop>& hops) {
    std::uint32_t before = kNoLink;
    for (const Hop& hop : hops) {
      join(before, hop.link.value());
      before = hop.link.value();
    }
    last_[before] = true;
  }

  void join(std::uint32_t before, std::uint32_t link) {
    if (before == kNoLink) {
      first_[link] = true;
      return;
    }
    std::vector<std::uint32_t>& after = followed_[before];
    if (std::ranges::find(after, link) == after.end()) after.push_back(link);
  }

  const Topology& topology_;
  std::vector<bool> first_, last_;                    ///< by link
  std::vector<std::vector<std::uint32_t>> followed_;  ///< by link: the links that come next
  std::vector<std::uint32_t> walked_;                 ///< by link and half of the sources: last sink + 1
};

}  // namespace

BytesPerSecond flow_between(const Topology& topology, std::span<const ChipId> sources, std::span<const ChipId> sinks) {
  Joints joints(topology);
  for (const ChipId sink : sinks) {
    for (const ChipId source : sources) joints.add(source, sink);
  }
  const std::size_t links = topology.links().size();
  // A link is two nodes, its beginning and its end.
  Network network(2 * links + 2);
  const std::size_t source = 2 * links;
  const std::size_t sink = source + 1;
  for (std::size_t i = 0; i < links; ++i) {
    network.connect(2 * i, 2 * i + 1, topology.links()[i].bandwidth.count());
    if (joints.is_first(i)) network.connect(source, 2 * i, kUnlimited);
    if (joints.is_last(i)) network.connect(2 * i + 1, sink, kUnlimited);
    for (const std::uint32_t next : joints.after(i)) network.connect(2 * i + 1, 2 * std::size_t{next}, kUnlimited);
  }
  return BytesPerSecond(network.largest_flow(source, sink));
}

}  // namespace trnsim
