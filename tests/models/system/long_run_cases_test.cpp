// Runs so long and so large that a count in 32 bits, or a time in a double, would show.
#include <gtest/gtest.h>

#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

constexpr std::int64_t kNs = 1000;
constexpr std::int64_t kEntryAndExit = 9'000 * kNs;
constexpr std::int64_t kBeyondDouble = std::int64_t{1} << 53;          // ps, 2.5 hours
constexpr std::int64_t kBeyond32Bits = (std::int64_t{1} << 32) * kNs;  // 2^32 ns

RunRecord run(const std::shared_ptr<const Program>& program) {
  const MachineSpec machine = small_machine();
  return simulate(machine, job_on(machine, program, {0}), {});
}

TEST(LongRunCases, TimePasses2To53PicosecondsInOneTransferToThePicosecond) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 51;
  const RunRecord record = run(program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(kBytes), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {loaded});
  }));
  constexpr std::int64_t kData = (kBytes / 16) * 100;  // each of 16 engines takes 100 ps per byte
  static_assert(kData > kBeyondDouble && kData > kBeyond32Bits);
  EXPECT_EQ(record.elapsed, Time(kEntryAndExit + (600 + 700) * kNs + kData + (300 + 300 + 1000 + 80) * kNs));
  EXPECT_EQ(record.activity.dma_bytes[static_cast<std::size_t>(Traffic::kWeights)], kBytes);
  EXPECT_EQ(record.activity.hbm_read_bytes, kBytes);
}

TEST(LongRunCases, TimePasses2To53PicosecondsInTenBillionInstructions) {
  constexpr std::uint64_t kTimes = 10'000'000'000;
  const RunRecord record =
      run(program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(2000, kTimes)); }));
  constexpr std::int64_t kWork = std::int64_t{kTimes} * 1000 * kNs;
  static_assert(kWork > kBeyondDouble);
  EXPECT_EQ(record.elapsed, Time(kEntryAndExit + kWork + 80 * kNs));
  EXPECT_EQ(record.activity.vector_elements, kTimes * 128 * 2000);
  EXPECT_EQ(record.engines[static_cast<std::size_t>(Engine::kVector)].instructions, kTimes);
}

TEST(LongRunCases, ATransferOfMoreThan32BitsOfBytesIsCountedWhole) {
  constexpr std::uint64_t kBytes = 5'000'000'007;
  const RunRecord record = run(program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(kBytes), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {loaded});
  }));
  EXPECT_EQ(record.activity.dma_bytes[static_cast<std::size_t>(Traffic::kWeights)], kBytes);
}

}  // namespace
}  // namespace trnsim
