#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

TEST(Permute, SendsTheVectorOnce) {
  for (const std::uint32_t n : {2U, 5U, 8U}) {
    for (std::uint32_t shift = 1; shift < n; ++shift) {
      Task task = task_of(Collective::kPermute, 10);
      task.shift = shift;
      const auto outcome = facts(kPermute, test::ring_place(n, 1), task);
      EXPECT_EQ(outcome.depth, 1U);
      expect_each_rank_sends(outcome, n, 10);
    }
  }
}

}  // namespace
}  // namespace trnsim
