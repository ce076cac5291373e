#include "models/system/folding_in_time.h"

#include <gtest/gtest.h>

#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

/// A job whose one core calls segment calls[i] - 'a' with one register, its value registers[i] (0 beyond).
Job calling(const std::string& calls, const std::vector<std::uint32_t>& registers = {}) {
  ProgramBuilder builder("hand-made");
  for (char name = 'a'; name <= 'd'; ++name) {
    builder.segment(std::string(1, name), [](SegmentBuilder& s) {
      s.reserve_registers(1);
      s.emit(Engine::kVector, vector_copy(100));
    });
  }
  for (const char call : calls) builder.call(static_cast<std::uint32_t>(call - 'a'));
  Job job;
  job.cores.resize(2);
  job.cores[0].program = builder.finish();
  job.cores[0].registers = registers;
  job.cores[0].registers.resize(calls.size());
  return job;
}

std::string found(const Job& job, const std::vector<CoreId>& cores = {CoreId(0)}) {
  const std::optional<RepeatedCalls> calls = repeated_calls(job, cores);
  if (!calls.has_value()) return "none";
  return std::to_string(calls->blocks) + " x " + std::to_string(calls->period) + " from " +
         std::to_string(calls->first);
}

TEST(RepeatedCalls, AreTheLongestRunOfTheShortestPeriod) {
  EXPECT_EQ(found(calling("abbbbbbbbc")), "8 x 1 from 1");
  EXPECT_EQ(found(calling("abbbbbbbc")), "none");  // seven
  EXPECT_EQ(found(calling("dabababababababababc")), "9 x 2 from 1");
  EXPECT_EQ(found(calling("dababababababababac")), "8 x 2 from 1");  // half a block behind is no part of it
  EXPECT_EQ(found(calling("cabcabcabcabcabcabcabcabd")), "8 x 3 from 0");
  EXPECT_EQ(found(calling("aaaaaaaabccccccccccd")), "10 x 1 from 9");
  EXPECT_EQ(found(calling("")), "none");
}

TEST(RepeatedCalls, HaveEqualRegisters) {
  EXPECT_EQ(found(calling("abbbbbbbbbbc", {0, 7})), "9 x 1 from 2");
  EXPECT_EQ(found(calling("bbbbbbbbbb", {1, 2, 1, 2, 1, 2, 1, 2, 1, 2})), "none");  // five pairs
}

TEST(RepeatedCalls, AreThoseOfAllCores) {
  Job job = calling("abbbbbbbbbbc");
  const std::vector<CoreId> both = {CoreId(0), CoreId(1)};
  job.cores[1] = job.cores[0];
  EXPECT_EQ(found(job, both), "10 x 1 from 1");
  job.cores[1].registers[2] = 7;
  EXPECT_EQ(found(job, both), "8 x 1 from 3");
  job.cores[1] = calling("abbbbbbbbbbbc").cores[0];
  EXPECT_EQ(found(job, both), "none");
}

TEST(RepeatedCalls, AreNoLaunches) {
  ProgramBuilder builder("hand-made");
  builder.segment("a", [](SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(100)); });
  for (int i = 0; i < 10; ++i) builder.call(0, true);
  Job job;
  job.cores.resize(1);
  job.cores[0].program = builder.finish();
  EXPECT_EQ(found(job), "none");
}

}  // namespace
}  // namespace trnsim
