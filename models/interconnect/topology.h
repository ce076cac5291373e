// The fabric of a machine as a graph: which links exist and which way a message goes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/interconnect/fabric_spec.h"
#include "models/interconnect/shape.h"
#include "models/mechanism/ids.h"
#include "models/mechanism/units.h"

namespace trnsim {

/// One direction of a link between chips, or between a chip and a switch.
struct Link {
  std::string name;            ///< "chip0->chip1", "chip3->rack0.plane1"
  std::string level;           ///< "dimension0", "sled", "rack", "cross_rack", "level0", "edge"
  BytesPerSecond bandwidth;    ///< sustained payload rate, scales applied
  bool leaves_switch = false;  ///< its bytes have crossed a switch
};

/// One link of a route and the time from the head entering it to the head leaving for the next hop
/// (wire, plus the switch or the intermediate chip at its end).
struct Hop {
  LinkId link;
  Time latency;
};

/// A message on its way: where it is and where it goes.
struct Way {
  std::uint32_t node = 0;
  std::uint32_t to = 0;
  bool even = false;  ///< which half of the sources it comes from: splits ties

  [[nodiscard]] bool arrived() const { return node == to; }
};

struct Route {
  std::vector<Hop> hops;       ///< empty: same chip
  std::uint32_t switches = 0;  ///< switches crossed
};

/// A chip at the other end of a direct link.
struct Neighbour {
  ChipId chip;
  LinkId link;  ///< to it
};

/// Links and address-routed paths of one machine. Immutable once built. Shapes say how links are numbered.
/// Links are views: a temporary gives none, since they would outlive it.
class Topology {
 public:
  /// Builds the graph of `spec` for `chips` chips. `link_scale[i]` multiplies the bandwidth of link i.
  /// Throws InputError if the chip count does not match the shape or a scaled link does not exist.
  Topology(const FabricSpec& spec, std::uint32_t chips, const std::map<std::uint32_t, double>& link_scale);

  [[nodiscard]] std::uint32_t chips() const { return chips_; }
  [[nodiscard]] std::span<const Link> links() const& { return links_; }
  std::span<const Link> links() const&& = delete;

  [[nodiscard]] Way way(ChipId from, ChipId to) const;
  /// Takes `way` over its next link. REQUIRES: not arrived.
  Hop cross(Way& way) const;
  /// The whole path that hardware takes from one chip to another.
  [[nodiscard]] Route route(ChipId from, ChipId to) const;

  /// As Shape::coordinates.
  [[nodiscard]] std::vector<std::uint32_t> coordinates(ChipId chip) const { return shape_->coordinates(chip.value()); }
  /// The chips at the other ends of the direct links that leave `chip`, by number of the link.
  [[nodiscard]] std::vector<Neighbour> neighbours(ChipId chip) const;
  /// Whether messages from one chip to the other pass no third one (they may pass switches).
  [[nodiscard]] bool adjacent(ChipId from, ChipId to) const;

 private:
  std::unique_ptr<const Shape> shape_;
  std::uint32_t chips_ = 0;
  Time chip_forward_latency_;
  std::vector<Link> links_;
  std::vector<Time> latency_;              ///< by link, the switch at its end included
  std::vector<std::uint32_t> first_link_;  ///< by chip: where its links begin in chip_links_; one more at the end
  std::vector<std::uint32_t> chip_links_;  ///< links that leave chips for chips
};

}  // namespace trnsim
