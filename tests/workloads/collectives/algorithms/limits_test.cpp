#include "tests/workloads/collectives/facts.h"

namespace trnsim {
namespace {

using namespace collective;
using test::facts;
using test::MemberTally;
using test::task_of;
using test::total;

// Single members of groups that are too large to be carried out.
constexpr std::uint64_t kHuge = 1ULL << 60U;

Script script_of(const Algorithm& algorithm, const Place& place, const Task& task, std::uint32_t member) {
  EXPECT_EQ(refusal(algorithm, place, task), "");
  Script script(member);
  algorithm.write(place, task, script);
  return script;
}

void expect_inside(const Script& script, const Place& place, const Task& task, const Algorithm& algorithm) {
  const std::uint64_t scratch = algorithm.scratch(place, task);
  // Of an all-to-all everybody's shard for one rank may be one larger than its part of the vector.
  const std::uint64_t output = task.elements + (task.collective == Collective::kAllToAll ? place.ranks : 0);
  for (const Step& step : script.steps()) {
    ASSERT_LT(step.to, place.members());
    ASSERT_LE(step.count, task.elements);
    const std::uint64_t room = step.destination == Buffer::kScratch ? scratch : output;
    ASSERT_LE(step.destination_first, room - step.count) << algorithm.name;
    for (const Operand& operand : step.operands) {
      if (operand.times == 0) continue;
      const std::uint64_t source = operand.buffer == Buffer::kScratch ? scratch : task.elements;
      ASSERT_LE(operand.first + (operand.times - 1) * operand.stride, source - step.count) << algorithm.name;
    }
  }
}

TEST(CollectiveLimits, HugeVectorsOverManyRanksStayInside) {
  for (const std::uint32_t n : {3U, 64U, 70001U}) {
    const Place place = test::ring_place(n, 1);
    for (const Algorithm* algorithm : algorithms()) {
      for (const Form& form : algorithm->forms) {
        const Task task = task_of(form.collective, kHuge, 1);
        if (!refusal(*algorithm, place, task).empty()) continue;
        expect_inside(script_of(*algorithm, place, task, n - 1), place, task, *algorithm);
      }
    }
  }
}

TEST(CollectiveLimits, HalvingAndDoublingOfManyRanksStaysInside) {
  const Place place = test::ring_place(1U << 17U, 1);
  for (const Form& form : kRecursive.forms) {
    const Task task = task_of(form.collective, kHuge);
    expect_inside(script_of(kRecursive, place, task, 54321), place, task, kRecursive);
  }
}

TEST(CollectiveLimits, TheChunksOfARingMakeUpTheVector) {
  const Place place = test::ring_place(70001, 1);
  const Script script = script_of(kRing, place, task_of(Collective::kAllGather, kHuge), 12345);
  std::uint64_t sent = 0;
  for (const Step& step : script.steps()) {
    if (step.to != 12345) sent += step.count;
  }
  const std::uint64_t shard = kHuge / 70001;
  EXPECT_GE(sent, 70000 * shard);
  EXPECT_LE(sent, 70000 * (shard + 1));
}

}  // namespace
}  // namespace trnsim
