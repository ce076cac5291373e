#include "models/topology/switched.h"

#include <algorithm>

namespace trnsim {
Switched::Switched(const FabricSpec& spec)
    : Shape(spec, spec.shape_chips(),
            (spec.sled_switch ? spec.racks * spec.sleds_per_rack : 0) + spec.racks * spec.planes),
      racks_(spec.racks),
      sleds_(spec.sleds_per_rack),
      positions_(spec.chips_per_sled),
      planes_(spec.planes),
      sled_switch_(spec.sled_switch) {
  const auto raw = [&spec](const LinkLevelSpec& level) {
    return spec.reading == LinkReading::kLanes ? level.lanes_bandwidth : level.level_table_bandwidth;
  };
  for (std::uint32_t chip = 0; chip < chips(); ++chip) build_sled(chip, raw(spec.sled), spec.sled.latency);
  for (std::uint32_t chip = 0; chip < chips(); ++chip) {
    to_plane_.push_back(connect(chip, plane(chip), "rack", raw(spec.rack), spec.rack.latency));
    connect(plane(chip), chip, "rack", raw(spec.rack), spec.rack.latency);
  }
  for (std::uint32_t chip = 0; chip < chips(); ++chip) {
    to_racks_.push_back(static_cast<std::uint32_t>(links().size()));
    for (std::uint32_t other = 0; other < racks_; ++other) {
      const std::uint32_t equal = at(other, sled(chip), position(chip));
      if (other != rack(chip)) connect(chip, equal, "cross_rack", raw(spec.cross_rack), spec.cross_rack.latency);
    }
  }
}

void Switched::build_sled(std::uint32_t chip, BytesPerSecond bandwidth, Time latency) {
  to_sled_.push_back(static_cast<std::uint32_t>(links().size()));
  if (positions_ < 2) return;
  if (sled_switch_) {
    connect(chip, sled_node(chip), "sled", bandwidth, latency);
    connect(sled_node(chip), chip, "sled", bandwidth, latency);
    return;
  }
  for (std::uint32_t p = 0; p < positions_; ++p) {
    if (p != position(chip)) connect(chip, at(rack(chip), sled(chip), p), "sled", bandwidth, latency);
  }
}

// A switch hands a message to the chip below it that is at the destination's position, a plane in its sled as well.
// Links of one chip to several others are numbered by the other's place, the own place left out.
Step Switched::next(std::uint32_t node, std::uint32_t to, bool /*even*/) const {
  if (node >= first_plane()) {
    const std::uint32_t chip = at((node - first_plane()) / planes_, sled(to), position(to));
    return {to_plane_[chip] + 1, chip};
  }
  if (node >= chips()) {
    const std::uint32_t chip = (node - chips()) * positions_ + position(to);
    return {to_sled_[chip] + 1, chip};
  }
  const std::uint32_t own = position(node);
  const std::uint32_t wanted = position(to);
  const bool other_sled = sled(node) != sled(to);
  const bool same_plane = own % planes_ == wanted % planes_;
  if (own != wanted && !(other_sled && same_plane)) {
    if (sled_switch_) return {to_sled_[node], sled_node(node)};
    return {to_sled_[node] + wanted - (wanted > own ? 1 : 0), node - own + wanted};
  }
  if (other_sled) return {to_plane_[node], plane(node)};
  return {to_racks_[node] + rack(to) - (rack(to) > rack(node) ? 1 : 0), to};
}

std::vector<Step> Switched::around(std::uint32_t from, std::uint32_t to, bool even,
                                   const std::vector<bool>& down) const {
  if (rack(from) == rack(to)) {
    std::vector<bool> inside = down;
    std::fill(inside.begin() + static_cast<std::ptrdiff_t>(to_racks_.front()), inside.end(), true);
    std::vector<Step> steps = Shape::around(from, to, even, inside);
    if (!steps.empty()) return steps;
  }
  return Shape::around(from, to, even, down);
}

std::string Switched::switch_name(std::uint32_t node) const {
  if (node < first_plane()) {
    const std::uint32_t index = node - chips();
    return "rack" + std::to_string(index / sleds_) + ".sled" + std::to_string(index % sleds_);
  }
  const std::uint32_t index = node - first_plane();
  return "rack" + std::to_string(index / planes_) + ".plane" + std::to_string(index % planes_);
}

}  // namespace trnsim
