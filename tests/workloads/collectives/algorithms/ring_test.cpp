#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(Ring, TakesAStepPerOtherRankAndDirection) {
  for (std::uint32_t n = 2; n < 20; ++n) {
    for (const std::uint32_t slices : {1U, 2U, 3U}) {
      const Place place = test::ring_place(n, 1);
      const std::uint64_t s = 12ULL * n;
      const auto reduce = facts(kRing, place, task_of(Collective::kAllReduce, s, slices));
      EXPECT_EQ(reduce.depth, 2 * (n - 1));
      expect_each_rank_sends(reduce, n, 2 * (n - 1) * s / n);
      EXPECT_EQ(facts(kRing, place, task_of(Collective::kAllGather, s, slices)).depth, n - 1);
      const auto scatter = facts(kRing, place, task_of(Collective::kReduceScatter, s, slices));
      EXPECT_EQ(scatter.depth, n - 1);
      expect_each_rank_sends(scatter, n, (n - 1) * s / n);
    }
  }
}

TEST(Ring, TouchesMemoryThreeTimesPerChunkToReduceAndTwiceToGather) {
  const Place place = test::ring_place(8, 1);
  // The first message has no partial sum to read yet.
  EXPECT_EQ(total(facts(kRing, place, task_of(Collective::kReduceScatter, 64)), &MemberTally::touches),
            8U * 8 * (3 * 8 - 1));
  EXPECT_EQ(total(facts(kRing, place, task_of(Collective::kAllGather, 64)), &MemberTally::touches), 8U * 8 * 2 * 8);
}

// Every directed ring takes its part of the vector: no link has more than the others.
TEST(Ring, SpreadsOverAllRings) {
  const Place place = test::ring_place(5, 2);
  const auto outcome = facts(kRing, place, task_of(Collective::kAllGather, 200));
  EXPECT_EQ(total(outcome, &MemberTally::left_chip), 5U * 9 * 20);  // each chip sends 9 shards, half of each either way
}

TEST(Ring, KeepsTwoSlotsPerChannelAndSlice) {
  EXPECT_EQ(kRing.scratch(test::ring_place(4, 1), task_of(Collective::kAllReduce, 64, 2)), 2U * 2 * 2 * 4);
}

}  // namespace
}  // namespace trnsim
