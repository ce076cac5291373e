// Chips below levels of switches.
#pragma once

#include "models/topology/shape.h"

namespace trnsim {

/// A switch of level i joins `levels[i].size` chips (i = 0) or switches of level i - 1. A message goes up to the lowest
/// switch above both chips, then down. Links are numbered by level, then by the lower end, up before down.
class Tree : public Shape {
 public:
  explicit Tree(const FabricSpec& spec);

  [[nodiscard]] Step next(std::uint32_t node, std::uint32_t to, bool even) const override;
  [[nodiscard]] std::string switch_name(std::uint32_t node) const override;

 private:
  /// The level whose switches (chips: level 0) `node` belongs to.
  [[nodiscard]] std::size_t tier(std::uint32_t node) const;

  std::vector<std::uint32_t> span_;   ///< chips below a node, by tier: chips, switches of level 0, ...
  std::vector<std::uint32_t> first_;  ///< node, by tier
};

}  // namespace trnsim
