#include "workloads/collectives/algorithms/pieces.h"

#include <algorithm>

namespace trnsim::collective {

Shards::Shards(const Place& place, const Task& task)
    : ranks_(place.ranks), total_(task.elements), largest_(part_of({0, task.elements}, place.ranks, 0).count) {
  const bool gives_counts = task.collective == Collective::kAllGather || task.collective == Collective::kReduceScatter;
  if (!gives_counts || task.counts.empty()) return;
  first_.reserve(ranks_ + 1U);
  total_ = 0;
  for (const std::uint64_t count : task.counts) {
    first_.push_back(total_);
    total_ += count;
  }
  first_.push_back(total_);
  largest_ = *std::ranges::max_element(task.counts);
}

std::vector<std::vector<std::uint32_t>> ranks_by_chip(const Place& place) {
  std::vector<std::vector<std::uint32_t>> by_chip(place.chips());
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) by_chip[place.chip[rank]].push_back(rank);
  return by_chip;
}

bool equal_chips(const std::vector<std::vector<std::uint32_t>>& by_chip) {
  return std::ranges::all_of(by_chip, [&](const auto& ranks) { return ranks.size() == by_chip.front().size(); });
}

namespace {

/// The chip that lies from `chip` as `displacement` lies from chip 0.
std::uint32_t displaced(const std::vector<std::uint32_t>& extents, std::uint32_t chip, std::uint32_t displacement) {
  std::uint32_t moved = 0;
  std::uint32_t weight = 1;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    moved += (chip % *extent + displacement % *extent) % *extent * weight;
    chip /= *extent;
    displacement /= *extent;
    weight *= *extent;
  }
  return moved;
}

}  // namespace

std::vector<std::uint32_t> translations(const Place& place, std::uint32_t rank) {
  std::vector<std::uint32_t> order;
  order.reserve(place.ranks);
  if (!place.torus.empty()) {
    const auto by_chip = ranks_by_chip(place);
    const std::uint32_t chip = place.chip[rank];
    const auto& own = by_chip[chip];
    const auto local = static_cast<std::size_t>(std::ranges::find(own, rank) - own.begin());
    if (equal_chips(by_chip)) {
      for (std::uint32_t d = 0; d < place.chips(); ++d) {
        const auto& ranks = by_chip[displaced(place.torus, chip, d)];
        for (std::size_t i = 0; i < own.size(); ++i) order.push_back(ranks[(local + i) % own.size()]);
      }
      return order;
    }
  }
  for (std::uint64_t d = 0; d < place.ranks; ++d) {
    order.push_back(static_cast<std::uint32_t>((rank + d) % place.ranks));
  }
  return order;
}

Part Shards::operator[](std::uint32_t rank) const {
  if (first_.empty()) return part_of({0, total_}, ranks_, rank);
  return {first_[rank], first_[rank + 1] - first_[rank]};
}

}  // namespace trnsim::collective
