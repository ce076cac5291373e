#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(KangaRing, TakesAStepPerOtherPair) {
  for (const std::uint32_t chips : {1U, 2U, 3U, 5U, 8U}) {
    for (const std::uint32_t per_chip : {2U, 4U}) {
      const Place place = test::ring_place(chips, per_chip);
      const std::uint32_t n = place.ranks;
      const std::uint64_t s = 16ULL * n;
      EXPECT_EQ(facts(kKangaRing, place, task_of(Collective::kAllReduce, s, 2)).depth, n - 2);
      const auto gather = facts(kKangaRing, place, task_of(Collective::kAllGather, s, 2));
      EXPECT_EQ(gather.depth, n / 2 - 1);
      expect_each_rank_sends(gather, n, (n / 2 - 1) * s / n);
      const auto scatter = facts(kKangaRing, place, task_of(Collective::kReduceScatter, s, 2));
      EXPECT_EQ(total(scatter, &MemberTally::sent),
                (n / 2 - 1) * s);  // with two channels each lead keeps its own shard
    }
  }
}

TEST(KangaRing, TouchesMemoryFourTimesPerPairAndChunkToReduceAndThreeTimesToGather) {
  const Place place = test::ring_place(4, 4);  // 8 pairs with 16 elements of the vector each
  // The first message has no partial sum to read yet.
  EXPECT_EQ(total(facts(kKangaRing, place, task_of(Collective::kReduceScatter, 128)), &MemberTally::touches),
            8U * 16 * (4 * 8 - 1));
  EXPECT_EQ(total(facts(kKangaRing, place, task_of(Collective::kAllGather, 128)), &MemberTally::touches),
            8U * 16 * 3 * 8);
}

TEST(KangaRing, CoresOfAPairTakeTurnsInLeading) {
  const auto outcome = facts(kKangaRing, test::ring_place(4, 4, 2), task_of(Collective::kAllGather, 256));
  for (const MemberTally& member : outcome.members) EXPECT_EQ(member.sent, outcome.members[0].sent);
}

TEST(KangaRing, SaysWhyItCannot) {
  EXPECT_EQ(refusal(kKangaRing, test::ring_place(4, 3), task_of(Collective::kAllReduce, 8)),
            "kangaring needs an even number of ranks on every chip");
  Place strided = test::ring_place(2, 2);
  strided.chip = {0, 1, 0, 1};
  EXPECT_EQ(refusal(kKangaRing, strided, task_of(Collective::kAllReduce, 8)), "");
  EXPECT_EQ(refusal(kKangaRing, strided, task_of(Collective::kAllGather, 8)),
            "kangaring needs neighbouring ranks of a chip to have neighbouring shards");
  EXPECT_EQ(refusal(kKangaRing, strided, task_of(Collective::kAllToAll, 8)),
            "kangaring is no algorithm for all_to_all");
}

}  // namespace
}  // namespace trnsim
