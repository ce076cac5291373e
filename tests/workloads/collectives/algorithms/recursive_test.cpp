#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(Recursive, TakesAStepPerDimensionAndOneOnTheChip) {
  for (std::uint32_t d = 0; d < 5; ++d) {
    for (const std::uint32_t per_chip : {1U, 2U, 4U}) {
      const Place place = test::cube_place(d, per_chip);
      const std::uint64_t s = 16ULL * place.ranks;
      const std::uint32_t first = per_chip > 2 ? 1 : 0;  // two ranks read each other's memory, no message
      const std::uint32_t last = per_chip > 1 ? 1 : 0;
      EXPECT_EQ(facts(kRecursive, place, task_of(Collective::kReduceScatter, s)).depth, d + first);
      EXPECT_EQ(facts(kRecursive, place, task_of(Collective::kAllGather, s)).depth, d + last);
      EXPECT_EQ(facts(kRecursive, place, task_of(Collective::kAllReduce, s)).depth, 2 * d + first + last);
    }
  }
}

TEST(Recursive, HalvesWhatItSends) {
  for (const std::uint32_t per_chip : {1U, 2U, 3U, 4U, 8U}) {
    const Place place = test::cube_place(3, per_chip);
    const std::uint64_t s = 16ULL * place.ranks;
    const std::uint64_t across = s / per_chip * 7 / 8;
    const std::uint64_t chip = (per_chip - 1) / 2 * s / per_chip;
    expect_each_rank_sends(facts(kRecursive, place, task_of(Collective::kReduceScatter, s)), place.ranks,
                           across + chip);
    expect_each_rank_sends(facts(kRecursive, place, task_of(Collective::kAllGather, s)), place.ranks,
                           across + (per_chip - 1) * s / per_chip);
  }
}

TEST(Recursive, TouchesMemoryOfAChipSevenTimesToReduceFourRanksAndFiveTimesPerElementSent) {
  const Place place = test::cube_place(4, 4);
  const std::uint64_t s = 64ULL * 16;
  const auto scatter = facts(kRecursive, place, task_of(Collective::kReduceScatter, s));
  EXPECT_EQ(total(scatter, &MemberTally::touches), 16 * (7 * s + 5 * s * 15 / 16));
  const auto gather = facts(kRecursive, place, task_of(Collective::kAllGather, s));
  // The own shards to the output, the doubling, and each quarter to the three other ranks.
  EXPECT_EQ(total(gather, &MemberTally::touches), 16 * (2 * s / 16 + 2 * s * 15 / 16 + 6 * s));
}

// Equal local ranks begin with different dimensions: in every turn each of the four links of a chip carries a quarter.
TEST(Recursive, LocalRanksBeginWithDifferentDimensions) {
  const Place place = test::cube_place(4, 4);
  std::vector<std::uint32_t> first_peers;
  for (std::uint32_t local = 0; local < 4; ++local) {
    Script script(local);
    kRecursive.write(place, task_of(Collective::kAllReduce, 1024), script);
    for (const Step& step : script.steps()) {
      if (step.count == 0 || place.chip[step.to] == 0) continue;
      first_peers.push_back(place.chip[step.to]);
      break;
    }
  }
  EXPECT_EQ(first_peers, (std::vector<std::uint32_t>{1, 2, 4, 8}));
}

TEST(Recursive, SaysWhyItCannot) {
  EXPECT_EQ(refusal(kRecursive, test::ring_place(3, 2), task_of(Collective::kAllReduce, 8)),
            "recursive needs chips that form a hypercube with equally many ranks each, or a power of two of ranks");
  EXPECT_EQ(refusal(kRecursive, test::ring_place(1, 3), task_of(Collective::kAllReduce, 8)), "");
  EXPECT_EQ(refusal(kRecursive, test::ring_place(8, 2), task_of(Collective::kAllReduce, 8)), "");
}

}  // namespace
}  // namespace trnsim
