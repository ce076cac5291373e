// Laws that hold for whole machines, tried on small decode steps of gpt-oss-120b.
#include "tests/property/rows.h"

namespace trnsim {
namespace {

TEST(Fold, FoldedIsFlatToTheByteOnTrn2_48xlarge) {
  folded_is_flat("trn2-48xlarge", "16");
}

TEST(Flat, EveryCoreOfTheMachineIsSimulated) {
  const PointRow row = row_of("trn2-48xlarge", {{"batch_per_replica", "1"}, {"run.fold", "none"}});
  const auto value = [&](const std::string& column) {
    for (std::size_t c = 0; c < row.run.columns.size(); ++c) {
      if (row.run.columns[c] == column) return row.run.rows[0][c];
    }
    return std::string();
  };
  EXPECT_EQ(value("cores_simulated"), "128");
  EXPECT_EQ(value("systemc_processes"), std::to_string(128 + 16 * 4 + 1));  // cores, stacks, fabric
  std::uint64_t instructions = 0;
  for (std::size_t e = 0; e + 1 < row.engines.rows.size(); ++e) instructions += std::stoull(row.engines.rows[e].back());
  EXPECT_EQ(value("instructions_simulated"), std::to_string(instructions));
}

TEST(SlowPart, HalvingOneCoresClockSlowsItsReplica) {
  const double even = metric(row_of("trn2-48xlarge", {{"batch_per_replica", "4"}}), "latency_us");
  const double slow =
      metric(row_of("trn2-48xlarge", {{"batch_per_replica", "4"}, {"core[9].clock_scale", "0.5"}}), "latency_us");
  EXPECT_GT(slow, even);
}

TEST(SlowPart, SlowingOneLinkSlowsItsReplica) {
  const double even = metric(row_of("trn2-48xlarge", {{"batch_per_replica", "64"}}), "latency_us");
  const double slow =
      metric(row_of("trn2-48xlarge", {{"batch_per_replica", "64"}, {"link[0].bandwidth_scale", "0.01"}}), "latency_us");
  EXPECT_GT(slow, even);
}

/// More of one resource may slow a run by at most 1 % where resources interact.
TEST(Physics, DoublingAResourceNeverSlowsAStepByMoreThanOnePercent) {
  const Assignments base = {{"batch_per_replica", "4"}, {"context", "1024"}, {"core.tensor.limiter", "no"}};
  const double before = metric(row_of("trn2-48xlarge", base), "latency_us");
  for (const auto& [name, value] : Assignments{{"chip.hbm.stack_bandwidth", "1450GB/s"},
                                               {"dma.engine_bandwidth", "46GB/s"},
                                               {"core.tensor.clock", "4.8GHz"},
                                               {"core.vector.clock", "1.92GHz"},
                                               {"core.scalar.clock", "2.4GHz"},
                                               {"dma.hardware_generators", "4"},
                                               {"fabric.dimension[0].bandwidth", "256GB/s"}}) {
    Assignments faster = base;
    faster.emplace_back(name, value);
    const double after = metric(row_of("trn2-48xlarge", faster), "latency_us");
    EXPECT_LE(after, before * 1.01) << name;
    if (after > before) RecordProperty(name, std::to_string(after / before));
  }
}

TEST(Physics, WithTheArrayAloneInUseDoublingItsClockHalvesAnFp8MatmulsArrayTime) {
  const Assignments fp8 = {
      {"m", "2048"}, {"n", "2048"}, {"k", "2048"}, {"dtype", "fp8"}, {"core.tensor.limiter", "no"}};
  Assignments bf16 = fp8;
  bf16[3].second = "bf16";
  const auto tensor_us = [](const Assignments& s) {
    const PointRow row = row_of("trn2-48xlarge", s, "matmul");
    return std::stod(row.engines.rows[0][1]);
  };
  EXPECT_NEAR(tensor_us(bf16) / tensor_us(fp8), 2.0, 0.001);  // FP8 contracts twice the depth per pass
}

TEST(TinyInputs, OneTokenAndAnEmptyBatchWork) {
  EXPECT_GT(metric(row_of("trn2-48xlarge", {{"batch_per_replica", "1"}, {"context", "1"}}), "latency_us"), 0);
  const PointRow empty = row_of("trn2-48xlarge", {{"batch_per_replica", "0"}});
  EXPECT_EQ(empty.metrics.at("weight_bytes"), "0");
}

TEST(Repeat, TheSamePointGivesTheSameBytes) {
  const Assignments settings = {{"batch_per_replica", "4"}, {"context", "1024"}};
  EXPECT_EQ(comparable(row_of("trn2-48xlarge", settings)), comparable(row_of("trn2-48xlarge", settings)));
}

TEST(Detail, TileAgreesWithInstructionWithinOnePercent) {
  const Assignments tile = {{"batch_per_replica", "1"}, {"context", "1024"}};
  Assignments instruction = tile;
  instruction.emplace_back("run.detail", "instruction");
  const double a = metric(row_of("trn2-48xlarge", tile), "latency_us");
  const double b = metric(row_of("trn2-48xlarge", instruction), "latency_us");
  EXPECT_NEAR(a / b, 1.0, 0.01);
}

}  // namespace
}  // namespace trnsim
