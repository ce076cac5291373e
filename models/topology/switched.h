// Racks of sleds of chips, joined by switches.
#pragma once

#include "models/topology/shape.h"

namespace trnsim {

/// Chip = (rack * sleds + sled) * chips_per_sled + position. A switch (or direct links) joins a sled, switch plane
/// `position mod planes` the chips of those positions in a rack, direct links the chips of equal sled and position in
/// all racks. A message to another sled of a plane that its chip is not on goes first inside the sled to the chip at
/// the destination's position; then through the plane to the destination's sled and position; across racks last. Links
/// are numbered by level (sled, rack, cross_rack), then by chip, for switch ports out of the chip before into it.
class Switched : public Shape {
 public:
  explicit Switched(const FabricSpec& spec);

  [[nodiscard]] Step next(std::uint32_t node, std::uint32_t to, bool even) const override;
  /// Within the rack if it can be, by another position; else by another rack.
  [[nodiscard]] std::vector<Step> around(std::uint32_t from, std::uint32_t to, bool even,
                                         const std::vector<bool>& down) const override;
  [[nodiscard]] std::vector<std::uint32_t> coordinates(std::uint32_t chip) const override {
    return {position(chip), sled(chip), rack(chip)};
  }
  [[nodiscard]] std::string switch_name(std::uint32_t node) const override;

 private:
  void build_sled(std::uint32_t chip, BytesPerSecond bandwidth, Time latency);
  [[nodiscard]] std::uint32_t at(std::uint32_t rack, std::uint32_t sled, std::uint32_t position) const {
    return (rack * sleds_ + sled) * positions_ + position;
  }
  [[nodiscard]] std::uint32_t position(std::uint32_t chip) const { return chip % positions_; }
  [[nodiscard]] std::uint32_t sled(std::uint32_t chip) const { return chip / positions_ % sleds_; }
  [[nodiscard]] std::uint32_t rack(std::uint32_t chip) const { return chip / positions_ / sleds_; }
  [[nodiscard]] std::uint32_t sled_node(std::uint32_t chip) const { return chips() + chip / positions_; }
  [[nodiscard]] std::uint32_t first_plane() const { return chips() + (sled_switch_ ? racks_ * sleds_ : 0); }
  [[nodiscard]] std::uint32_t plane(std::uint32_t chip) const {
    return first_plane() + rack(chip) * planes_ + position(chip) % planes_;
  }

  std::uint32_t racks_, sleds_, positions_, planes_;
  bool sled_switch_;
  std::vector<std::uint32_t> to_sled_;   ///< by chip: first link into its sled; a switch port's way back follows it
  std::vector<std::uint32_t> to_plane_;  ///< by chip: link to its plane; the way back follows it
  std::vector<std::uint32_t> to_racks_;  ///< by chip: first link to another rack
};

}  // namespace trnsim
