#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

// The checker itself: what it must not let pass.
Place two() {
  return test::ring_place(2, 1);
}

Step sends(std::uint32_t to, Event arrived) {
  Step step;
  step.to = to;
  step.operands[0] = {.buffer = Buffer::kInput, .first = 0, .stride = 0, .times = 1};
  step.count = 1;
  step.arrived = arrived;
  return step;
}

std::string error_of(std::vector<Script> scripts) {
  const Place place = two();
  return test::carry_out(scripts, place, task_of(Collective::kPermute, 1), 1, 7).error;
}

std::vector<Script> exchange() {
  std::vector<Script> scripts = {Script(0), Script(1)};
  for (std::uint32_t m = 0; m < 2; ++m) {
    const Event arrived = scripts[m].event();
    scripts[m].add(sends(1 - m, arrived));
    scripts[m].finish({arrived, 1});
  }
  return scripts;
}

TEST(PayloadChecker, LetsARightExchangePass) {
  EXPECT_EQ(error_of(exchange()), "");
}

TEST(PayloadChecker, SaysWhoWaitsForWhom) {
  std::vector<Script> scripts = {Script(0), Script(1)};
  for (std::uint32_t m = 0; m < 2; ++m) {
    const Event arrived = scripts[m].event();
    Step step = sends(1 - m, arrived);
    step.waits[0] = {arrived, 1};
    scripts[m].add(step);
  }
  EXPECT_EQ(
      error_of(scripts),
      "deadlock\nmember 0 waits for event 0 (has 0 of 1) from 1\nmember 1 waits for event 0 (has 0 of 1) from 0\n");
}

TEST(PayloadChecker, FindsCountsThatAreLeft) {
  std::vector<Script> scripts = exchange();
  Step step;
  step.to = 1;
  step.arrived = 0;
  scripts[0].add(step);
  EXPECT_EQ(error_of(scripts), "member 1 has 1 counts of event 0 left");
}

TEST(PayloadChecker, FindsTwoWritersOfOneElement) {
  std::vector<Script> scripts = exchange();
  Step step = sends(1, kNoEvent);
  step.channel = 1;
  scripts[0].add(step);
  EXPECT_NE(error_of(scripts), "");
}

TEST(PayloadChecker, FindsAWrongElement) {
  std::vector<Script> scripts = {Script(0), Script(1)};
  for (std::uint32_t m = 0; m < 2; ++m) {
    const Event sent = scripts[m].event();
    Step step = sends(m, kNoEvent);
    step.sent = sent;
    scripts[m].add(step);
    scripts[m].finish({sent, 1});
  }
  EXPECT_EQ(error_of(scripts), "rank 0 element 0 has 1 contributions, not the 1 right ones");
}

}  // namespace
}  // namespace trnsim
