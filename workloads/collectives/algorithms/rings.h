// Rings of ranks and of pairs of ranks, from the rings of chips of a place.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/collectives/schedule.h"

namespace trnsim::collective {

/// Orders of all chips, cyclic: the place's rings; where it has none, one, by number.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> chip_rings(const Place& place);

/// The same with the ranks of a chip one after another.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> rank_rings(const Place& place);

/// The fewest channels that rings and workers can share evenly. Channel c is on ring c mod rings and worked on by
/// worker c mod workers.
[[nodiscard]] std::uint32_t ring_channels(const Place& place, std::uint32_t workers);

inline constexpr std::uint32_t kPair = 2;

/// Two neighbouring ranks of a chip.
struct Pair {
  std::array<std::uint32_t, kPair> ranks{};
  std::uint32_t number = 0;  ///< chip by chip, in order of the chips' numbers
};

/// The pairs of all chips, chip by chip along `chips`. Needs: an even number of ranks on every chip.
[[nodiscard]] std::vector<Pair> pairs_along(const std::vector<std::vector<std::uint32_t>>& by_chip,
                                            const std::vector<std::uint32_t>& chips);

}  // namespace trnsim::collective
