#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

// m instances of one chip with l ranks: what leaves the chip is what goes between instances.
TEST(Hierarchical, CrossesInstancesOnlyBetweenEqualLocalRanks) {
  for (const std::uint32_t m : {2U, 3U, 4U}) {
    const Place place = test::instances_of(test::ring_place(1, 4), m);
    const std::uint64_t s = 48ULL * m;
    const auto left = [&](Collective collective) {
      return total(facts(kHierarchical, place, task_of(collective, s)), &MemberTally::left_chip);
    };
    EXPECT_EQ(left(Collective::kAllReduce), m * 2 * (m - 1) * s / m);
    EXPECT_EQ(left(Collective::kAllGather), m * (m - 1) * s / m);
    EXPECT_EQ(left(Collective::kReduceScatter), m * (m - 1) * s / m);
    EXPECT_EQ(left(Collective::kAllToAll), 4 * m * (m - 1) * s / m);
  }
}

TEST(Hierarchical, TakesTheStepsOfItsPhases) {
  const Place place = test::instances_of(test::ring_place(4, 1), 3);
  Task task = task_of(Collective::kAllReduce, 1200);
  task.inner = &kRing;
  EXPECT_EQ(facts(kHierarchical, place, task).depth, 3U + 2 * 2 + 3);
  task.outer = &kMesh;
  EXPECT_EQ(facts(kHierarchical, place, task).depth, 3U + 2 + 3);
  EXPECT_EQ(facts(kHierarchical, place, task_of(Collective::kAllToAll, 1200)).depth, 2U);
}

TEST(Hierarchical, SaysWhyItCannot) {
  EXPECT_EQ(refusal(kHierarchical, test::ring_place(4, 2), task_of(Collective::kAllReduce, 8)),
            "hierarchical needs ranks in several instances");
  Place uneven = test::instances_of(test::ring_place(2, 2), 2);
  uneven.within[1].rings.clear();
  EXPECT_EQ(refusal(kHierarchical, uneven, task_of(Collective::kAllReduce, 8)),
            "hierarchical needs the same local ranks in every instance");
  const Place odd = test::instances_of(test::ring_place(2, 3), 2);
  Task task = task_of(Collective::kAllReduce, 8);
  task.inner = &kKangaRing;
  EXPECT_EQ(refusal(kHierarchical, odd, task), "kangaring needs an even number of ranks on every chip");
}

}  // namespace
}  // namespace trnsim
