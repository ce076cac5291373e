// Waiting is counted once, and only where something was waited for.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

constexpr std::int64_t kNs = 1000;

const TimeAccount& account(const RunRecord& record, Engine engine) {
  return record.engines[static_cast<std::size_t>(engine)].sum;
}

Time stalls(const TimeAccount& account) {
  return std::accumulate(account.stall.begin(), account.stall.end(), Time(), [](Time a, Time b) { return a + b; });
}

RunRecord run(const std::shared_ptr<const Program>& program) {
  const MachineSpec machine = small_machine();
  return simulate(machine, job_on(machine, program, {0}), {});
}

/// The vector engine copies once the tensor engine has moved `columns` columns.
RunRecord copy_after_matmul(std::uint64_t columns) {
  return run(program_of([columns](ProgramBuilder&, SegmentBuilder& s) {
    const Handle first = s.emit(Engine::kTensor, bf16_matmul(columns));
    s.emit(Engine::kVector, vector_copy(2000), {first});
  }));
}

constexpr std::int64_t kRest = (9'000 + 1000 + 80) * kNs;  // entry and exit, the copy

TEST(StallCases, WorkThatWaitsForNothingHasNoStall) {
  const RunRecord record = run(program_of([](ProgramBuilder&, SegmentBuilder& s) {
    s.emit(Engine::kTensor, bf16_matmul(512, 100));
    s.emit(Engine::kVector, vector_copy(2000, 10));
  }));
  for (const EngineRecord& engine : record.engines) EXPECT_EQ(stalls(engine.sum), Time());
}

TEST(StallCases, AStallDelaysByItselfOnce) {
  const RunRecord record = copy_after_matmul(200);  // 100 ns of columns, 150 ns fill, 30 ns semaphore
  EXPECT_EQ(stalls(account(record, Engine::kVector)), Time(280 * kNs));
  EXPECT_EQ(record.elapsed, Time(kRest + 280 * kNs));
}

TEST(StallCases, TenNanosecondsMoreToWaitForAreTenMoreAndNotTwenty) {
  const RunRecord record = copy_after_matmul(220);  // 20 columns more at 2 GHz
  EXPECT_EQ(stalls(account(record, Engine::kVector)), Time(290 * kNs));
  EXPECT_EQ(record.elapsed, Time(kRest + 290 * kNs));
}

}  // namespace
}  // namespace trnsim
