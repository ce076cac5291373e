// The fabric of a machine, in numbers and as a graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

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

/// A dimension of a torus, or a level of a tree: `size` chips (or groups of the level below) side by side.
struct LineSpec {
  std::uint32_t size = 1;
  bool wrap = true;          ///< torus: the last one is a neighbour of the first
  BytesPerSecond bandwidth;  ///< raw, one direction
  Time latency;              ///< of one traversal: wire, SerDes and forwarding
};

/// One direction of a link of a fabric that is given link by link.
struct EdgeSpec {
  std::uint32_t from = 0;  ///< node: chips first, then switches
  std::uint32_t to = 0;
  BytesPerSecond bandwidth;  ///< raw
  Time latency;
};

enum class FabricKind : std::uint8_t { kNone, kTorus, kSwitched, kTree, kEdges };

struct FabricKindInfo {
  std::string_view name;  ///< as platform files write it
  std::string_view meaning;
};
/// By FabricKind.
inline constexpr std::array kFabricKinds = {
    FabricKindInfo{"none", "one chip alone"},
    FabricKindInfo{"torus", "chips on a grid of any dimension, neighbours joined; first dimension first, shorter way"},
    FabricKindInfo{"switched",
                   "racks of sleds; sled switch or direct pair, switch planes to which chips go by position"},
    FabricKindInfo{"tree", "levels of switches, each joining groups of the level below; one level is a crossbar"},
    FabricKindInfo{"edges", "any links of chips and switches, from a file; fewest links"},
};

/// What joins the instances of a machine.
struct EfaSpec {
  std::uint32_t adapters = 0;     ///< of an instance
  BytesPerSecond bandwidth;       ///< of an adapter, raw, one direction
  double sustained_fraction = 0;  ///< payload share of it
  Time packet_latency;            ///< adapter to adapter, through the network
  Time proxy_latency;             ///< from the device's request to the adapter's start, by the host's proxy thread
  bool rails = false;             ///< a leaf switch joins: true: equal adapters of all instances; false: an instance's
  double oversubscription = 1;    ///< of the spine: what the leaves' adapters could send over what their uplinks carry
};

/// What joins the chips of an instance, and the instances. Only what belongs to `kind` is read. what belongs to `kind`
/// is read.
struct FabricSpec {
  FabricKind kind = FabricKind::kNone;
  LinkReading reading = LinkReading::kLanes;
  double link_sustained_fraction = 0;  ///< payload share of raw link bandwidth
  std::vector<LineSpec> dimensions;    ///< torus
  std::vector<LineSpec> levels;        ///< tree, from the chips up: bandwidth and latency of a link up (and down)
  std::vector<EdgeSpec> edges;
  std::vector<std::string> switch_names;  ///< of the edges' nodes after the chips
  std::uint32_t edge_chips = 0;
  std::uint32_t racks = 0, sleds_per_rack = 0, chips_per_sled = 0;
  std::uint32_t planes = 0;  ///< of a rack; divides chips_per_sled
  bool sled_switch = false;  ///< true: switch joins the sled's chips; false: direct links
  LinkLevelSpec sled, rack, cross_rack;
  Time switch_latency;        ///< port to port
  Time chip_forward_latency;  ///< through an intermediate chip
  Time on_chip_latency;       ///< core to core or core to remote stack inside a chip
  EfaSpec efa;

  /// Chips of an instance by its shape; as many as a 32-bit number holds if there are more.
  [[nodiscard]] std::uint32_t shape_chips() const {
    std::uint64_t product = 1;
    const auto times = [&product](std::uint64_t factor) {
      product = std::min<std::uint64_t>(product * factor, std::numeric_limits<std::uint32_t>::max());
    };
    if (kind == FabricKind::kEdges) return edge_chips;
    if (kind == FabricKind::kSwitched) times(racks), times(sleds_per_rack), times(chips_per_sled);
    if (kind == FabricKind::kTorus)
      std::for_each(dimensions.begin(), dimensions.end(), [&](auto& d) { times(d.size); });
    if (kind == FabricKind::kTree) std::for_each(levels.begin(), levels.end(), [&](auto& l) { times(l.size); });
    return static_cast<std::uint32_t>(product);
  }
};

}  // namespace trnsim
