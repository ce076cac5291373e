// What the ranks hold before and after a collective, by definition of the collective.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/collectives/schedule.h"

namespace trnsim::test {

/// (rank, element) contributions, in order; element of the giver's input.
using Value = std::vector<std::uint64_t>;

[[nodiscard]] std::uint64_t input_size(const collective::Place& place, const collective::Task& task,
                                       std::uint32_t rank);
[[nodiscard]] Value input_value(std::uint32_t rank, std::uint64_t element);
/// What must be in the output of `rank`; empty where the collective leaves it alone.
[[nodiscard]] std::vector<Value> expected_output(const collective::Place& place, const collective::Task& task,
                                                 std::uint32_t rank);
[[nodiscard]] std::uint64_t output_size(const collective::Place& place, const collective::Task& task,
                                        std::uint32_t rank);

}  // namespace trnsim::test
