// Fabrics with round numbers for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/interconnect/fabric_spec.h"

namespace trnsim {

inline FabricSpec torus(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  FabricSpec spec;
  spec.kind = FabricKind::kTorus;
  spec.link_sustained_fraction = 1;
  spec.dimensions = {{x, true, BytesPerSecond(128'000'000'000), Time(400)},
                     {y, true, BytesPerSecond(128'000'000'000), Time(400)},
                     {z, true, BytesPerSecond(64'000'000'000), Time(450)}};
  spec.chip_forward_latency = Time(100);
  return spec;
}

struct Line {
  std::uint32_t size;
  bool wrap;
};

inline FabricSpec grid(const std::vector<Line>& lines) {
  FabricSpec spec;
  spec.kind = FabricKind::kTorus;
  spec.link_sustained_fraction = 1;
  for (const Line& l : lines) spec.dimensions.push_back({l.size, l.wrap, BytesPerSecond(1000), Time(100)});
  return spec;
}

inline FabricSpec tree(const std::vector<std::uint32_t>& sizes) {
  FabricSpec spec;
  spec.kind = FabricKind::kTree;
  spec.link_sustained_fraction = 1;
  for (std::uint32_t size : sizes) spec.levels.push_back({size, true, BytesPerSecond(1000), Time(100)});
  spec.switch_latency = Time(10);
  return spec;
}

inline FabricSpec edge_list(std::uint32_t chips, const std::vector<std::string>& switches,
                            const std::vector<std::pair<std::uint32_t, std::uint32_t>>& links) {
  FabricSpec spec;
  spec.kind = FabricKind::kEdges;
  spec.link_sustained_fraction = 1;
  spec.edge_chips = chips;
  spec.switch_names = switches;
  for (const auto& [from, to] : links) spec.edges.push_back({from, to, BytesPerSecond(1000), Time(100)});
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
