// Rings of ranks, from the rings of chips of a place.
#pragma once

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

}  // namespace trnsim::collective
