// Groups for tests of collectives.
#pragma once

#include <cstdint>
#include <random>

#include "workloads/collectives/schedule.h"

namespace trnsim::test {

/// `per_chip` ranks on each of `chips` chips, numbered chip by chip; one ring of chips in each direction if there are
/// more than two, one if two.
[[nodiscard]] collective::Place ring_place(std::uint32_t chips, std::uint32_t per_chip, std::uint32_t lanes = 1);

/// 2^dimensions chips that form a hypercube.
[[nodiscard]] collective::Place cube_place(std::uint32_t dimensions, std::uint32_t per_chip, std::uint32_t lanes = 1);

/// The group `one` in each of several instances, numbered instance by instance, or else all equal ones together.
[[nodiscard]] collective::Place instances_of(const collective::Place& one, std::uint32_t instances,
                                             bool interleaved = false);

/// Any group of up to `most` ranks: chips with equal or different numbers of ranks, numbered at random.
[[nodiscard]] collective::Place random_place(std::mt19937_64& random, std::uint32_t most);

}  // namespace trnsim::test
