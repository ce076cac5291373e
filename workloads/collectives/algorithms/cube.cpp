#include "workloads/collectives/algorithms/cube.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {
namespace {

bool uses_chips(const Place& place) {
  return (!place.cube.empty() || place.chips() == 1) && equal_chips(ranks_by_chip(place));
}

}  // namespace

std::string Cube::obstacle(const Place& place) {
  if (uses_chips(place) || std::has_single_bit(place.ranks)) return "";
  return "recursive needs chips that form a hypercube with equally many ranks each, or a power of two of ranks";
}

Cube::Cube(const Place& place) {
  if (uses_chips(place)) {
    ranks_ = ranks_by_chip(place);
    node_ = place.chip;
    dimensions_ = static_cast<std::uint32_t>(place.cube.size());
  } else {
    for (std::uint32_t rank = 0; rank < place.ranks; ++rank) ranks_.push_back({rank});
    node_.resize(place.ranks);
    std::iota(node_.begin(), node_.end(), 0U);
    dimensions_ = static_cast<std::uint32_t>(std::countr_zero(place.ranks));
  }
  coordinates_.resize(nodes());
  std::iota(coordinates_.begin(), coordinates_.end(), 0U);
  node_at_ = coordinates_;
  if (!uses_chips(place)) return;
  // Walked from node 0: coordinates without their highest digit come first.
  node_at_[0] = 0;
  for (std::uint32_t c = 1; c < nodes(); ++c) {
    const auto highest = static_cast<std::uint32_t>(std::bit_width(c)) - 1;
    node_at_[c] = place.cube[highest][node_at_[c - (1U << highest)]];
    coordinates_[node_at_[c]] = c;
  }
}

std::uint32_t Cube::local(std::uint32_t rank) const {
  return static_cast<std::uint32_t>(std::ranges::find(beside(rank), rank) - beside(rank).begin());
}

std::uint32_t Cube::turned(std::uint32_t coordinates, std::uint32_t local) const {
  std::uint32_t position = 0;
  for (std::uint32_t turn = 0; turn < dimensions_; ++turn) {
    position = 2 * position + (coordinates >> dimension(local, turn)) % 2;
  }
  return position;
}

std::uint32_t Cube::position(std::uint32_t rank) const {
  return turned(coordinates_[node_[rank]], local(rank));
}

std::vector<std::uint32_t> Cube::line(std::uint32_t local) const {
  std::vector<std::uint32_t> ranks(nodes());
  for (std::uint32_t c = 0; c < nodes(); ++c) ranks[turned(c, local)] = ranks_[node_at_[c]][local];
  return ranks;
}

std::uint32_t Cube::peer(std::uint32_t rank, std::uint32_t turn) const {
  const std::uint32_t own = local(rank);
  return ranks_[node_at_[coordinates_[node_[rank]] ^ (1U << dimension(own, turn))]][own];
}

}  // namespace trnsim::collective
