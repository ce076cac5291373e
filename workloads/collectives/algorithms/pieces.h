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

/// All ranks, seen from `rank`, as steps that load every link alike: on a torus displacement by displacement, else by
/// difference of numbers. Entry i is the same movement for every rank; entry 0 is the rank itself.
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

/// No elements: only counts one of `arrived` at `to`.
[[nodiscard]] constexpr Step signal(std::uint32_t to, Event arrived, std::uint8_t channel) {
  Step step;
  step.to = to;
  step.arrived = arrived;
  step.channel = channel;
  return step;
}

[[nodiscard]] inline std::string no_obstacle(const Place& /*place*/, const Task& /*task*/) {
  return "";
}
[[nodiscard]] inline std::uint64_t no_scratch(const Place& /*place*/, const Task& /*task*/) {
  return 0;
}

}  // namespace trnsim::collective
