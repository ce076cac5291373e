#include "models/interconnect/topology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// Nodes are chips first, then switches. Collects links and finds them again by their ends.
class Graph {
 public:
  Graph(const FabricSpec& spec, std::vector<Link>& links) : spec_(spec), links_(links) {}

  void connect(std::uint32_t from, std::uint32_t to, const std::string& from_name, const std::string& to_name,
               const char* level, const LinkLevelSpec& level_spec, bool leaves_switch) {
    const BytesPerSecond raw =
        spec_.reading == LinkReading::kLanes ? level_spec.lanes_bandwidth : level_spec.level_table_bandwidth;
    const double sustained = static_cast<double>(raw.count()) * spec_.link_sustained_fraction;
    ends_[{from, to}] = static_cast<std::uint32_t>(links_.size());
    latency_.push_back(level_spec.latency);
    links_.push_back({from_name + "->" + to_name, level,
                      BytesPerSecond(static_cast<std::uint64_t>(std::llround(sustained))), leaves_switch});
  }

  [[nodiscard]] LinkId link(std::uint32_t from, std::uint32_t to) const { return LinkId(ends_.at({from, to})); }
  [[nodiscard]] bool connected(std::uint32_t from, std::uint32_t to) const { return ends_.count({from, to}) > 0; }
  [[nodiscard]] Time latency(LinkId link) const { return latency_[link.index()]; }

 private:
  const FabricSpec& spec_;
  std::vector<Link>& links_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ends_;
  std::vector<Time> latency_;
};

std::string chip_name(std::uint32_t chip) {
  return "chip" + std::to_string(chip);
}

/// A way through the graph as the nodes it visits, the source first.
using Path = std::vector<std::uint32_t>;

/// x*y chips per server, z servers. Chip = z*(x*y) + row*x + column.
class Torus {
 public:
  explicit Torus(const FabricSpec& spec) : size_{spec.torus_x, spec.torus_y, spec.torus_z} {}

  [[nodiscard]] std::uint32_t chips() const { return size_[0] * size_[1] * size_[2]; }

  void build(const FabricSpec& spec, Graph& graph) const {
    for (std::uint32_t chip = 0; chip < chips(); ++chip) {
      for (std::size_t dimension = 0; dimension < 3; ++dimension) {
        if (size_[dimension] < 2) continue;
        const LinkLevelSpec& level = dimension < 2 ? spec.xy : spec.z;
        const char* name = dimension < 2 ? "xy" : "z";
        for (const std::uint32_t step : {1U, size_[dimension] - 1}) {
          const std::uint32_t to = moved(chip, dimension, step);
          if (!graph.connected(chip, to)) graph.connect(chip, to, chip_name(chip), chip_name(to), name, level, false);
        }
      }
    }
  }

  /// X, then Y, then Z, each the shorter way round. Where both ways are equal, even sources go up and odd ones down.
  [[nodiscard]] Path path(std::uint32_t from, std::uint32_t to) const {
    Path path{from};
    const bool even = (coordinate(from, 0) + coordinate(from, 1) + coordinate(from, 2)) % 2 == 0;
    for (std::size_t dimension = 0; dimension < 3; ++dimension) {
      const std::uint32_t size = size_[dimension];
      const std::uint32_t up = (coordinate(to, dimension) + size - coordinate(from, dimension)) % size;
      const bool goes_up = 2 * up < size || (2 * up == size && even);
      const std::uint32_t hops = goes_up ? up : size - up;
      for (std::uint32_t hop = 0; hop < hops && up != 0; ++hop) {
        path.push_back(moved(path.back(), dimension, goes_up ? 1 : size - 1));
      }
    }
    return path;
  }

 private:
  [[nodiscard]] std::uint32_t stride(std::size_t dimension) const {
    return dimension == 0 ? 1 : dimension == 1 ? size_[0] : size_[0] * size_[1];
  }
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t chip, std::size_t dimension) const {
    return chip / stride(dimension) % size_[dimension];
  }
  [[nodiscard]] std::uint32_t moved(std::uint32_t chip, std::size_t dimension, std::uint32_t step) const {
    const std::uint32_t at = coordinate(chip, dimension);
    return chip - at * stride(dimension) + (at + step) % size_[dimension] * stride(dimension);
  }

  std::array<std::uint32_t, 3> size_;
};

/// Racks of sleds of chips. Chip = (rack*sleds + sled)*chips_per_sled + position. Switch nodes follow the chips: one
/// per sled (if present), then one plane per rack and position.
class Switched {
 public:
  explicit Switched(const FabricSpec& spec)
      : racks_(spec.racks),
        sleds_(spec.sleds_per_rack),
        positions_(spec.chips_per_sled),
        sled_switch_(spec.sled_switch) {}

  [[nodiscard]] std::uint32_t chips() const { return racks_ * sleds_ * positions_; }

  void build(const FabricSpec& spec, Graph& graph) const {
    for (std::uint32_t chip = 0; chip < chips(); ++chip) build_sled(spec, graph, chip);
    for (std::uint32_t chip = 0; chip < chips(); ++chip) {
      const std::string plane_name = "rack" + std::to_string(rack(chip)) + ".plane" + std::to_string(position(chip));
      graph.connect(chip, plane(chip), chip_name(chip), plane_name, "rack", spec.rack, false);
      graph.connect(plane(chip), chip, plane_name, chip_name(chip), "rack", spec.rack, true);
    }
    for (std::uint32_t chip = 0; chip < chips(); ++chip) {
      for (std::uint32_t other = 0; other < racks_; ++other) {
        if (other == rack(chip)) continue;
        const std::uint32_t to = at(other, sled(chip), position(chip));
        graph.connect(chip, to, chip_name(chip), chip_name(to), "cross_rack", spec.cross_rack, false);
      }
    }
  }

  /// In the sled to the chip at the destination's position, through its plane to the destination's sled, across racks
  /// last.
  [[nodiscard]] Path path(std::uint32_t from, std::uint32_t to) const {
    Path path{from};
    const std::uint32_t in_sled = at(rack(from), sled(from), position(to));
    if (in_sled != from) {
      if (sled_switch_) path.push_back(sled_node(from));
      path.push_back(in_sled);
    }
    const std::uint32_t in_rack = at(rack(from), sled(to), position(to));
    if (in_rack != in_sled) {
      path.push_back(plane(in_sled));
      path.push_back(in_rack);
    }
    if (in_rack != to) path.push_back(to);
    return path;
  }

 private:
  void build_sled(const FabricSpec& spec, Graph& graph, std::uint32_t chip) const {
    if (positions_ < 2) return;
    if (sled_switch_) {
      const std::string name = "rack" + std::to_string(rack(chip)) + ".sled" + std::to_string(sled(chip));
      graph.connect(chip, sled_node(chip), chip_name(chip), name, "sled", spec.sled, false);
      graph.connect(sled_node(chip), chip, name, chip_name(chip), "sled", spec.sled, true);
      return;
    }
    for (std::uint32_t p = 0; p < positions_; ++p) {
      const std::uint32_t to = at(rack(chip), sled(chip), p);
      if (to != chip) graph.connect(chip, to, chip_name(chip), chip_name(to), "sled", spec.sled, false);
    }
  }

  [[nodiscard]] std::uint32_t at(std::uint32_t rack, std::uint32_t sled, std::uint32_t position) const {
    return (rack * sleds_ + sled) * positions_ + position;
  }
  [[nodiscard]] std::uint32_t position(std::uint32_t chip) const { return chip % positions_; }
  [[nodiscard]] std::uint32_t sled(std::uint32_t chip) const { return chip / positions_ % sleds_; }
  [[nodiscard]] std::uint32_t rack(std::uint32_t chip) const { return chip / positions_ / sleds_; }
  [[nodiscard]] std::uint32_t sled_node(std::uint32_t chip) const { return chips() + chip / positions_; }
  [[nodiscard]] std::uint32_t plane(std::uint32_t chip) const {
    return chips() + (sled_switch_ ? racks_ * sleds_ : 0) + rack(chip) * positions_ + position(chip);
  }

  std::uint32_t racks_, sleds_, positions_;
  bool sled_switch_;
};

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
    : chips_(chips) {
  Graph graph(spec, links_);
  std::function<Path(std::uint32_t, std::uint32_t)> path = [](std::uint32_t from, std::uint32_t) { return Path{from}; };
  if (spec.kind == FabricKind::kTorus) {
    const Torus torus(spec);
    check_chips(torus.chips(), chips);
    torus.build(spec, graph);
    path = [torus](std::uint32_t from, std::uint32_t to) { return torus.path(from, to); };
  } else if (spec.kind == FabricKind::kSwitched) {
    const Switched switched(spec);
    check_chips(switched.chips(), chips);
    switched.build(spec, graph);
    path = [switched](std::uint32_t from, std::uint32_t to) { return switched.path(from, to); };
  } else {
    check_chips(1, chips);
  }
  apply_scales(links_, link_scale);
  for (std::uint32_t from = 0; from < chips; ++from) {
    for (std::uint32_t to = 0; to < chips; ++to) {
      route_begin_.push_back(static_cast<std::uint32_t>(hops_.size()));
      const Path nodes = path(from, to);
      std::uint32_t switches = 0;
      for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
        const LinkId link = graph.link(nodes[i], nodes[i + 1]);
        Time latency = graph.latency(link);
        if (nodes[i + 1] >= chips) {
          latency += spec.switch_latency;
          ++switches;
        } else if (nodes[i + 1] != to) {
          latency += spec.chip_forward_latency;
        }
        hops_.push_back({link, latency});
      }
      route_switches_.push_back(switches);
    }
  }
  route_begin_.push_back(static_cast<std::uint32_t>(hops_.size()));
}

Route Topology::route(ChipId from, ChipId to) const& {
  const std::size_t index = from.index() * chips_ + to.index();
  const std::size_t begin = route_begin_[index];
  return {std::span(hops_).subspan(begin, route_begin_[index + 1] - begin), route_switches_[index]};
}

}  // namespace trnsim
