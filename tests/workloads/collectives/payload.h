// Carries out schedules on tagged elements: every element is the multiset of the (rank, element) contributions in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/collectives/algorithms/algorithm.h"

namespace trnsim::test {

/// What one member did.
struct MemberTally {
  std::uint64_t sent = 0;       ///< elements sent to other ranks; counted once where two get them
  std::uint64_t left_chip = 0;  ///< of these, to other chips
  std::uint64_t messages = 0;   ///< with elements, to other ranks
  std::uint64_t signals = 0;    ///< without
  std::uint64_t touches = 0;    ///< elements read and written in memory
};

struct Outcome {
  std::string error;        ///< empty if every rank has exactly what it should have
  std::uint32_t depth = 0;  ///< longest chain of dependent messages with elements to other ranks
  std::vector<MemberTally> members;

  [[nodiscard]] MemberTally rank(std::uint32_t rank, std::uint32_t lanes) const;
};

/// Runs the scripts of all members. Any step that could be next may be; which one is drawn from `seed`. Errors: a
/// deadlock (who waits for whom), wrong or missing contributions, memory that is read or written while it is being
/// written or read by a step that is not ordered with it, counts left over, use of a finished rank's memory.
[[nodiscard]] Outcome carry_out(const collective::Algorithm& algorithm, const collective::Place& place,
                                const collective::Task& task, std::uint64_t seed);

/// The same for scripts written by hand, with `scratch` elements of scratch per rank.
[[nodiscard]] Outcome carry_out(const std::vector<collective::Script>& scripts, const collective::Place& place,
                                const collective::Task& task, std::uint64_t scratch, std::uint64_t seed);

}  // namespace trnsim::test
