#include "models/topology/embedding.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "models/topology/ring_search.h"

namespace trnsim {
namespace {

using Indices = std::vector<std::uint32_t>;

/// The chips of a group and who is beside whom.
class Group {
 public:
  Group(const Topology& topology, std::span<const ChipId> chips) : topology_(topology), chips_(chips) {
    std::map<ChipId, std::uint32_t> index;
    for (std::uint32_t i = 0; i < chips.size(); ++i) index.emplace(chips[i], i);
    beside_.resize(chips.size());
    for (std::uint32_t i = 0; i < chips.size(); ++i) {
      for (const Neighbour& neighbour : topology.neighbours(chips[i])) {
        const auto found = index.find(neighbour.chip);
        if (found != index.end()) beside_[i].push_back(found->second);
      }
      std::sort(beside_[i].begin(), beside_[i].end());
    }
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(chips_.size()); }
  /// The chips to which direct links lead from chip `i`, ascending.
  [[nodiscard]] const Indices& beside(std::uint32_t i) const { return beside_[i]; }
  /// Joined by direct links both ways.
  [[nodiscard]] bool linked(std::uint32_t a, std::uint32_t b) const {
    return std::binary_search(beside_[a].begin(), beside_[a].end(), b) &&
           std::binary_search(beside_[b].begin(), beside_[b].end(), a);
  }
  /// Joined by direct links or switches both ways.
  [[nodiscard]] bool adjacent(std::uint32_t a, std::uint32_t b) const {
    return topology_.adjacent(chips_[a], chips_[b]) && topology_.adjacent(chips_[b], chips_[a]);
  }
  [[nodiscard]] Indices coordinates(std::uint32_t i) const {
    Indices at = topology_.coordinates(chips_[i]);
    at.push_back(topology_.instance_of(chips_[i]));
    return at;
  }

 private:
  const Topology& topology_;
  std::span<const ChipId> chips_;
  std::vector<Indices> beside_;
};

/// The chips on lines along each dimension, joined where neighbours on a line are `joined`.
class Lines {
 public:
  template <class Joined>
  Lines(const Group& group, const Joined& joined) : graph_(group.size()) {
    const std::size_t dimensions = group.coordinates(0).size();
    for (std::size_t d = 0; d < dimensions; ++d) {
      std::map<Indices, std::map<std::uint32_t, std::uint32_t>> lines;  // by the other coordinates, then by this one
      for (std::uint32_t i = 0; i < group.size(); ++i) {
        Indices at = group.coordinates(i);
        const std::uint32_t place = std::exchange(at[d], 0);
        lines[at].emplace(place, i);
      }
      bool rings = true;
      bool pairs = true;
      Indices edges;
      for (const auto& [others, line] : lines) {
        const std::size_t before = edges.size();
        for (auto it = line.begin(); it != line.end() && line.size() > 1; ++it) {
          const auto next = std::next(it) == line.end() ? line.begin() : std::next(it);
          if (next == line.begin() && line.size() == 2) break;
          if (joined(it->second, next->second)) edges.push_back(graph_.join(it->second, next->second));
        }
        rings = rings && line.size() > 2 && edges.size() - before == line.size();
        pairs = pairs && line.size() == 2 && edges.size() - before == 1;
      }
      if (rings) factors_.push_back(edges);
      if (pairs) add_pairs(edges);
    }
  }

  /// Rings of all chips, as many as can be, `most` at most.
  [[nodiscard]] std::vector<Cycle> rings(std::size_t most) const {
    for (std::size_t count = std::min(most, factors_.size()); count > 0; --count) {
      Indices factor(graph_.edges().size(), kSpare);
      for (std::uint32_t f = 0; f < count; ++f) {
        for (const std::uint32_t edge : factors_[f]) factor[edge] = f;
      }
      const std::vector<Cycle> cycles = merged_rings(graph_, std::move(factor), static_cast<std::uint32_t>(count));
      if (!cycles.empty()) return cycles;
    }
    return {};
  }

 private:
  /// Two dimensions of two chips each make rings of four.
  void add_pairs(const Indices& edges) {
    if (pairs_.empty()) {
      pairs_ = edges;
      return;
    }
    pairs_.insert(pairs_.end(), edges.begin(), edges.end());
    factors_.push_back(std::exchange(pairs_, {}));
  }

  RingGraph graph_;
  std::vector<Indices> factors_;  ///< edges of which every chip has two
  Indices pairs_;                 ///< edges of which every chip has one, not yet in a factor
};

/// As merged by lines, or searched for where the chips stand on no grid.
std::vector<Cycle> rings_over_links(const Group& group) {
  const Lines lines(group, [&](std::uint32_t a, std::uint32_t b) { return group.linked(a, b); });
  std::vector<Cycle> cycles = lines.rings(group.size());
  if (!cycles.empty()) return cycles;
  RingGraph graph(group.size());
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    for (const std::uint32_t other : group.beside(i)) {
      if (i < other && group.linked(i, other)) graph.join(i, other);
    }
  }
  return searched_rings(graph);
}

std::vector<Cycle> ring_over_switches(const Group& group) {
  Cycle cycle(group.size());
  bool natural = true;
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    cycle[i] = i;
    natural = natural && group.adjacent(i, (i + 1) % group.size());
  }
  if (natural) return {cycle};
  return Lines(group, [&](std::uint32_t a, std::uint32_t b) { return group.adjacent(a, b); }).rings(1);
}

/// Corner numbers of the chips, such that neighbours differ in one bit; empty if there are none.
Indices corners(const Group& group, std::uint32_t dimensions) {
  Indices corner(group.size(), 0);
  std::vector<bool> reached(group.size(), false);
  std::map<std::uint32_t, std::uint32_t> chip_of_corner{{0, 0}};
  Indices layer{0};
  reached[0] = true;
  for (std::uint32_t d = 0; d < dimensions; ++d) corner[group.beside(0)[d]] = 1U << d;
  for (int distance = 1; !layer.empty(); ++distance) {
    Indices next;
    for (const std::uint32_t chip : layer) {
      for (const std::uint32_t other : group.beside(chip)) {
        if (reached[other]) continue;
        corner[other] |= corner[chip];
        if (std::find(next.begin(), next.end(), other) == next.end()) next.push_back(other);
      }
    }
    for (const std::uint32_t chip : next) {
      reached[chip] = true;
      if (std::popcount(corner[chip]) != distance || !chip_of_corner.emplace(corner[chip], chip).second) return {};
    }
    layer = std::move(next);
  }
  return chip_of_corner.size() == group.size() ? corner : Indices();
}

/// A table of neighbours from the numbers of the corners; empty if `joined` is false for one of them.
template <class Joined>
std::vector<Indices> cube(const Indices& corner, std::uint32_t dimensions, const Joined& joined) {
  Indices chip_at(corner.size(), 0);
  for (std::uint32_t i = 0; i < corner.size(); ++i) chip_at[corner[i]] = i;
  std::vector<Indices> table(dimensions, Indices(corner.size()));
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    for (std::uint32_t i = 0; i < corner.size(); ++i) {
      table[d][i] = chip_at[corner[i] ^ (1U << d)];
      if (!joined(i, table[d][i])) return {};
    }
  }
  return table;
}

}  // namespace

std::vector<Indices> directed_rings(const Topology& topology, std::span<const ChipId> chips) {
  if (chips.size() < 2) return {};
  const Group group(topology, chips);
  if (chips.size() == 2) return group.adjacent(0, 1) ? std::vector<Indices>{{0, 1}} : std::vector<Indices>();
  std::vector<Cycle> cycles = rings_over_links(group);
  if (cycles.empty()) cycles = ring_over_switches(group);
  std::vector<Indices> orders;
  for (const Cycle& cycle : cycles) {
    orders.push_back(cycle);
    orders.emplace_back(cycle.rbegin(), cycle.rend());
  }
  return orders;
}

std::vector<Indices> hypercube(const Topology& topology, std::span<const ChipId> chips) {
  if (chips.size() < 2 || !std::has_single_bit(chips.size())) return {};
  const Group group(topology, chips);
  const auto dimensions = static_cast<std::uint32_t>(std::bit_width(chips.size()) - 1);
  bool regular = true;
  for (std::uint32_t i = 0; i < group.size(); ++i) regular = regular && group.beside(i).size() == dimensions;
  if (regular) {
    const Indices corner = corners(group, dimensions);
    const auto linked = [&](std::uint32_t a, std::uint32_t b) { return group.linked(a, b); };
    if (!corner.empty()) return cube(corner, dimensions, linked);
  }
  Indices corner(group.size());
  for (std::uint32_t i = 0; i < group.size(); ++i) corner[i] = i;
  return cube(corner, dimensions, [&](std::uint32_t a, std::uint32_t b) { return group.adjacent(a, b); });
}

}  // namespace trnsim
