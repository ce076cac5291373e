#include "models/interconnect/topology.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/interconnect/edge_list.h"
#include "models/interconnect/switched.h"
#include "models/interconnect/torus.h"
#include "models/interconnect/tree.h"
#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// One chip without links.
class Alone : public Shape {
 public:
  explicit Alone(const FabricSpec& spec) : Shape(spec, 1, 0) {}
  [[nodiscard]] Step next(std::uint32_t /*node*/, std::uint32_t /*to*/, bool /*even*/) const override { return {}; }
  [[nodiscard]] std::string switch_name(std::uint32_t /*node*/) const override { return ""; }
};

std::unique_ptr<const Shape> shape_of(const FabricSpec& spec) {
  switch (spec.kind) {
    case FabricKind::kTorus:
      return std::make_unique<Torus>(spec);
    case FabricKind::kSwitched:
      return std::make_unique<Switched>(spec);
    case FabricKind::kTree:
      return std::make_unique<Tree>(spec);
    case FabricKind::kEdges:
      return std::make_unique<EdgeList>(spec);
    case FabricKind::kNone:
      break;
  }
  return std::make_unique<Alone>(spec);
}

void apply_scales(std::vector<Link>& links, const std::map<std::uint32_t, double>& link_scale) {
  for (const auto& [index, scale] : link_scale) {
    if (index >= links.size()) {
      throw InputError("link[" + std::to_string(index) +
                       "].bandwidth_scale names no link; this machine has links 0 to " +
                       std::to_string(links.empty() ? 0 : links.size() - 1));
    }
    if (!(scale > 0)) {
      throw InputError("link[" + std::to_string(index) + "].bandwidth_scale must be above 0");
    }
    const double bandwidth = static_cast<double>(links[index].bandwidth.count()) * scale;
    links[index].bandwidth =
        BytesPerSecond(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(bandwidth))));
  }
}

void check_chips(std::uint32_t shape, std::uint32_t chips) {
  if (shape == chips) return;
  throw InputError("the fabric's shape has " + std::to_string(shape) + " chips, the machine " + std::to_string(chips) +
                   "; machine.chips must be " + std::to_string(shape));
}

}  // namespace

Topology::Topology(const FabricSpec& spec, std::uint32_t chips, const std::map<std::uint32_t, double>& link_scale)
    : shape_(shape_of(spec)), chips_(chips), chip_forward_latency_(spec.chip_forward_latency) {
  check_chips(shape_->chips(), chips);
  const auto name = [this](std::uint32_t node) {
    return node < chips_ ? "chip" + std::to_string(node) : shape_->switch_name(node);
  };
  first_link_.assign(chips + 1, 0);
  for (const ShapeLink& link : shape_->links()) {
    const bool to_switch = link.to >= chips;
    const bool from_switch = link.from >= chips;
    links_.push_back({name(link.from) + "->" + name(link.to), link.level, link.bandwidth, from_switch});
    latency_.push_back(link.latency + (to_switch ? spec.switch_latency : Time()));
    if (!to_switch && !from_switch) ++first_link_[link.from + 1];
  }
  for (std::uint32_t chip = 0; chip < chips; ++chip) first_link_[chip + 1] += first_link_[chip];
  chip_links_.resize(first_link_.back());
  std::vector<std::uint32_t> next = first_link_;
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    const ShapeLink& link = shape_->links()[i];
    if (link.from < chips && link.to < chips) chip_links_[next[link.from]++] = i;
  }
  apply_scales(links_, link_scale);
}

Way Topology::way(ChipId from, ChipId to) const {
  return {from.value(), to.value(), shape_->even(from.value())};
}

Hop Topology::cross(Way& way) const {
  const Step step = shape_->next(way.node, way.to, way.even);
  way.node = step.node;
  const bool forwarded = step.node < chips_ && step.node != way.to;
  return {LinkId(step.link), forwarded ? latency_[step.link] + chip_forward_latency_ : latency_[step.link]};
}

Route Topology::route(ChipId from, ChipId to) const {
  Route route;
  Way on = way(from, to);
  while (!on.arrived()) {
    route.hops.push_back(cross(on));
    if (on.node >= chips_) ++route.switches;
  }
  return route;
}

std::vector<Neighbour> Topology::neighbours(ChipId chip) const {
  std::vector<Neighbour> found;
  for (std::uint32_t i = first_link_[chip.index()]; i < first_link_[chip.index() + 1]; ++i) {
    found.push_back({ChipId(shape_->links()[chip_links_[i]].to), LinkId(chip_links_[i])});
  }
  return found;
}

bool Topology::adjacent(ChipId from, ChipId to) const {
  if (from == to) return false;
  Way on = way(from, to);
  do static_cast<void>(cross(on));
  while (on.node >= chips_);
  return on.arrived();
}

}  // namespace trnsim
