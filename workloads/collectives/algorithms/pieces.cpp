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

void append(std::vector<Range>& ranges, Range range) {
  if (range.count == 0) return;
  if (!ranges.empty()) {
    Range& last = ranges.back();
    if (last.from + last.count == range.from && last.to + last.count == range.to) {
      last.count += range.count;
      return;
    }
  }
  ranges.push_back(range);
}

void Pen::after_sent() {
  after(sent_, unclaimed_);
  unclaimed_ = 0;
}

void Pen::add(Step step) {
  const auto put = [this](Step& holder) {
    for (Wait& wait : holder.waits) {
      if (open_.empty() || wait.event != kNoEvent) continue;
      wait = open_.back();
      open_.pop_back();
    }
  };
  const auto free = static_cast<std::size_t>(std::ranges::count(step.waits, kNoEvent, &Wait::event));
  while (open_.size() > free) {
    Step hold = signal(script_.member(), kNoEvent, step.channel);
    put(hold);
    script_.add(hold);
  }
  put(step);
  script_.add(step);
}

void Pen::add(const Step& step, const std::vector<Range>& ranges) {
  std::uint64_t before = 0;
  Step last = step;
  last.count = 0;
  for (const Range& range : ranges) {
    if (before > 0) {
      last.arrived = kNoEvent;
      last.sent = kNoEvent;
      add(last);
    }
    last = step;
    last.count = range.count;
    last.destination_first = range.to;
    last.operands[0].first = range.from;
    for (std::size_t i = 1; i < last.operands.size(); ++i) {
      const bool input = last.operands[i].buffer == Buffer::kInput;
      last.operands[i].first = input ? range.from : step.operands[i].first + before;
    }
    before += range.count;
  }
  add(last);
}

void Pen::send(Step step, const std::vector<Range>& ranges) {
  step.sent = sent_;
  ++unclaimed_;
  add(step, ranges);
}

void Pen::send(Step step) {
  step.sent = sent_;
  ++unclaimed_;
  add(step);
}

void Pen::finish() {
  for (const Wait& wait : open_) script_.finish(wait);
  script_.finish({sent_, unclaimed_});
}

}  // namespace trnsim::collective
