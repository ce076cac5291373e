// The scale-up fabric of a machine, in numbers and as a graph.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/mechanism/units.h"

namespace trnsim {

/// Which published reading of the Trn3 link widths to use.
enum class LinkReading : std::uint8_t { kLanes, kLevelTable };

/// One class of links: all links of a level are equal (unless scaled one by one).
struct LinkLevelSpec {
  BytesPerSecond lanes_bandwidth;        ///< one direction, raw, by lane counts
  BytesPerSecond level_table_bandwidth;  ///< one direction, raw, by the vendor's level table
  Time latency;                          ///< of one traversal: wire, SerDes and forwarding
};

enum class FabricKind : std::uint8_t { kNone, kTorus, kSwitched };

struct FabricKindInfo {
  std::string_view name;  ///< as platform files write it
  std::string_view meaning;
};
/// By FabricKind.
inline constexpr std::array kFabricKinds = {
    FabricKindInfo{"none", "one chip alone"},
    FabricKindInfo{"torus", "x*y chips per server joined by XY links, servers by Z links; X, then Y, then Z"},
    FabricKindInfo{"switched",
                   "racks of sleds; sled switch or direct links; switch planes to which chips go by position"},
};

/// Torus: x*y chips per server joined by XY links, z servers joined by Z links.
/// Switched: racks of sleds of chips; a sled switch (or direct links), switch planes in each rack to which the chips of
/// a sled are dealt by position, direct cross-rack links between equal positions.
struct FabricSpec {
  FabricKind kind = FabricKind::kNone;
  LinkReading reading = LinkReading::kLanes;
  double link_sustained_fraction = 0;  ///< payload share of raw link bandwidth
  std::uint32_t torus_x = 0, torus_y = 0, torus_z = 0;
  LinkLevelSpec xy, z;
  std::uint32_t racks = 0, sleds_per_rack = 0, chips_per_sled = 0;
  std::uint32_t planes = 0;  ///< of a rack; divides chips_per_sled
  bool sled_switch = false;  ///< true: switch joins the sled's chips; false: direct links
  LinkLevelSpec sled, rack, cross_rack;
  Time switch_latency;        ///< port to port
  Time chip_forward_latency;  ///< through an intermediate chip
  Time on_chip_latency;       ///< core to core or core to remote stack inside a chip
};

}  // namespace trnsim
