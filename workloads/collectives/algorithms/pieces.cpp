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

/// Chips that fill a box of coordinates.
class Box {
 public:
  explicit Box(const std::vector<std::vector<std::uint32_t>>& coordinates) {
    if (coordinates.empty()) return;
    const std::size_t dimensions = coordinates.front().size();
    std::size_t size = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      std::vector<std::uint32_t>& values = values_.emplace_back();
      for (const auto& chip : coordinates) values.push_back(chip[d]);
      std::ranges::sort(values);
      values.erase(std::ranges::unique(values).begin(), values.end());
      size *= values.size();
    }
    if (size != coordinates.size()) return;
    chips_.resize(size);
    for (std::uint32_t chip = 0; chip < size; ++chip) {
      cells_.push_back(cell(coordinates[chip]));
      chips_[cells_.back()] = chip;
    }
  }

  [[nodiscard]] bool filled() const { return !chips_.empty(); }
  /// The chip that lies from `chip` as cell `displacement` lies from cell 0, going round in every dimension.
  [[nodiscard]] std::uint32_t displaced(std::uint32_t chip, std::size_t displacement) const {
    std::size_t from = cells_[chip];
    std::size_t moved = 0;
    std::size_t weight = 1;
    for (auto values = values_.rbegin(); values != values_.rend(); ++values) {
      moved += (from + displacement) % values->size() * weight;
      from /= values->size();
      displacement /= values->size();
      weight *= values->size();
    }
    return chips_[moved];
  }

 private:
  [[nodiscard]] std::size_t cell(const std::vector<std::uint32_t>& coordinates) const {
    std::size_t number = 0;
    for (std::size_t d = 0; d < values_.size(); ++d) {
      const auto at = std::ranges::lower_bound(values_[d], coordinates[d]) - values_[d].begin();
      number = number * values_[d].size() + static_cast<std::size_t>(at);
    }
    return number;
  }

  std::vector<std::vector<std::uint32_t>> values_;  ///< by dimension, of the coordinates that there are
  std::vector<std::size_t> cells_;                  ///< by chip
  std::vector<std::uint32_t> chips_;                ///< by cell
};

}  // namespace

std::vector<std::uint32_t> translations(const Place& place, std::uint32_t rank) {
  std::vector<std::uint32_t> order;
  order.reserve(place.ranks);
  const Box box(place.coordinates);
  const auto by_chip = box.filled() ? ranks_by_chip(place) : std::vector<std::vector<std::uint32_t>>();
  if (box.filled() && equal_chips(by_chip)) {
    const auto& own = by_chip[place.chip[rank]];
    const auto local = static_cast<std::size_t>(std::ranges::find(own, rank) - own.begin());
    for (std::size_t displacement = 0; displacement < by_chip.size(); ++displacement) {
      const auto& ranks = by_chip[box.displaced(place.chip[rank], displacement)];
      for (std::size_t i = 0; i < own.size(); ++i) order.push_back(ranks[(local + i) % own.size()]);
    }
    return order;
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
  step.stream = stream_;
  const auto put = [this](Step& holder) {
    for (Wait& wait : holder.waits) {
      if (open_.empty() || wait.event != kNoEvent) continue;
      wait = open_.back();
      open_.pop_back();
    }
  };
  const auto free = static_cast<std::size_t>(std::ranges::count(step.waits, kNoEvent, &Wait::event));
  while (open_.size() > free) {
    Step hold = signal(script_.member(), kNoEvent, step.channel, stream_);
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
  for (const Wait& wait : open_) script_.finish(wait, stream_);
  script_.finish({sent_, unclaimed_}, stream_);
}

}  // namespace trnsim::collective
