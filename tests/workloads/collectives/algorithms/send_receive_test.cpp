#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(SendReceive, IsOneMessageOfOneRank) {
  const auto outcome = facts(kSendReceive, test::ring_place(3, 1), task_of(Collective::kSendReceive, 10));
  EXPECT_EQ(outcome.depth, 1U);
  EXPECT_EQ(outcome.members[0].sent, 10U);
  EXPECT_EQ(total(outcome, &MemberTally::sent), 10U);
}

}  // namespace
}  // namespace trnsim
