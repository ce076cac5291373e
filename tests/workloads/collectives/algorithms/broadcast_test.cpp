#include <bit>

#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(BroadcastTree, DoublesWhoHasTheVector) {
  for (std::uint32_t n = 2; n < 20; ++n) {
    Task task = task_of(Collective::kBroadcast, 10);
    task.root = n / 2;
    const auto outcome = facts(kBroadcastTree, test::ring_place(n, 1), task);
    std::uint32_t rounds = 0;
    while ((1U << rounds) < n) ++rounds;
    EXPECT_EQ(outcome.depth, std::bit_width(n) - 1);  // of dependent ones; a rank sends its own one after another
    EXPECT_EQ(outcome.members[task.root].sent, rounds * 10);
    EXPECT_EQ(total(outcome, &MemberTally::sent), (n - 1) * 10U);
  }
}

TEST(BroadcastChain, SendsEveryElementOnceFromRankToRank) {
  for (std::uint32_t n = 2; n < 20; ++n) {
    Task task = task_of(Collective::kBroadcast, 40, 2);
    task.root = n - 1;
    const auto outcome = facts(kBroadcastChain, test::ring_place(n, 1), task);
    EXPECT_EQ(outcome.depth, n - 1);
    EXPECT_EQ(outcome.members[task.root].sent, 40U);
    EXPECT_EQ(total(outcome, &MemberTally::sent), (n - 1) * 40U);
  }
}

}  // namespace
}  // namespace trnsim
