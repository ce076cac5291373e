// A fabric that is given link by link.
#pragma once

#include "models/topology/shape.h"

namespace trnsim {

/// A message takes as few links as lead to its destination. Of several next links that are as good, the n-th is taken
/// for chip n (modulo their number), so that destinations share them. Links are numbered as they are given.
/// Keeps a number per node and chip.
class EdgeList : public Shape {
 public:
  /// Throws InputError if a chip cannot reach another.
  explicit EdgeList(const FabricSpec& spec);

  [[nodiscard]] Step next(std::uint32_t node, std::uint32_t to, bool even) const override;
  [[nodiscard]] std::string switch_name(std::uint32_t node) const override { return names_[node - chips()]; }

 private:
  void find_ways(std::uint32_t to, const std::vector<std::vector<std::uint32_t>>& into);

  std::vector<std::string> names_;
  std::vector<std::vector<std::uint32_t>> out_of_;  ///< links by node that they leave
  std::vector<std::uint32_t> next_;                 ///< link, by chip and node
};

}  // namespace trnsim
