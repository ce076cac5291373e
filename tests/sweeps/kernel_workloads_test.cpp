// The workloads that run one instruction or one copy: what they time, and what they refuse.
#include <gtest/gtest.h>

#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

struct Timing {
  Assignments settings;
  double interval_ns;
  double duration_ns;
};

// By hand, at trn2-48xlarge's clocks: 2.4 GHz tensor, 0.96 GHz vector; 163 ns array fill.
TEST(InstructionWorkload, TimesOneInstructionOrManyBackToBack) {
  const Timing timings[] = {
      {{{"count", "1"}}, 512 / 2.4, 512 / 2.4 + 163},
      {{{"count", "16"}}, 512 / 2.4, 16 * 512 / 2.4 + 163},
      {{{"count", "1"}, {"free", "1"}}, 64 / 2.4, 64 / 2.4 + 163},
      {{{"count", "1"}, {"dtype", "fp32"}}, 4 * 512 / 2.4, 4 * 512 / 2.4 + 163},
  };
  for (const Timing& t : timings) {
    const PointRow row = evaluated("trn2-48xlarge", "instruction", t.settings);
    ASSERT_EQ(row.status, Status::kOk) << row.error;
    EXPECT_NEAR(number_of(row, "initiation_interval_ns"), t.interval_ns, 0.01);
    EXPECT_NEAR(number_of(row, "duration_ns"), t.duration_ns, 0.01);
  }
}

TEST(InstructionWorkload, AColdTensorEngineRunsAtTheLimitersRate) {
  const PointRow row = evaluated("trn2-48xlarge", "instruction", {{"warmup", "0"}, {"count", "4"}});
  EXPECT_NEAR(number_of(row, "initiation_interval_ns"), 2 * 512 / 2.4, 0.01);
}

TEST(InstructionWorkload, WhatTheMachineHasNotDoesNotFit) {
  const Assignments refused[] = {
      {{"op", "quantize_mx"}},
      {{"op", "exponential"}, {"engine", "vector"}},
      {{"op", "matmul"}, {"engine", "vector"}},
      {{"partitions", "129"}},
      {{"columns", "129"}},
      {{"free", "513"}},
  };
  for (const Assignments& settings : refused) {
    EXPECT_EQ(evaluated("trn2-48xlarge", "instruction", settings).status, Status::kInfeasible)
        << settings.back().first << "=" << settings.back().second;
  }
}

TEST(DmaCopyWorkload, AnIsolatedTransferTakesIssueDispatchDataAndNotify) {
  const PointRow row = evaluated("trn2-48xlarge", "dma_copy",
                                 {{"bytes", "368000B"}, {"transfers", "1"}, {"descriptor_bytes", "23000B"}});
  // 368,000 bytes in 16 descriptors over 16 engines of 23 GB/s = 1,000 ns, and 2.7 ns for each engine's descriptor.
  EXPECT_NEAR(number_of(row, "duration_ns"), 600 + 751 + 1000 + 2.7 + 293 + 314.5, 0.1);
  EXPECT_EQ(number_of(row, "hbm_utilization") > 0, true);
  EXPECT_EQ(row.metrics.count("peak_pflops"), 0U);
}

TEST(DmaCopyWorkload, SoftwareGenerationCostsPerDescriptorAndHardwareDoesNot) {
  const auto duration = [](const char* generation, const char* descriptor) {
    return number_of(evaluated("trn2-48xlarge", "dma_copy",
                               {{"bytes", "64KiB"},
                                {"transfers", "1"},
                                {"generation", generation},
                                {"descriptor_bytes", descriptor},
                                {"dma.descriptor", "0ns"}}),
                     "duration_ns");
  };
  EXPECT_NEAR(duration("software", "512B") - duration("software", "4KiB"), (128 - 16) * 13, 0.1);
  EXPECT_NEAR(duration("hardware", "512B"), duration("hardware", "4KiB"), 0.1);
  EXPECT_LT(duration("prebuilt", "4KiB"), duration("hardware", "4KiB"));
}

TEST(DmaCopyWorkload, NothingToCopyTakesNoTimeAndTooLargeADescriptorDoesNotFit) {
  EXPECT_EQ(number_of(evaluated("trn2-48xlarge", "dma_copy", {{"bytes", "0B"}}), "duration_ns"), 0);
  EXPECT_EQ(evaluated("trn2-48xlarge", "dma_copy", {{"descriptor_bytes", "65KiB"}}).status, Status::kInfeasible);
}

}  // namespace
}  // namespace trnsim
