#include "workloads/collectives/algorithms/rings.h"

#include <algorithm>
#include <numeric>

#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {

std::vector<std::vector<std::uint32_t>> chip_rings(const Place& place) {
  if (!place.rings.empty()) return place.rings;
  std::vector<std::uint32_t> by_number(place.chips());
  std::iota(by_number.begin(), by_number.end(), 0U);
  return {by_number};
}

std::vector<std::vector<std::uint32_t>> rank_rings(const Place& place) {
  const auto by_chip = ranks_by_chip(place);
  std::vector<std::vector<std::uint32_t>> rings;
  for (const auto& chips : chip_rings(place)) {
    std::vector<std::uint32_t>& ring = rings.emplace_back();
    ring.reserve(place.ranks);
    for (const std::uint32_t chip : chips) ring.insert(ring.end(), by_chip[chip].begin(), by_chip[chip].end());
  }
  return rings;
}

std::uint32_t ring_channels(const Place& place, std::uint32_t workers) {
  const auto rings = static_cast<std::uint32_t>(std::max<std::size_t>(place.rings.size(), 1));
  return std::lcm(rings, workers);
}

std::vector<Pair> pairs_along(const std::vector<std::vector<std::uint32_t>>& by_chip,
                              const std::vector<std::uint32_t>& chips) {
  std::vector<std::uint32_t> first(by_chip.size(), 0);
  for (std::size_t chip = 1; chip < by_chip.size(); ++chip) {
    first[chip] = first[chip - 1] + static_cast<std::uint32_t>(by_chip[chip - 1].size()) / kPair;
  }
  std::vector<Pair> pairs;
  for (const std::uint32_t chip : chips) {
    const auto& ranks = by_chip[chip];
    for (std::uint32_t i = 0; i + 1 < ranks.size(); i += kPair) {
      pairs.push_back({.ranks = {ranks[i], ranks[i + 1]}, .number = first[chip] + i / kPair});
    }
  }
  return pairs;
}

}  // namespace trnsim::collective
