#include "models/neuroncore/timing.h"

#include <gtest/gtest.h>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// NC-v3 and NC-v4 differ here only in microscaling and the fused exponential.
CoreSpec core_v3() {
  CoreSpec core;
  core.tensor.clock = Hertz(2'400'000'000);
  core.tensor.rows = core.tensor.columns = 128;
  core.tensor.minimum_interval = 64;
  core.tensor.max_moving = 512;
  core.psum_per_partition = Bytes(16'384);
  core.psum_banks = 8;
  core.tensor.weight_load = 32;
  core.tensor.weight_load_fp32 = 128;
  core.tensor.fp32_passes = core.tensor.fp32_row_cycles = 2;
  core.tensor.fp32_transpose_passes = 1;
  core.tensor.fp8_rows = 256;
  core.tensor.sparse_inputs = core.tensor.row_tiles = core.tensor.column_tiles = 4;
  core.vector.clock = Hertz(960'000'000);
  core.vector.minimum_interval = 64;
  core.vector.copy_rate_16bit = 4;
  core.vector.copy_rate = 2;
  core.vector.psum_rate = 1;
  core.vector.binary_rate_16bit = 2;
  core.vector.binary_cycles = 1;
  core.vector.scan_cycles = 2;
  core.vector.reduce_rate = 1;
  core.vector.reciprocal_cycles = 6;
  core.scalar.clock = Hertz(1'200'000'000);
  core.scalar.minimum_interval = 64;
  core.scalar.rate_16bit = core.scalar.rate = 1;
  core.gpsimd.clock = Hertz(1'200'000'000);
  core.gpsimd.start = 150;
  core.gpsimd.rate = 1;
  return core;
}

Instruction matmul(Dtype dtype, std::uint32_t rows = 128, std::uint32_t columns = 128) {
  Instruction i;
  i.op = Op::kMatmul;
  i.dtype = dtype;
  i.rows = rows;
  i.columns = columns;
  i.destination = Space::kPsum;
  return i;
}

Instruction vector(Op op, Dtype dtype, Space source = Space::kSbuf) {
  Instruction i;
  i.op = op;
  i.dtype = dtype;
  i.source = source;
  i.rows = 128;
  return i;
}

std::uint64_t cycles(Engine engine, const Instruction& i, std::uint64_t free) {
  return cost_of(core_v3(), engine, i, free).cycles;
}

TEST(TensorTiming, A128x128x512Bf16MatmulIssuesEvery213NsOnNcV3) {
  EXPECT_EQ(cost_of(core_v3(), Engine::kTensor, matmul(Dtype::kBf16), 512).occupancy(1), Time(213'333));
}

TEST(TensorTiming, CyclesBetweenInstructionsCountOncePerPass) {
  CoreSpec core = core_v3();
  core.tensor.issue_cycles = 6;
  EXPECT_EQ(cost_of(core, Engine::kTensor, matmul(Dtype::kBf16), 512).cycles, 518U);
  EXPECT_EQ(cost_of(core, Engine::kTensor, matmul(Dtype::kFp32), 512).cycles, 2 * (1024U + 6));
}

TEST(TensorTiming, OnePassOfAnFp32MatmulIsHalfOfIt) {
  Instruction half = matmul(Dtype::kFp32);
  half.passes = 1;
  EXPECT_EQ(cycles(Engine::kTensor, half, 512), 1024U);
}

TEST(TensorTiming, WeightsHideUnlessLoadingThemTakesLongerThanTheMatmulBefore) {
  EXPECT_EQ(cycles(Engine::kTensor, matmul(Dtype::kFp32), 1), 2 * 128U);
  Instruction kept = matmul(Dtype::kFp32);
  kept.keeps_weights = true;
  EXPECT_EQ(cycles(Engine::kTensor, kept, 1), 2 * 64U);
}

TEST(TensorTiming, AMatmulTakesAtLeast64Cycles) {
  EXPECT_EQ(cycles(Engine::kTensor, matmul(Dtype::kBf16), 1), 64U);
  EXPECT_EQ(cycles(Engine::kTensor, matmul(Dtype::kBf16), 64), 64U);
  EXPECT_EQ(cycles(Engine::kTensor, matmul(Dtype::kBf16), 65), 65U);
}

TEST(TensorTiming, Fp32TakesFourPasses) {
  EXPECT_EQ(cycles(Engine::kTensor, matmul(Dtype::kFp32), 512), 2048U);
}

TEST(TensorTiming, Fp8ContractsTwiceTheDepthInTheSameTime) {
  EXPECT_EQ(cycles(Engine::kTensor, matmul(Dtype::kFp8, 256), 512), cycles(Engine::kTensor, matmul(Dtype::kBf16), 512));
}

Instruction sparse(Sparsity pattern, std::uint32_t rows) {
  Instruction i = matmul(Dtype::kBf16, rows);
  i.sparsity = pattern;
  return i;
}

// The published 316 TFLOPS of a core count the products with weights that are not stored.
TEST(TensorTiming, FourStoredOfSixteenWeightsMultiplyAtThePublishedSparsePeak) {
  const Time taken = cost_of(core_v3(), Engine::kTensor, sparse(Sparsity::k4Of16, 512), 512).occupancy(1);
  EXPECT_NEAR(2.0 * 512 * 128 * 512 / static_cast<double>(taken.count()), 316, 2);
}

TEST(TensorTiming, APassHoldsOnlyStoredWeights) {
  EXPECT_EQ(sparse(Sparsity::k4Of16, 512).stored_rows(), 128U);
  EXPECT_EQ(sparse(Sparsity::k4Of12, 384).stored_rows(), 128U);
  EXPECT_EQ(sparse(Sparsity::k1Of2, 256).stored_rows(), 128U);
  EXPECT_EQ(matmul(Dtype::kBf16).stored_rows(), 128U);
}

TEST(TensorTiming, APatternThatPicksFromMoreThanTheInputsTakesMoreCycles) {
  CoreSpec core = core_v3();
  core.tensor.sparse_inputs = 2;
  EXPECT_EQ(cost_of(core, Engine::kTensor, sparse(Sparsity::k2Of4, 256), 512).cycles, 512U);
  EXPECT_EQ(cost_of(core, Engine::kTensor, sparse(Sparsity::k4Of12, 384), 512).cycles, 1024U);
  core.tensor.sparse_inputs = 0;
  EXPECT_THROW(static_cast<void>(cost_of(core, Engine::kTensor, sparse(Sparsity::k2Of4, 256), 512)), InvariantError);
}

Instruction tiled(std::uint8_t row_tiles, std::uint8_t column_tiles) {
  Instruction i = matmul(Dtype::kBf16, 128 / row_tiles, 128 / column_tiles);
  i.row_tiles = row_tiles;
  i.column_tiles = column_tiles;
  return i;
}

TEST(TensorTiming, MatmulsInFourGroupsOfTheArrayIssueFourTimesAsOften) {
  EXPECT_EQ(cycles(Engine::kTensor, tiled(4, 1), 512), 128U);
  EXPECT_EQ(cycles(Engine::kTensor, tiled(1, 4), 512), 128U);
  EXPECT_EQ(cycles(Engine::kTensor, tiled(2, 1), 512), 256U);
}

TEST(TensorTiming, GroupsOfTheArrayDoNotBeatTheMinimumInterval) {
  EXPECT_EQ(cycles(Engine::kTensor, tiled(4, 4), 512), 64U);
  EXPECT_EQ(cycles(Engine::kTensor, tiled(4, 1), 64), 64U);
}

TEST(TensorTiming, AMatmulInAGroupTakesItsOwnRowsUntilItsResult) {
  CoreSpec core = core_v3();
  core.tensor.drain = 98;
  const Cost cost = cost_of(core, Engine::kTensor, tiled(4, 1), 512);
  EXPECT_EQ(cost.cycles + cost.drain, 512U + 98);
}

TEST(TensorTiming, ARunOfMatmulsIsRoundedOnce) {
  const Cost cost = cost_of(core_v3(), Engine::kTensor, matmul(Dtype::kBf16), 512);
  EXPECT_EQ(cost.occupancy(3), Time(640'000));
}

TEST(VectorTiming, FastModesDependOnTypeAndSpace) {
  EXPECT_EQ(cycles(Engine::kVector, vector(Op::kCopy, Dtype::kBf16), 1024), 256U);
  EXPECT_EQ(cycles(Engine::kVector, vector(Op::kCopy, Dtype::kFp32), 1024), 512U);
  EXPECT_EQ(cycles(Engine::kVector, vector(Op::kCopy, Dtype::kBf16, Space::kPsum), 1024), 1024U);
  EXPECT_EQ(cycles(Engine::kVector, vector(Op::kBinary, Dtype::kBf16), 1024), 512U);
  EXPECT_EQ(cycles(Engine::kVector, vector(Op::kBinary, Dtype::kFp32), 1024), 1024U);
  EXPECT_EQ(cycles(Engine::kVector, vector(Op::kReciprocal, Dtype::kFp32), 1024), 6144U);
}

TEST(VectorTiming, TheFusedExponentialIsFourPerCycleWhereItExistsAndRefusedWhereNot) {
  CoreSpec core = core_v3();
  const Instruction exponential = vector(Op::kExponential, Dtype::kFp32);
  EXPECT_THROW(static_cast<void>(cost_of(core, Engine::kVector, exponential, 512)), InvariantError);
  core.vector.exponential_rate = 4;
  EXPECT_EQ(cost_of(core, Engine::kVector, exponential, 512).cycles, 128U);
}

TEST(GpSimdTiming, EveryInstructionPaysItsStart) {
  EXPECT_EQ(cycles(Engine::kGpSimd, vector(Op::kGather, Dtype::kBf16), 100), 250U);
}

TEST(Timing, CostNeverFallsWithSize) {
  for (const auto& [engine, instruction] :
       {std::pair{Engine::kTensor, matmul(Dtype::kBf16)}, std::pair{Engine::kVector, vector(Op::kBinary, Dtype::kFp32)},
        std::pair{Engine::kScalar, vector(Op::kActivation, Dtype::kFp32)},
        std::pair{Engine::kGpSimd, vector(Op::kGather, Dtype::kBf16)}}) {
    std::uint64_t before = 0;
    const std::uint64_t most = engine == Engine::kTensor ? core_v3().moving_columns() : 2048;
    for (std::uint64_t free = 1; free <= most; ++free) {
      const std::uint64_t now = cycles(engine, instruction, free);
      EXPECT_GE(now, before);
      before = now;
    }
  }
}

TEST(Tensor, TheResultsOfAMatmulFitAPsumBank) {
  CoreSpec core = core_v3();
  EXPECT_EQ(core.moving_columns(), 512U);  // 2 KiB of FP32
  core.psum_banks = 16;
  EXPECT_EQ(core.moving_columns(), 256U);
  EXPECT_NO_THROW((void)cost_of(core, Engine::kTensor, matmul(Dtype::kBf16), 256));
  EXPECT_THROW((void)cost_of(core, Engine::kTensor, matmul(Dtype::kBf16), 257), InvariantError);
}

}  // namespace
}  // namespace trnsim
