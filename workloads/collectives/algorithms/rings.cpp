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

}  // namespace trnsim::collective
