// The fabric of a machine as a graph: which links exist and which way a message goes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/interconnect/fabric_spec.h"
#include "models/mechanism/ids.h"
#include "models/mechanism/units.h"
#include "models/topology/efa.h"
#include "models/topology/shape.h"

namespace trnsim {

/// One direction of a link between chips, or between a chip and a switch.
struct Link {
  std::string name;            ///< "chip0->chip1", "chip3->rack0.plane1"
  std::string level;           ///< "dimension0", "sled", "rack", "cross_rack", "level0", "edge",
                               ///< "efa", "efa_spine"
  BytesPerSecond bandwidth;    ///< sustained payload rate, scales applied
  bool leaves_switch = false;  ///< its bytes have crossed a switch
  bool scale_out = false;      ///< between instances: its energy is the network's
};

/// One link of a route and the time from the head entering it to the head leaving for the next hop
/// (wire, plus the switch or the intermediate chip at its end).
struct Hop {
  LinkId link;
  Time latency;
};

/// A message on its way: where it is and where it goes. Nodes are numbered within their instances.
struct Way {
  std::uint32_t node = 0;
  std::uint32_t to = 0;
  std::uint32_t instance = 0;
  std::uint32_t to_instance = 0;
  bool even = false;          ///< which half of the sources it comes from: splits ties
  std::uint32_t between = 0;  ///< links taken between instances, or of a way round links that are down

  [[nodiscard]] bool arrived() const { return node == to && instance == to_instance; }
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

/// Links and address-routed paths of one machine. Immutable once built. Links are numbered instance by instance, as the
/// shape says, then as Efa says.
/// Links are views: a temporary gives none, since they would outlive it.
class Topology {
 public:
  /// Builds the graph of `spec` for `chips` chips: as many instances of the shape as they make. `link_scale[i]`
  /// multiplies the bandwidth of link i; 0: the link is down.
  /// Throws InputError if the chip count does not match the shape, if a scaled link does not exist, or if chips lose
  /// their last way to each other with the links that are down.
  Topology(const FabricSpec& spec, std::uint32_t chips, const std::map<std::uint32_t, double>& link_scale);

  [[nodiscard]] std::uint32_t chips() const { return chips_; }
  [[nodiscard]] std::span<const Link> links() const& { return links_; }
  std::span<const Link> links() const&& = delete;

  [[nodiscard]] Way way(ChipId from, ChipId to) const;
  /// Takes `way` over its next link, as if no link were down. REQUIRES: not arrived.
  Hop cross(Way& way) const;
  /// The whole path that hardware takes from one chip to another, round the links that are down.
  [[nodiscard]] Route route(ChipId from, ChipId to) const;
  /// Whether links are down: messages then follow route() instead of cross().
  [[nodiscard]] bool any_down() const { return any_down_; }

  [[nodiscard]] std::uint32_t instance_of(ChipId chip) const { return chip.value() / shape_->chips(); }
  /// Within its instance, as Shape::coordinates.
  [[nodiscard]] std::vector<std::uint32_t> coordinates(ChipId chip) const {
    return shape_->coordinates(chip.value() % shape_->chips());
  }
  /// The chips at the other ends of the direct links that leave `chip` and are up, by number of the link.
  [[nodiscard]] std::vector<Neighbour> neighbours(ChipId chip) const;
  /// Whether messages from one chip to the other pass no third one (they may pass switches).
  [[nodiscard]] bool adjacent(ChipId from, ChipId to) const;

 private:
  void add_instance(std::uint32_t instance, const std::string& prefix);
  void index_chip_links();
  void apply(const std::map<std::uint32_t, double>& link_scale);
  void check_ways() const;
  Hop cross_between(Way& way) const;
  [[nodiscard]] Hop hop_over(const Step& step, const Way& way) const;
  [[nodiscard]] std::uint32_t links_per_instance() const { return static_cast<std::uint32_t>(latency_.size()); }
  /// Which links of an instance are down, by number within it.
  [[nodiscard]] std::vector<bool> down_in(std::uint32_t instance) const;

  std::unique_ptr<const Shape> shape_;
  std::unique_ptr<const Efa> efa_;  ///< null for one instance
  std::uint32_t chips_ = 0;
  std::uint32_t instances_ = 1;
  Time chip_forward_latency_;
  std::vector<Link> links_;
  std::vector<Time> latency_;              ///< by link of an instance, the switch at its end included
  std::vector<std::uint32_t> first_link_;  ///< by chip of an instance: its first in chip_links_; one more at the end
  std::vector<std::uint32_t> chip_links_;  ///< links of an instance that leave chips for chips
  std::vector<bool> down_;                 ///< by link
  bool any_down_ = false;
};

}  // namespace trnsim
