#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(SingleStepMesh, SendsTheWholeVectorToEverybodyInOneMessageEach) {
  for (std::uint32_t n = 2; n < 12; ++n) {
    const auto outcome = facts(kSingleStepMesh, test::ring_place(n, 1), task_of(Collective::kAllReduce, 7));
    EXPECT_EQ(outcome.depth, 1U);
    expect_each_rank_sends(outcome, n, (n - 1) * 7);
  }
}

TEST(SingleStepMesh, OfTwoRanksTouchesMemoryFiveTimesPerRank) {
  const auto outcome = facts(kSingleStepMesh, test::ring_place(1, 2), task_of(Collective::kAllReduce, 100));
  EXPECT_EQ(total(outcome, &MemberTally::touches), 2U * 5 * 100);  // sent: read, written; summed: two read, one written
}

TEST(SingleStepMesh, RefusesWhatItsScratchCannotCount) {
  const Place place = test::ring_place(32, 1);
  EXPECT_EQ(refusal(kSingleStepMesh, place, task_of(Collective::kAllReduce, 1ULL << 58)), "");
  EXPECT_NE(refusal(kSingleStepMesh, place, task_of(Collective::kAllReduce, 1ULL << 60)), "");
}

}  // namespace
}  // namespace trnsim
