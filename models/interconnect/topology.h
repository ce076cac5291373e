// The fabric as a graph: which links exist and which way a message goes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/interconnect/fabric_spec.h"
#include "models/mechanism/ids.h"
#include "models/mechanism/units.h"

namespace trnsim {

/// One direction of a link between chips, or between a chip and a switch.
struct Link {
  std::string name;            ///< "chip0->chip1", "chip3->rack0.plane1"
  std::string level;           ///< "xy", "z", "sled", "rack", "cross_rack"
  BytesPerSecond bandwidth;    ///< sustained payload rate, scales applied
  bool leaves_switch = false;  ///< its bytes have crossed a switch
};

/// One link of a route and the time from the head entering it to the head leaving for the next hop
/// (wire, plus the switch or the intermediate chip at its end).
struct Hop {
  LinkId link;
  Time latency;
};

struct Route {
  std::span<const Hop> hops;   ///< empty: same chip
  std::uint32_t switches = 0;  ///< switches crossed
};

/// Links and address-routed paths of one machine. Immutable once built.
///
/// Numbers of links. Torus: by the chip that they leave, then X, Y, Z, then up before down. Switched: all sled links,
/// then all rack links, then all cross-rack links; in each level by chip, for switch ports out of the chip before into
/// it.
/// Links and routes are views: a temporary gives none, since they would outlive it.
class Topology {
 public:
  /// Builds the graph of `spec` for `chips` chips. `link_scale[i]` multiplies the bandwidth of link i.
  /// Throws InputError if the chip count does not match the shape or a scaled link does not exist.
  Topology(const FabricSpec& spec, std::uint32_t chips, const std::map<std::uint32_t, double>& link_scale);

  [[nodiscard]] std::span<const Link> links() const& { return links_; }
  std::span<const Link> links() const&& = delete;
  /// The path that hardware takes from one chip to another: dimension-ordered on a torus (shortest way round,
  /// ties split by the parity of the source), sled then plane then cross-rack on a switched machine.
  [[nodiscard]] Route route(ChipId from, ChipId to) const&;
  Route route(ChipId from, ChipId to) const&& = delete;

 private:
  std::vector<Link> links_;
  std::vector<Hop> hops_;                   ///< all routes, one after another
  std::vector<std::uint32_t> route_begin_;  ///< by from*chips+to
  std::vector<std::uint32_t> route_switches_;
  std::uint32_t chips_ = 0;
};

}  // namespace trnsim
