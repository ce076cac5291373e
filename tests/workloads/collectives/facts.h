// What tests of one algorithm ask for.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/workloads/collectives/payload.h"
#include "tests/workloads/collectives/places.h"
#include "workloads/collectives/algorithms/list.h"

namespace trnsim::test {

/// Carries the task out and expects it to be right.
inline Outcome facts(const collective::Algorithm& algorithm, const collective::Place& place,
                     const collective::Task& task) {
  const std::string refused = collective::refusal(algorithm, place, task);
  EXPECT_EQ(refused, "") << algorithm.name;
  if (!refused.empty()) return {};
  Outcome outcome = carry_out(algorithm, place, task, place.ranks + task.elements);
  EXPECT_EQ(outcome.error, "") << algorithm.name << " " << collective::name_of(task.collective) << " of " << place.ranks
                               << " ranks, " << task.elements << " elements";
  return outcome;
}

inline collective::Task task_of(Collective collective, std::uint64_t elements, std::uint32_t slices = 1) {
  collective::Task task;
  task.collective = collective;
  task.elements = elements;
  task.slices = slices;
  return task;
}

/// Sum over all members of one of their tallies.
inline std::uint64_t total(const Outcome& outcome, std::uint64_t MemberTally::*what) {
  std::uint64_t sum = 0;
  for (const MemberTally& member : outcome.members) sum += member.*what;
  return sum;
}

/// That every rank sends `elements` to others.
inline void expect_each_rank_sends(const Outcome& outcome, std::uint32_t ranks, std::uint64_t elements) {
  const auto lanes = static_cast<std::uint32_t>(outcome.members.size() / ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) EXPECT_EQ(outcome.rank(rank, lanes).sent, elements) << rank;
}

}  // namespace trnsim::test
