// Chips on a grid of any dimension, each joined to its neighbours along every dimension.
#pragma once

#include "models/topology/shape.h"

namespace trnsim {

/// Chip = c0 + c1 * size0 + c2 * size0 * size1 + ... A message goes dimension by dimension from the first, each the
/// shorter way round (the only one, if the
/// dimension does not wrap). Where both ways are equally long, even sources (sum of the coordinates) go up and odd ones
/// down. Links are numbered by the chip that they leave, then by dimension, then up before down.
/// Where a link on the way is down, a message goes the other way round that ring.
class Torus : public Shape {
 public:
  explicit Torus(const FabricSpec& spec);

  [[nodiscard]] Step next(std::uint32_t node, std::uint32_t to, bool even) const override;
  [[nodiscard]] std::vector<Step> around(std::uint32_t from, std::uint32_t to, bool even,
                                         const std::vector<bool>& down) const override;
  [[nodiscard]] Cut cut_off(const std::vector<bool>& down) const override;
  [[nodiscard]] std::string_view ways() const override;
  [[nodiscard]] bool even(std::uint32_t chip) const override;
  [[nodiscard]] std::vector<std::uint32_t> coordinates(std::uint32_t chip) const override;
  [[nodiscard]] std::string switch_name(std::uint32_t /*node*/) const override { return ""; }

 private:
  /// The steps along one dimension to the place of `to`; empty if a link on the way is down.
  [[nodiscard]] std::vector<Step> line(std::uint32_t from, std::uint32_t to, std::size_t dimension, bool up,
                                       const std::vector<bool>& down) const;
  [[nodiscard]] bool goes_up(std::size_t dimension, std::uint32_t from, std::uint32_t to, bool even) const;
  void add_ports(std::uint32_t chip, std::size_t dimension, const LineSpec& spec);
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t chip, std::size_t dimension) const {
    return coordinates_[chip * size_.size() + dimension];
  }

  std::vector<std::uint32_t> size_;         ///< by dimension
  std::vector<bool> wrap_;                  ///< by dimension
  std::vector<std::uint32_t> stride_;       ///< chips between neighbours, by dimension
  std::vector<std::uint32_t> coordinates_;  ///< by chip and dimension
  std::vector<Step> ports_;                 ///< by chip, dimension and direction: down, up
};

}  // namespace trnsim
