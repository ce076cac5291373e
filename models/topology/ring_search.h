// Edge-disjoint Hamiltonian cycles of a graph: what rings of chips are made of.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace trnsim {

/// An undirected graph of few edges per node.
class RingGraph {
 public:
  struct Edge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
  };

  explicit RingGraph(std::uint32_t nodes) : at_(nodes) {}

  /// Joins two nodes, once, and returns the number of the edge.
  std::uint32_t join(std::uint32_t a, std::uint32_t b);

  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(at_.size()); }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<std::uint32_t>& edges_at(std::uint32_t node) const { return at_[node]; }
  [[nodiscard]] std::uint32_t other(std::uint32_t edge, std::uint32_t node) const {
    return edges_[edge].a == node ? edges_[edge].b : edges_[edge].a;
  }

 private:
  std::vector<Edge> edges_;
  std::vector<std::vector<std::uint32_t>> at_;  ///< edges by node
};

using Cycle = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kSpare = ~std::uint32_t{};

/// `factor[e]` = the set of rings that edge e belongs to, 0 to factors - 1, or kSpare; in each set every node has two
/// edges. Exchanges edges of squares (ring edge, other edge, ring edge, other edge) until each set is one ring of all
/// nodes. Empty if that is not found within a bounded number of exchanges.
[[nodiscard]] std::vector<Cycle> merged_rings(const RingGraph& graph, std::vector<std::uint32_t> factor,
                                              std::uint32_t factors);

/// Hamiltonian cycles without a common edge, one after another by depth-first search of a bounded number of steps.
[[nodiscard]] std::vector<Cycle> searched_rings(const RingGraph& graph);

}  // namespace trnsim
