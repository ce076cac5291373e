#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(Direct, SendsEveryShardOnceInOneMessage) {
  for (std::uint32_t n = 2; n < 30; ++n) {
    const auto outcome = facts(kDirect, test::ring_place(n, 1), task_of(Collective::kAllToAll, 4ULL * n));
    EXPECT_EQ(outcome.depth, 1U);
    expect_each_rank_sends(outcome, n, (n - 1) * 4);
  }
}

TEST(Direct, SendsWhatTheCountsSayAndASignalForZero) {
  const Place place = test::ring_place(3, 1);
  Task task = task_of(Collective::kAllToAll, 0);
  task.counts = {0, 1, 0, 1000, 0, 3, 0, 0, 0};
  const auto outcome = facts(kDirect, place, task);
  EXPECT_EQ(outcome.members[0].sent, 1U);
  EXPECT_EQ(outcome.members[1].sent, 1003U);
  EXPECT_EQ(outcome.members[2].sent, 0U);
  EXPECT_EQ(outcome.members[0].signals, 2U);  // one to another rank, one to itself
}

// The i-th message of every rank is the same movement, so that all links have the same to do.
TEST(Direct, GoesByDisplacementOnATorus) {
  Place place = test::ring_place(6, 1);
  for (std::uint32_t chip = 0; chip < 6; ++chip) place.coordinates.push_back({chip / 3, chip % 3});
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    Script script(rank);
    kDirect.write(place, task_of(Collective::kAllToAll, 60), script);
    for (std::uint32_t i = 1; i < 6; ++i) {
      const std::uint32_t to = script.steps()[i - 1].to;
      EXPECT_EQ((to / 3 + 2 - rank / 3) % 2, i / 3);
      EXPECT_EQ((to % 3 + 3 - rank % 3) % 3, i % 3);
    }
  }
}

}  // namespace
}  // namespace trnsim
