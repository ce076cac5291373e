#include "models/topology/topology.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/mechanism/error.h"
#include "models/topology/edge_list.h"
#include "models/topology/switched.h"
#include "models/topology/torus.h"
#include "models/topology/tree.h"

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

std::uint32_t instances_of(const FabricSpec& spec, std::uint32_t shape, std::uint32_t chips) {
  if (chips == shape) return 1;
  if (spec.efa.adapters > 0 && chips % shape == 0 && chips > 0) return chips / shape;
  throw InputError("the fabric's shape has " + std::to_string(shape) + " chips, the machine " + std::to_string(chips) +
                   "; machine.chips must be " + std::to_string(shape));
}

}  // namespace

Topology::Topology(const FabricSpec& spec, std::uint32_t chips, const std::map<std::uint32_t, double>& link_scale)
    : shape_(shape_of(spec)), chips_(chips), chip_forward_latency_(spec.chip_forward_latency) {
  instances_ = instances_of(spec, shape_->chips(), chips);
  for (const ShapeLink& link : shape_->links()) {
    latency_.push_back(link.latency + (link.to >= shape_->chips() ? spec.switch_latency : Time()));
  }
  for (std::uint32_t i = 0; i < instances_; ++i) {
    add_instance(i, instances_ == 1 ? "" : "instance" + std::to_string(i) + ".");
  }
  if (instances_ > 1) {
    efa_ = std::make_unique<Efa>(spec.efa, instances_, shape_->chips());
    for (const EfaLink& link : efa_->links()) links_.push_back({link.name, link.level, link.bandwidth, false, true});
  }
  index_chip_links();
  apply(link_scale);
}

void Topology::add_instance(std::uint32_t instance, const std::string& prefix) {
  const std::uint32_t chips = shape_->chips();
  const auto name = [&](std::uint32_t node) {
    return node < chips ? "chip" + std::to_string(instance * chips + node) : prefix + shape_->switch_name(node);
  };
  for (const ShapeLink& link : shape_->links()) {
    links_.push_back({name(link.from) + "->" + name(link.to), link.level, link.bandwidth, link.from >= chips, false});
  }
}

void Topology::index_chip_links() {
  const std::uint32_t chips = shape_->chips();
  const auto direct = [chips](const ShapeLink& link) { return link.from < chips && link.to < chips; };
  first_link_.assign(chips + 1, 0);
  for (const ShapeLink& link : shape_->links()) {
    if (direct(link)) ++first_link_[link.from + 1];
  }
  for (std::uint32_t chip = 0; chip < chips; ++chip) first_link_[chip + 1] += first_link_[chip];
  chip_links_.resize(first_link_.back());
  std::vector<std::uint32_t> next = first_link_;
  for (std::uint32_t i = 0; i < links_per_instance(); ++i) {
    const ShapeLink& link = shape_->links()[i];
    if (direct(link)) chip_links_[next[link.from]++] = i;
  }
}

void Topology::apply(const std::map<std::uint32_t, double>& link_scale) {
  down_.assign(links_.size(), false);
  for (const auto& [index, scale] : link_scale) {
    if (index >= links_.size()) {
      throw InputError("link[" + std::to_string(index) +
                       "].bandwidth_scale names no link; this machine has links 0 to " +
                       std::to_string(links_.empty() ? 0 : links_.size() - 1));
    }
    if (!(scale >= 0)) throw InputError("link[" + std::to_string(index) + "].bandwidth_scale must be 0 or more");
    if (scale == 0) {
      down_[index] = any_down_ = true;
      continue;
    }
    const double bandwidth = static_cast<double>(links_[index].bandwidth.count()) * scale;
    links_[index].bandwidth =
        BytesPerSecond(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(bandwidth))));
  }
  if (any_down_) check_ways();
}

void Topology::check_ways() const {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    if (!down_[i]) continue;
    const std::string link = "link[" + std::to_string(i) + "] (" + links_[i].name + ") is down and ";
    if (links_[i].scale_out) throw InputError(link + "instances have no other way; leave it up");
    const std::uint32_t instance = i / links_per_instance();
    const auto cut = shape_->cut_off(down_in(instance));
    if (!cut) continue;
    const auto name = [&](std::uint32_t chip) { return "chip" + std::to_string(instance * shape_->chips() + chip); };
    throw InputError(link + "no way is left from " + name(cut->first) + " to " + name(cut->second) +
                     std::string(shape_->ways()) + "; leave more links up");
  }
}

std::vector<bool> Topology::down_in(std::uint32_t instance) const {
  const auto first = down_.begin() + static_cast<std::ptrdiff_t>(std::size_t{instance} * links_per_instance());
  return {first, first + static_cast<std::ptrdiff_t>(links_per_instance())};
}

Way Topology::way(ChipId from, ChipId to) const {
  const std::uint32_t chips = shape_->chips();
  if (instances_ == 1) return {from.value(), to.value(), 0, 0, shape_->even(from.value()), 0};
  const std::uint32_t local = from.value() % chips;
  return {local, to.value() % chips, from.value() / chips, to.value() / chips, shape_->even(local), 0};
}

Hop Topology::cross(Way& way) const {
  if (way.instance != way.to_instance) return cross_between(way);
  const Step step = shape_->next(way.node, way.to, way.even);
  way.node = step.node;
  return hop_over(step, way);
}

Hop Topology::hop_over(const Step& step, const Way& way) const {
  const bool forwarded = step.node < shape_->chips() && step.node != way.to;
  return {LinkId(way.instance * links_per_instance() + step.link),
          forwarded ? latency_[step.link] + chip_forward_latency_ : latency_[step.link]};
}

Hop Topology::cross_between(Way& way) const {
  const auto links = efa_->way({way.instance, way.node, way.to_instance, way.to});
  const std::uint32_t link = links[way.between++];
  if (way.between == links.size() || links[way.between] == Efa::kNoLink) {
    way.instance = way.to_instance;
    way.node = way.to;
  }
  return {LinkId(instances_ * links_per_instance() + link), efa_->links()[link].latency};
}

Route Topology::route(ChipId from, ChipId to) const {
  Route route;
  bool blocked = false;
  for (Way on = way(from, to); !on.arrived();) {
    route.hops.push_back(cross(on));
    if (on.node >= shape_->chips()) ++route.switches;
    blocked = blocked || down_[route.hops.back().link.index()];
  }
  if (!blocked) return route;
  route = {};
  Way on = way(from, to);
  for (const Step& step : shape_->around(on.node, on.to, on.even, down_in(on.instance))) {
    route.hops.push_back(hop_over(step, on));
    if (step.node >= shape_->chips()) ++route.switches;
  }
  return route;
}

std::vector<Neighbour> Topology::neighbours(ChipId chip) const {
  const std::uint32_t instance = instance_of(chip);
  const std::uint32_t local = chip.value() % shape_->chips();
  std::vector<Neighbour> found;
  for (std::uint32_t i = first_link_[local]; i < first_link_[local + 1]; ++i) {
    const LinkId link(instance * links_per_instance() + chip_links_[i]);
    if (down_[link.index()]) continue;
    found.push_back({ChipId(instance * shape_->chips() + shape_->links()[chip_links_[i]].to), link});
  }
  return found;
}

bool Topology::adjacent(ChipId from, ChipId to) const {
  if (from == to || instance_of(from) != instance_of(to)) return false;
  Way on = way(from, to);
  do {
    if (down_[cross(on).link.index()]) return false;
  } while (on.node >= shape_->chips());
  return on.arrived();
}

}  // namespace trnsim
