// Words that the algorithms share: where the shards of a vector lie, and steps of the usual kinds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/collectives/schedule.h"

namespace trnsim::collective {

/// The shards of the vector, one per rank, one behind the other.
class Shards {
 public:
  Shards(const Place& place, const Task& task);

  [[nodiscard]] Part operator[](std::uint32_t rank) const;
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::uint32_t ranks_;
  std::uint64_t total_;
  std::uint64_t largest_;
  std::vector<std::uint64_t> first_;  ///< by rank, if the shards differ as the task says; else empty
};

/// The ranks of every chip, in order of their numbers.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> ranks_by_chip(const Place& place);

/// Whether every chip has as many ranks of the group as the first one.
[[nodiscard]] bool equal_chips(const std::vector<std::vector<std::uint32_t>>& by_chip);

/// All ranks, seen from `rank`, as steps that load every link alike: displacement by displacement, if the chips fill
/// a box of coordinates, else by difference of numbers. Entry i is the same movement for every rank; entry 0 is the
/// rank itself.
[[nodiscard]] std::vector<std::uint32_t> translations(const Place& place, std::uint32_t rank);

/// Its share of `piece`, for a lane.
[[nodiscard]] constexpr Part lane_part(Part piece, std::uint32_t lanes, std::uint32_t lane) {
  return part_of(piece, lanes, lane);
}

/// `part` as it lies in a buffer that begins with element `first` of the vector.
[[nodiscard]] constexpr Part seen_from(std::uint64_t first, Part part) {
  return {part.first - first, part.count};
}

[[nodiscard]] constexpr Operand one(Buffer buffer, std::uint64_t first) {
  return {.buffer = buffer, .first = first, .stride = 0, .times = 1};
}

/// `part` of the own `from`, to be written at `at` of `destination`.
[[nodiscard]] constexpr Step message(std::uint32_t to, Buffer from, Part part, Buffer destination, std::uint64_t at) {
  Step step;
  step.to = to;
  step.operands[0] = one(from, part.first);
  step.destination = destination;
  step.destination_first = at;
  step.count = part.count;
  return step;
}

/// The lane's part of the own vector, to the output of `receiver`.
[[nodiscard]] inline Step vector_to(std::uint32_t receiver, const Place& place, const Task& task, std::uint32_t lane,
                                    Event arrived) {
  const Part part = lane_part({0, task.elements}, place.lanes, lane);
  Step step = message(place.member(receiver, lane), Buffer::kInput, part, Buffer::kOutput, part.first);
  step.arrived = arrived;
  return step;
}

/// No elements: only counts one of `arrived` at `to`.
[[nodiscard]] constexpr Step signal(std::uint32_t to, Event arrived, std::uint8_t channel, std::uint8_t stream = 0) {
  Step step;
  step.to = to;
  step.arrived = arrived;
  step.channel = channel;
  step.stream = stream;
  return step;
}

/// Streams for data, on which slices take turns: with one, slices leave in order. What says that memory is free again
/// has the others, so that it does not wait behind data.
inline constexpr std::uint8_t kDataStreams = 1;
[[nodiscard]] constexpr std::uint8_t data_stream(std::uint32_t slice) {
  return static_cast<std::uint8_t>(slice % kDataStreams);
}
[[nodiscard]] constexpr std::uint8_t credit_stream(std::uint32_t slice) {
  return static_cast<std::uint8_t>(kDataStreams + slice % (kStreamCount - kDataStreams));
}

/// `count` elements from `from` to `to`.
struct Range {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t count = 0;
};

/// Appends a range, as part of the last one if it goes on where that one ends.
void append(std::vector<Range>& ranges, Range range);

/// Adds steps to a script whose later steps all depend on what was waited for before.
class Pen {
 public:
  /// For the steps of one stream. `sent` counts what has left, of the steps that need nothing else to say so.
  Pen(Script& script, Event sent, std::uint8_t stream = 0) : script_(script), sent_(sent), stream_(stream) {}

  /// The next step waits for these counts, and so do all after it, as steps are issued in order.
  void after(Event event, std::uint32_t count = 1) {
    if (count > 0) open_.push_back({event, count});
  }
  /// The next step waits until all before have left.
  void after_sent();

  void add(Step step);
  /// One message or sum of several ranges: `step` for each, with its first operand at Range::from and its destination
  /// at Range::to. Other operands are at the same place if they are of the input; else their ranges follow each other.
  /// What `step` counts, the last range counts.
  void add(const Step& step, const std::vector<Range>& ranges);
  /// The same for a step that counts when it has left.
  void send(Step step, const std::vector<Range>& ranges);
  void send(Step step);

  /// Last: waits for all that is open and for what has not left.
  void finish();

 private:
  Script& script_;
  Event sent_;
  std::uint8_t stream_;
  std::vector<Wait> open_;
  std::uint32_t unclaimed_ = 0;  ///< counts of `sent`
};

[[nodiscard]] inline std::string no_obstacle(const Place& /*place*/, const Task& /*task*/) {
  return "";
}
[[nodiscard]] inline std::uint64_t no_scratch(const Place& /*place*/, const Task& /*task*/) {
  return 0;
}

}  // namespace trnsim::collective
