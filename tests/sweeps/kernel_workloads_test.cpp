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

double interval_of(const std::string& platform, const Assignments& settings) {
  const PointRow row = evaluated(platform, "instruction", settings);
  EXPECT_EQ(row.status, Status::kOk) << row.error;
  return number_of(row, "initiation_interval_ns");
}

TEST(InstructionWorkload, SparseWeightsContractFourTimesTheDepthInTheSameTime) {
  for (const char* platform : {"trn2-3xlarge", "trn3-3xlarge"}) {
    const double dense = interval_of(platform, {});
    EXPECT_EQ(interval_of(platform, {{"sparsity", "4of16"}, {"partitions", "512"}}), dense) << platform;
    EXPECT_EQ(interval_of(platform, {{"sparsity", "1of2"}, {"partitions", "256"}}), dense) << platform;
  }
}

TEST(InstructionWorkload, FlopsOfASparseMatmulAreThoseThatTheArrayDoes) {
  const PointRow row =
      evaluated("trn2-3xlarge", "instruction", {{"sparsity", "4of16"}, {"partitions", "auto"}, {"count", "1"}});
  EXPECT_EQ(number_of(row, "useful_flop"), 2.0 * 128 * 128 * 512);
}

TEST(InstructionWorkload, SmallMatmulsRunSideBySideInGroupsOfTheArray) {
  const double whole = interval_of("trn2-3xlarge", {{"partitions", "32"}});
  EXPECT_NEAR(interval_of("trn2-3xlarge", {{"partitions", "32"}, {"row_tiles", "4"}}), whole / 4, 0.3);
  EXPECT_NEAR(interval_of("trn2-3xlarge", {{"columns", "32"}, {"column_tiles", "4"}}), whole / 4, 0.3);
  const double on_v2 = interval_of("trn1-2xlarge", {{"partitions", "64"}});
  EXPECT_NEAR(interval_of("trn1-2xlarge", {{"partitions", "64"}, {"row_tiles", "2"}}), on_v2 / 2, 0.3);
}

TEST(InstructionWorkload, FromNcV3VectorAndScalarMeetOnlyInOnePsumBank) {
  const auto copy = [](const char* platform, const char* beside, const char* banks) {
    Assignments settings = {{"op", "copy"}, {"source_space", "psum"}, {"destination_space", "sbuf"}};
    settings.insert(settings.end(), {{"dtype", "fp32"}, {"beside", beside}});
    if (banks[0] != 0) settings.emplace_back("psum_banks", banks);
    return interval_of(platform, settings);
  };
  EXPECT_NEAR(copy("trn2-3xlarge", "scalar", "apart"), copy("trn2-3xlarge", "none", ""), 0.001);
  EXPECT_GT(copy("trn2-3xlarge", "scalar", "same"), 1.5 * copy("trn2-3xlarge", "scalar", "apart"));
  EXPECT_EQ(copy("trn1-2xlarge", "scalar", "same"), copy("trn1-2xlarge", "scalar", "apart"));
  EXPECT_GT(copy("trn1-2xlarge", "scalar", "apart"), 1.5 * copy("trn1-2xlarge", "none", ""));
}

TEST(InstructionWorkload, WhatTheMachineHasNotDoesNotFit) {
  const Assignments refused[] = {
      {{"op", "quantize_mx"}},
      {{"op", "exponential"}, {"engine", "vector"}},
      {{"op", "matmul"}, {"engine", "vector"}},
      {{"partitions", "129"}},
      {{"columns", "129"}},
      {{"free", "513"}},
      {{"partitions", "512"}, {"sparsity", "1of2"}},
      {{"dtype", "fp8"}, {"sparsity", "1of2"}},
      {{"partitions", "33"}, {"row_tiles", "4"}},
      {{"columns", "33"}, {"column_tiles", "4"}},
      {{"partitions", "16"}, {"row_tiles", "8"}},
      {{"partitions", "32"}, {"row_tiles", "3"}},
      {{"columns", "32"}, {"column_tiles", "4"}, {"dtype", "fp8"}},
      {{"partitions", "32"}, {"sparsity", "1of2"}, {"row_tiles", "4"}},
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

/// Time at the DMA engines of a copy of 4 MiB that shares them with another.
double beside(const std::string& platform, Assignments settings) {
  settings.insert(settings.end(), {{"bytes", "4MiB"}, {"transfers", "1"}, {"interval", "engine_busy"}});
  const PointRow row = evaluated(platform, "dma_copy", settings);
  EXPECT_EQ(row.status, Status::kOk) << row.error;
  return number_of(row, "duration_ns");
}

/// By what factor a copy that lasts longer slows it.
double slowed(const std::string& platform, Assignments settings) {
  settings.insert(settings.end(), {{"beside_bytes", "1GiB"}});
  return beside(platform, settings) / beside(platform, {});
}

TEST(DmaCopyWorkload, QueuesTakeTurnsPacketByPacket) {
  EXPECT_NEAR(slowed("trn2-3xlarge", {{"beside", "copy"}}), 2, 0.01);
  // 64 KiB of the collective to 4 KiB of the copy.
  EXPECT_NEAR(slowed("trn2-3xlarge", {{"beside", "collective"}}), 17, 0.1);
  EXPECT_NEAR(slowed("trn2-3xlarge", {{"beside", "collective"}, {"dma.collective_packet", "4KiB"}}), 2, 0.01);
}

TEST(DmaCopyWorkload, TheRooflineHoldsBothCopies) {
  const auto roofline = [](const char* what) {
    return number_of(evaluated("trn2-3xlarge", "dma_copy", {{"bytes", "4MiB"}, {"beside", what}}), "roofline_us");
  };
  EXPECT_NEAR(roofline("copy"), 2 * roofline("none"), 1e-5);
  EXPECT_EQ(roofline("collective"), roofline("copy"));
}

TEST(DmaCopyWorkload, OnNcV4AHigherClassOfServiceGetsMore) {
  const auto in_class = [](const char* own, const char* other, const char* ratio) {
    return slowed("trn3-3xlarge", {{"beside", "copy"}, {"qos", own}, {"beside_qos", other}, {"dma.qos_ratio", ratio}});
  };
  EXPECT_NEAR(in_class("1", "1", "4"), 2, 0.01) << "queues of a class take turns";
  EXPECT_NEAR(in_class("0", "1", "4"), 1 + 1.0 / 4, 0.01);
  EXPECT_NEAR(in_class("1", "0", "4"), 1 + 4, 0.05);
  EXPECT_NEAR(in_class("0", "2", "4"), 1 + 1.0 / 16, 0.01);
  EXPECT_NEAR(in_class("0", "3", "1"), 2, 0.01);
  EXPECT_NEAR(in_class("0", "3", "1000"), 1, 0.01);
}

TEST(DmaCopyWorkload, WhatALowClassIsLeftItGetsOnceTheOthersAreDone) {
  const Assignments last = {{"beside", "copy"}, {"qos", "3"}, {"dma.qos_ratio", "1000"}};
  EXPECT_NEAR(beside("trn3-3xlarge", last) / beside("trn3-3xlarge", {}), 2, 0.01);
}

TEST(DmaCopyWorkload, AClassThatTheMachineHasNotDoesNotFit) {
  const Assignments settings = {{"beside", "copy"}, {"qos", "1"}};
  EXPECT_EQ(evaluated("trn2-3xlarge", "dma_copy", settings).status, Status::kInfeasible);
  EXPECT_EQ(evaluated("trn3-3xlarge", "dma_copy", settings).status, Status::kOk);
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
