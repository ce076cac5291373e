// The hypercube that halving and doubling walk along.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/collectives/schedule.h"

namespace trnsim::collective {

/// Nodes are the chips, if they form a cube or there is only one; else the ranks by number. All nodes have equally many
/// ranks, and those with the same local number form a cube of their own, which turns its dimensions: turn t of local
/// rank i is along dimension i + t. A position counts turns as binary digits, turn 0 the highest, so that the nodes
/// that are still together after t turns follow each other.
class Cube {
 public:
  /// Needs: no obstacle.
  explicit Cube(const Place& place);
  [[nodiscard]] static std::string obstacle(const Place& place);

  [[nodiscard]] std::uint32_t dimensions() const { return dimensions_; }
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] std::uint32_t locals() const { return static_cast<std::uint32_t>(ranks_.front().size()); }
  [[nodiscard]] std::uint32_t local(std::uint32_t rank) const;
  /// The ranks of the node of `rank`, by local number.
  [[nodiscard]] const std::vector<std::uint32_t>& beside(std::uint32_t rank) const { return ranks_[node_[rank]]; }
  [[nodiscard]] std::uint32_t position(std::uint32_t rank) const;
  /// The ranks with this local number, by position.
  [[nodiscard]] std::vector<std::uint32_t> line(std::uint32_t local) const;
  /// Across the dimension of `turn`.
  [[nodiscard]] std::uint32_t peer(std::uint32_t rank, std::uint32_t turn) const;

 private:
  /// Coordinates whose digits are turns, from and to coordinates whose digits are dimensions (0 the lowest).
  [[nodiscard]] std::uint32_t turned(std::uint32_t coordinates, std::uint32_t local) const;
  [[nodiscard]] std::uint32_t dimension(std::uint32_t local, std::uint32_t turn) const {
    return (local + turn) % dimensions_;
  }

  std::uint32_t dimensions_ = 0;
  std::vector<std::vector<std::uint32_t>> ranks_;  ///< by node
  std::vector<std::uint32_t> node_;                ///< by rank
  std::vector<std::uint32_t> coordinates_;         ///< by node
  std::vector<std::uint32_t> node_at_;             ///< by coordinates
};

}  // namespace trnsim::collective
