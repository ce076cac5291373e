// Engines that share a memory port take turns at it; who found it taken first is next.
#include <gtest/gtest.h>

#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

constexpr std::int64_t kNs = 1000;
constexpr std::size_t kPort = static_cast<std::size_t>(WaitReason::kPort);

struct Ports {
  SharedPort sbuf = SharedPort::kNone;
  PsumPort psum = PsumPort::kNone;
};

Instruction from(Space source, std::uint64_t free) {
  Instruction i = vector_copy(free);
  i.source = source;
  return i;
}

struct Banks {
  std::uint16_t vector = 0, other = 0;
};

Instruction in_bank(Instruction i, std::uint16_t bank) {
  i.psum_bank = bank;
  return i;
}

/// Four instructions of 1000 cycles at 1 GHz on vector, whose pace is `free`, beside four of 1000 on `other`.
RunRecord side_by_side(Ports ports, Space source, std::uint64_t free, Engine other, Banks banks = {}) {
  MachineSpec machine = small_machine();
  machine.core.sbuf_port = ports.sbuf;
  machine.core.psum_port = ports.psum;
  machine.core.gpsimd.start = 0;
  const auto program = program_of([&](ProgramBuilder&, SegmentBuilder& s) {
    for (int i = 0; i < 4; ++i) {
      s.emit(Engine::kVector, in_bank(from(source, free), banks.vector));
      s.emit(other, in_bank(from(source, 1000), banks.other));
    }
  });
  return simulate(machine, job_on(machine, program, {0}), {.detail = Detail::kInstruction});
}

Time stalled(const RunRecord& record, Engine engine) {
  return record.engines[static_cast<std::size_t>(engine)].sum.stall[kPort];
}

// v s v s v s v s: vector waits for the first three of scalar, scalar for all four of vector.
TEST(SharedPorts, VectorAndScalarTakeTurnsAtPsumWhereTheyShareItsPort) {
  const RunRecord record = side_by_side({.psum = PsumPort::kAll}, Space::kPsum, 1000, Engine::kScalar);
  EXPECT_EQ(stalled(record, Engine::kVector), Time(3'000 * kNs));
  EXPECT_EQ(stalled(record, Engine::kScalar), Time(4'000 * kNs));
}

TEST(SharedPorts, AnInstructionOfNoElementsNeedsNoPortAndHoldsUpNobody) {
  MachineSpec machine = small_machine();
  machine.core.psum_port = PsumPort::kAll;
  const auto program = program_of([&](ProgramBuilder&, SegmentBuilder& s) {
    for (int i = 0; i < 4; ++i) {
      s.emit(Engine::kVector, from(Space::kPsum, 0));
      s.emit(Engine::kScalar, from(Space::kPsum, 1000));
    }
  });
  const RunRecord record = simulate(machine, job_on(machine, program, {0}), {.detail = Detail::kInstruction});
  EXPECT_EQ(stalled(record, Engine::kVector) + stalled(record, Engine::kScalar), Time());
}

TEST(SharedPorts, VectorAndScalarTakeTurnsAtOnePsumBankWhereEachBankHasAPort) {
  const RunRecord record = side_by_side({.psum = PsumPort::kSameBank}, Space::kPsum, 1000, Engine::kScalar, {3, 3});
  EXPECT_EQ(stalled(record, Engine::kVector), Time(3'000 * kNs));
  EXPECT_EQ(stalled(record, Engine::kScalar), Time(4'000 * kNs));
}

TEST(SharedPorts, VectorAndScalarUseTwoPsumBanksTogetherWhereEachBankHasAPort) {
  const RunRecord record = side_by_side({.psum = PsumPort::kSameBank}, Space::kPsum, 1000, Engine::kScalar, {1, 8});
  EXPECT_EQ(stalled(record, Engine::kVector) + stalled(record, Engine::kScalar), Time());
}

TEST(SharedPorts, AnInstructionThatNamesNoPsumBankHasOneOfItsOwn) {
  const RunRecord record = side_by_side({.psum = PsumPort::kSameBank}, Space::kPsum, 1000, Engine::kScalar);
  EXPECT_EQ(stalled(record, Engine::kVector) + stalled(record, Engine::kScalar), Time());
}

TEST(SharedPorts, NoBankHelpsWhereAllOfPsumHasOnePort) {
  const RunRecord record = side_by_side({.psum = PsumPort::kAll}, Space::kPsum, 1000, Engine::kScalar, {3, 4});
  EXPECT_EQ(stalled(record, Engine::kScalar), Time(4'000 * kNs));
}

TEST(SharedPorts, VectorAndScalarUsePsumTogetherWhereEachHasAPort) {
  const RunRecord record = side_by_side({}, Space::kPsum, 1000, Engine::kScalar);
  EXPECT_EQ(stalled(record, Engine::kVector) + stalled(record, Engine::kScalar), Time());
}

TEST(SharedPorts, GpSimdWaitsForEveryInstructionOfVectorOnAPortForAll) {
  const RunRecord record = side_by_side({.sbuf = SharedPort::kAll}, Space::kSbuf, 2000, Engine::kGpSimd);
  EXPECT_EQ(stalled(record, Engine::kGpSimd), Time(4'000 * kNs));
}

// FP32 copies from SBUF run at two elements per cycle, a fast mode.
TEST(SharedPorts, GpSimdWaitsForTheFastModesOfVector) {
  const RunRecord record = side_by_side({.sbuf = SharedPort::kFastModes}, Space::kSbuf, 2000, Engine::kGpSimd);
  EXPECT_EQ(stalled(record, Engine::kGpSimd), Time(4'000 * kNs));
}

TEST(SharedPorts, GpSimdDoesNotWaitForVectorWithoutAFastMode) {
  const RunRecord record = side_by_side({.sbuf = SharedPort::kFastModes}, Space::kPsum, 1000, Engine::kGpSimd);
  EXPECT_EQ(stalled(record, Engine::kGpSimd), Time());
}

}  // namespace
}  // namespace trnsim
