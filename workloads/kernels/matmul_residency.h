// Block loops of a matmul, and how long what they load stays.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/kernels/matmul_parts.h"

namespace trnsim {

constexpr std::size_t index(Axis axis) {
  return static_cast<std::size_t>(axis);
}

/// Three block loops.
struct Blocks {
  explicit Blocks(const ScheduledMatmul& s)
      : order(s.order), of{cut({0, s.m}, s.block_m), cut({0, s.n}, s.block_n), cut({0, s.k}, s.block_k)} {}

  /// Loop level of an axis, 0 = outermost.
  [[nodiscard]] std::size_t level(Axis axis) const {
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), axis) - order.begin());
  }
  [[nodiscard]] std::size_t count(std::size_t level) const { return of[index(order[level])].size(); }

  std::array<Axis, 3> order;
  std::array<std::vector<Range>, 3> of;  ///< by Axis
};

/// How often an operand is loaded. It is not indexed by `missing`: what the loops around that one name is loaded once
/// and stays for all of it; if that is the outermost, every block is loaded where it is used, unless all of it stays.
struct Residency {
  Residency(const Blocks& b, Axis missing_axis, bool all_stays)
      : missing(missing_axis), level(b.level(missing_axis)), whole(all_stays) {}

  /// Units of loads that are in use together.
  [[nodiscard]] std::size_t units(const Blocks& b) const {
    if (whole) return 1;
    if (level == 1) return b.count(0);
    return b.count(0) * b.count(1) * (level == 0 ? b.count(2) : 1);
  }
  [[nodiscard]] std::size_t unit(const Blocks& b, const std::array<std::size_t, 3>& at) const {
    if (whole) return 0;
    if (level == 1) return at[0];
    const std::size_t block = at[0] * b.count(1) + at[1];
    return level == 0 ? block * b.count(2) + at[2] : block;
  }
  /// Blocks of `axis` that unit number `unit` holds.
  [[nodiscard]] std::vector<Range> held(const Blocks& b, Axis axis, std::size_t unit) const {
    const std::vector<Range>& all = b.of[index(axis)];
    const std::size_t at = b.level(axis);
    if (whole || (level == 1 && at == 2)) return all;
    std::array<std::size_t, 3> place{};
    if (level == 1) {
      place[0] = unit;
    } else {
      place = level == 0
                  ? std::array{unit / (b.count(1) * b.count(2)), unit / b.count(2) % b.count(1), unit % b.count(2)}
                  : std::array{unit / b.count(1), unit % b.count(1), std::size_t{0}};
    }
    return {all[place[at]]};
  }
  /// How much of the loads ahead is to be started by the visit at `at`: spread over the first half of a unit's visits.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress(const Blocks& b,
                                                                 const std::array<std::size_t, 3>& at) const {
    if (level == 0) return {1, 1};
    const std::uint64_t all = level == 2 ? b.count(2) : b.count(1) * b.count(2);
    const std::uint64_t visit = level == 2 ? at[2] : at[1] * b.count(2) + at[2];
    return {std::min(2 * (visit + 1), all), all};
  }
  /// Times that the whole operand is read.
  [[nodiscard]] std::uint64_t reads(const Blocks& b) const { return !whole && level == 0 ? b.count(0) : 1; }

  Axis missing;
  std::size_t level;
  bool whole;
};

}  // namespace trnsim
