// The workloads that run one instruction or one copy: what they time, and what they refuse.
#include <gtest/gtest.h>

#include "models/mechanism/error.h"
#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

struct Timing {
  Assignments settings;
  double interval_ns;
  double duration_ns;
};

// By hand, at trn2-48xlarge's clocks: 2.4 GHz tensor, six cycles between instructions; results 98 cycles and 122 ns on.
TEST(InstructionWorkload, TimesOneInstructionOrManyBackToBack) {
  constexpr double kFill = 98 / 2.4 + 122;
  const Timing timings[] = {
      {{{"count", "1"}}, 518 / 2.4, 518 / 2.4 + kFill},
      {{{"count", "16"}}, 518 / 2.4, 16 * 518 / 2.4 + kFill},
      {{{"count", "1"}, {"free", "1"}}, 70 / 2.4, 70 / 2.4 + kFill},
      {{{"count", "1"}, {"dtype", "fp32"}}, 2 * 1030 / 2.4, 2 * 1030 / 2.4 + kFill},
      {{{"count", "1"}, {"dtype", "fp32"}, {"passes", "1"}}, 1030 / 2.4, 1030 / 2.4 + kFill},
  };
  for (const Timing& t : timings) {
    const PointRow row = evaluated("trn2-48xlarge", "instruction", t.settings);
    ASSERT_EQ(row.status, Status::kOk) << row.error;
    EXPECT_NEAR(number_of(row, "initiation_interval_ns"), t.interval_ns, 0.01);
    EXPECT_NEAR(number_of(row, "duration_ns"), t.duration_ns, 0.01);
  }
}

// 1.2 GHz scalar; 50 ns to issue, 110 ns to the result; a function reads its operands for 93 ns, SBUF costs 42 ns.
TEST(InstructionWorkload, AFunctionCostsItsOperandsAndItsTableWhereThatIsNotLoaded) {
  const Assignments exp = {{"op", "activation"}, {"function", "exp"}, {"destination_space", "sbuf"}, {"count", "1"}};
  const auto duration = [&](Assignments more) {
    more.insert(more.end(), exp.begin(), exp.end());
    return number_of(evaluated("trn2-3xlarge", "instruction", more), "duration_ns");
  };
  constexpr double kExp = 512 / 1.2 + 50 + 93 + 110;
  EXPECT_NEAR(duration({{"source_space", "psum"}}), kExp, 0.01);
  EXPECT_NEAR(duration({{"source_space", "sbuf"}}), kExp + 42, 0.01);
  EXPECT_NEAR(duration({{"source_space", "psum"}, {"table_load", "yes"}}), kExp + 1283, 0.01);
}

TEST(InstructionWorkload, ADependentInstructionStartsWhenTheResultOfTheOneBeforeIsSeen) {
  const PointRow row = evaluated("trn2-3xlarge", "instruction",
                                 {{"op", "copy"},
                                  {"engine", "vector"},
                                  {"destination_space", "sbuf"},
                                  {"dtype", "fp32"},
                                  {"dependent", "yes"},
                                  {"count", "4"}});
  // 512 elements at two per cycle of 0.96 GHz, 69 ns to issue, 86 ns to the result, 30 ns to the next.
  EXPECT_NEAR(number_of(row, "initiation_interval_ns"), 256 / 0.96 + 69 + 86 + 30, 0.01);
}

TEST(InstructionWorkload, AColdTensorEngineRunsAtTheLimitersRate) {
  const PointRow row = evaluated("trn2-48xlarge", "instruction", {{"warmup", "0"}, {"count", "4"}});
  EXPECT_NEAR(number_of(row, "initiation_interval_ns"), 2 * 518 / 2.4, 0.01);
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
  const PointRow row =
      evaluated("trn2-48xlarge", "dma_copy", {{"bytes", "64KiB"}, {"transfers", "1"}, {"descriptor_bytes", "4KiB"}});
  // One packet of 4 KiB on each of 16 engines: 8 ns and 27.2 GB/s on the wire.
  EXPECT_NEAR(number_of(row, "duration_ns"), 600 + 751 + 8 + 4096 / 27.2 + 293 + 314.5, 0.1);
  EXPECT_EQ(number_of(row, "hbm_utilization") > 0, true);
  EXPECT_EQ(row.metrics.count("peak_pflops"), 0U);
}

TEST(DmaCopyWorkload, AnIntervalNamesThePartOfATransferThatIsTimed) {
  const auto duration = [](const char* interval, Assignments more = {}) {
    more.insert(more.end(),
                {{"bytes", "32KiB"}, {"transfers", "1"}, {"descriptor_bytes", "8KiB"}, {"partitions", "4"}});
    more.emplace_back("interval", interval);
    return number_of(evaluated("trn2-3xlarge", "dma_copy", more), "duration_ns");
  };
  EXPECT_NEAR(duration("issue"), 600, 0.01);
  EXPECT_NEAR(duration("trigger_to_packet"), 600 + 751, 0.01);
  // Four partitions lie on one engine: eight packets of 4 KiB, each 2.7 ns and 23 GB/s apart, and the semaphore write.
  EXPECT_NEAR(duration("engine_busy"), 7 * (2.7 + 4096 / 23.0) + 8 + 4096 / 27.2 + 8, 0.1);
  EXPECT_NEAR(duration("engine_busy", {{"dma.compute_fraction", "0.25"}, {"result_dtype", "fp32"}}),
              7 * (2.7 + 4 * 4096 / 23.0) + 8 + 4096 / 27.2 + 8 + 3 * 4096 / 23.0, 0.1);
}

TEST(DmaCopyWorkload, PartsOfACopyAreTimedInCopiesAlone) {
  EXPECT_THROW(evaluated("trn2-3xlarge", "matmul", {{"interval", "packet"}}), InputError);
  EXPECT_THROW(evaluated("trn2-3xlarge", "instruction", {{"interval", "clock_ramp"}}), InputError);
}

TEST(DmaCopyWorkload, SmallDescriptorsAreSlowerByAFactorThatTheCopyReports) {
  const PointRow row = evaluated("trn2-3xlarge", "dma_copy",
                                 {{"bytes", "1MiB"}, {"descriptor_bytes", "512B"}, {"relative_to", "32KiB"}});
  EXPECT_GT(number_of(row, "relative_throughput"), 0.1);
  EXPECT_LT(number_of(row, "relative_throughput"), 0.5);
}

TEST(DmaCopyWorkload, SoftwareGenerationCostsPerDescriptorAndHardwareDoesNot) {
  const auto duration = [](const char* generation, const char* descriptor) {
    return number_of(evaluated("trn2-48xlarge", "dma_copy",
                               {{"bytes", "64KiB"},
                                {"transfers", "1"},
                                {"generation", generation},
                                {"descriptor_bytes", descriptor},
                                {"dma.descriptor", "0ns"},
                                {"dma.packet_overhead", "0ns"},
                                {"dma.wire_bandwidth", "23GB/s"}}),
                     "duration_ns");
  };
  EXPECT_NEAR(duration("software", "512B") - duration("software", "4KiB"), (128 - 16) * 5.6, 0.1);
  EXPECT_NEAR(duration("hardware", "512B"), duration("hardware", "4KiB"), 0.1);
  EXPECT_LT(duration("prebuilt", "4KiB"), duration("hardware", "4KiB"));
}

TEST(DmaCopyWorkload, NothingToCopyTakesNoTimeAndTooLargeADescriptorDoesNotFit) {
  EXPECT_EQ(number_of(evaluated("trn2-48xlarge", "dma_copy", {{"bytes", "0B"}}), "duration_ns"), 0);
  for (const Assignments& settings : {Assignments{{"descriptor_bytes", "65KiB"}}, Assignments{{"queues", "17"}},
                                      Assignments{{"bytes", "20GB"}, {"transfers", "1"}, {"descriptor_bytes", "1B"}}}) {
    EXPECT_EQ(evaluated("trn2-48xlarge", "dma_copy", settings).status, Status::kInfeasible) << settings[0].first;
  }
}

}  // namespace
}  // namespace trnsim
