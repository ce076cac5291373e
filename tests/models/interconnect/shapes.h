// Fabrics with round numbers for tests.
#pragma once

#include "models/interconnect/fabric_spec.h"

namespace trnsim {

inline FabricSpec torus(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  FabricSpec spec;
  spec.kind = FabricKind::kTorus;
  spec.link_sustained_fraction = 1;
  spec.torus_x = x;
  spec.torus_y = y;
  spec.torus_z = z;
  spec.xy = {BytesPerSecond(128'000'000'000), BytesPerSecond(128'000'000'000), Time(400)};
  spec.z = {BytesPerSecond(64'000'000'000), BytesPerSecond(64'000'000'000), Time(450)};
  spec.chip_forward_latency = Time(100);
  return spec;
}

inline FabricSpec switched(std::uint32_t racks, std::uint32_t sleds, std::uint32_t positions, bool sled_switch) {
  FabricSpec spec;
  spec.kind = FabricKind::kSwitched;
  spec.link_sustained_fraction = 1;
  spec.racks = racks;
  spec.sleds_per_rack = sleds;
  spec.chips_per_sled = spec.planes = positions;
  spec.sled_switch = sled_switch;
  spec.sled = {BytesPerSecond(512'000'000'000), BytesPerSecond(256'000'000'000), Time(100)};
  spec.rack = {BytesPerSecond(512'000'000'000), BytesPerSecond(320'000'000'000), Time(150)};
  spec.cross_rack = {BytesPerSecond(128'000'000'000), BytesPerSecond(128'000'000'000), Time(300)};
  spec.switch_latency = Time(1000);
  spec.chip_forward_latency = Time(10'000);
  return spec;
}

}  // namespace trnsim
