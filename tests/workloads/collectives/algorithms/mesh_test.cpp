#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(Mesh, TakesTwoDependentMessagesForAnyNumberOfRanksAndOneFewerEachWay) {
  for (std::uint32_t n = 2; n < 24; ++n) {
    const Place place = test::ring_place(n, 1);
    const std::uint64_t s = 6ULL * n;
    EXPECT_EQ(facts(kMesh, place, task_of(Collective::kAllReduce, s)).depth, 2U);
    EXPECT_EQ(facts(kMesh, place, task_of(Collective::kAllGather, s)).depth, 1U);
    const auto scatter = facts(kMesh, place, task_of(Collective::kReduceScatter, s));
    EXPECT_EQ(scatter.depth, 1U);
    expect_each_rank_sends(scatter, n, (n - 1) * s / n);
    expect_each_rank_sends(facts(kMesh, place, task_of(Collective::kAllReduce, s)), n, 2 * (n - 1) * s / n);
  }
}

TEST(Mesh, TouchesMemoryTwicePerMessageAndOncePerSourceOfTheSum) {
  const auto outcome = facts(kMesh, test::ring_place(4, 2), task_of(Collective::kReduceScatter, 80));
  // Per rank: 7 shards read and 7 written elsewhere, then 8 read and one written; a shard is 10 elements.
  EXPECT_EQ(total(outcome, &MemberTally::touches), 8U * (7 * 2 + 9) * 10);
}

TEST(Mesh, LanesShareEveryShard) {
  const auto outcome = facts(kMesh, test::ring_place(2, 2, 2), task_of(Collective::kAllGather, 80));
  for (const MemberTally& member : outcome.members) EXPECT_EQ(member.sent, 3U * 20 / 2);
}

}  // namespace
}  // namespace trnsim
