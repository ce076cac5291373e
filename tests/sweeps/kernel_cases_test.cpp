// Kernel workloads at their edges: shapes that end a program early, settings that mean nothing, and numbers that must
// not depend on what does not matter.
#include <gtest/gtest.h>

#include "models/mechanism/error.h"
#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

struct Case {
  const char* platform;
  const char* workload;
  Assignments settings;
};

std::string text_of(const Case& c) {
  std::string text = std::string(c.platform) + " " + c.workload;
  for (const auto& [name, value] : c.settings) text += " " + name + "=" + value;
  return text;
}

/// What the refusal of `c` says; "" if it is not refused.
std::string refusal(const Case& c) {
  try {
    const PointRow row = evaluated(c.platform, c.workload, c.settings);
    return row.status == Status::kInfeasible ? row.error : "";
  } catch (const InputError& error) {
    return error.what();
  }
}

double latency(const Case& c) {
  const PointRow row = evaluated(c.platform, c.workload, c.settings);
  EXPECT_EQ(row.status, Status::kOk) << text_of(c) << ": " << row.error;
  return number_of(row, "latency_us");
}

// Each once waited for ever, or ended in a fault of its own.
TEST(KernelCases, ShapesThatOnceEndedAProgramRun) {
  const Case cases[] = {
      {"trn2-3xlarge", "matmul", {{"schedule", "strip"}, {"prologue", "add_rms_norm"}, {"k", "1024"}}},
      {"trn1-2xlarge", "matmul", {{"schedule", "strip"}, {"prologue", "add_rms_norm"}, {"k", "1024"}}},
      {"trn1-2xlarge", "mlp", {{"schedule", "blocked"}, {"hidden", "512"}}},
      {"trn1-2xlarge", "mlp", {{"schedule", "blocked"}, {"hidden", "1"}}},
      {"trn1-2xlarge", "mlp", {{"schedule", "blocked"}, {"hidden", "256"}, {"activation", "relu"}, {"layers", "3"}}},
      {"trn1-2xlarge", "mlp", {{"schedule", "blocked"}, {"widths", "512x512"}}},
      {"trn2-3xlarge", "conv1d", {{"sequence", "1"}, {"taps", "3"}}},
      {"trn2-3xlarge", "instruction", {{"partitions", "auto"}}},
      {"trn2-3xlarge", "instruction", {{"op", "load_table"}, {"count", "2"}}},
      {"trn2-3xlarge", "matmul", {{"m", "130"}, {"n", "130"}, {"k", "100000"}}},
      {"trn3-3xlarge", "matmul", {{"m", "130"}, {"n", "600"}, {"k", "70001"}, {"dtype", "mxfp8"}, {"batch", "6"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "lora"}, {"m", "512"}, {"n", "512"}, {"k", "512"}, {"lora_rank", "64"}}},
      {"trn2-3xlarge", "dma_copy", {{"engine", "auto"}, {"bytes", "64KiB"}}},
  };
  for (const Case& c : cases) EXPECT_GT(latency(c), 0) << text_of(c);
}

TEST(KernelCases, NothingToDoHasNoRooflineAndNoTime) {
  const Case cases[] = {
      {"trn2-3xlarge", "scan", {{"states", "0"}}},       {"trn2-3xlarge", "rope", {{"batch", "0"}}},
      {"trn2-3xlarge", "conv1d", {{"channels", "0"}}},   {"trn2-3xlarge", "matmul", {{"batch", "0"}}},
      {"trn2-3xlarge", "matmul", {{"k", "0"}}},          {"trn2-3xlarge", "moe", {{"tokens", "0"}}},
      {"trn2-3xlarge", "mlp", {{"tokens", "0"}}},        {"trn2-3xlarge", "router", {{"tokens", "0"}}},
      {"trn2-3xlarge", "instruction", {{"count", "0"}}}, {"trn2-3xlarge", "projection", {{"tokens", "0"}}},
      {"trn2-3xlarge", "attention", {{"batch", "0"}}},   {"trn2-3xlarge", "transformer_block", {{"batch", "0"}}},
      {"trn2-3xlarge", "softmax", {{"m", "0"}}},         {"trn2-3xlarge", "fused_attention", {{"query_tokens", "0"}}},
      {"trn2-3xlarge", "rms_norm", {{"tokens", "0"}}},
  };
  for (const Case& c : cases) {
    const PointRow row = evaluated(c.platform, c.workload, c.settings);
    ASSERT_EQ(row.status, Status::kOk) << text_of(c) << ": " << row.error;
    for (const char* zero : {"roofline_us", "duration_ns", "useful_flop", "issued_macs"}) {
      EXPECT_EQ(number_of(row, zero), 0) << text_of(c) << ": " << zero;
    }
  }
}

TEST(KernelCases, WhatDoesNothingIsRefused) {
  const Case cases[] = {
      {"trn2-3xlarge", "matmul", {{"block_k", "512"}}},
      {"trn2-3xlarge", "matmul", {{"buffers", "1"}}},
      {"trn2-3xlarge", "matmul", {{"lora_rank", "1024"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "tiled"}, {"lora_rank", "0"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "tiled"}, {"block_k", "512"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "tiled"}, {"buffers", "1"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "tiled"}, {"transpose_lhs", "yes"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "tiled"}, {"prologue", "add_rms_norm"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "kept_loads"}, {"loop", "rolled"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "resident_rhs"}, {"loop_order", "mnk"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "blocked"}, {"load_k", "128"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "blocked"}, {"evacuation", "vector"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "blocked"}, {"epilogue", "softmax"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "strip"}, {"accumulator_dtype", "fp32"}}},
      {"trn2-3xlarge", "matmul", {{"schedule", "lora"}, {"store_n", "128"}}},
      {"trn2-3xlarge", "attention", {{"softmax_dtype", "fp32"}}},
      {"trn2-3xlarge", "attention", {{"exponential_engine", "scalar"}}},
      {"trn2-3xlarge", "attention", {{"schedule", "flash"}, {"copy_columns", "128"}}},
      {"trn2-3xlarge", "attention", {{"schedule", "flash"}, {"hidden", "4096"}}},
      {"trn2-3xlarge", "attention", {{"schedule", "rowwise"}, {"causal", "no"}, {"softmax_dtype", "fp32"}}},
      {"trn2-3xlarge", "scan", {{"schedule", "channel_outer"}, {"channels", "128"}, {"chunk", "256"}}},
      {"trn2-3xlarge", "mlp", {{"block_m", "512"}}},
      {"trn2-3xlarge", "mlp", {{"ffn", "512"}}},
      {"trn2-3xlarge", "instruction", {{"bias", "yes"}}},
      {"trn2-3xlarge", "instruction", {{"table_load", "yes"}}},
      {"trn2-3xlarge", "instruction", {{"function", "exp"}}},
      {"trn2-3xlarge", "instruction", {{"second_space", "psum"}}},
      {"trn2-3xlarge", "instruction", {{"op", "activation"}, {"columns", "1"}}},
      {"trn2-3xlarge", "instruction", {{"op", "activation"}, {"passes", "1"}}},
      {"trn2-3xlarge", "instruction", {{"op", "copy"}, {"warmup", "1"}}},
  };
  for (const Case& c : cases) {
    const std::string& name = c.settings.back().first;
    const std::string said = refusal(c);
    EXPECT_TRUE(said.starts_with("test: ")) << text_of(c) << ": " << said;
    EXPECT_NE(said.find("nothing reads "), std::string::npos) << text_of(c) << ": " << said;
    EXPECT_NE(said.find(name), std::string::npos) << text_of(c) << ": " << said;
  }
}

TEST(KernelCases, WhatCannotBeIsRefusedWithItsReason) {
  struct Refusal {
    Case what;
    const char* reason;
  };
  const Refusal refusals[] = {
      {{"trn2-3xlarge", "attention", {{"schedule", "flash"}, {"dtype", "mxfp8"}}}, "is for matmuls alone"},
      {{"trn2-3xlarge", "attention", {{"dtype", "mxfp4"}}}, "is for matmuls alone"},
      {{"trn2-3xlarge", "instruction", {{"dtype", "mxfp8"}}}, "multiplies microscaled formats"},
      {{"trn2-3xlarge", "instruction", {{"op", "copy"}, {"dtype", "mxfp8"}}}, "is for matmuls alone"},
      {{"trn2-3xlarge", "instruction", {{"op", "quantize_mx"}}}, "no engine of this machine"},
      {{"trn2-3xlarge", "instruction", {{"source_space", "psum"}}}, "the tensor engine reads sbuf"},
      {{"trn2-3xlarge", "instruction", {{"count", "auto"}}}, "count"},
      {{"trn2-3xlarge", "rope", {{"head_dim", "1"}}}, "use an even head_dim"},
      {{"trn2-3xlarge", "rope", {{"head_dim", "63"}}}, "use an even head_dim"},
      {{"trn2-3xlarge", "conv1d", {{"sequence", "1"}, {"taps", "4"}}}, "use at most that many"},
      {{"trn1-2xlarge", "conv1d", {{"taps", "0"}}}, "out of range"},
      {{"trn2-3xlarge", "scan", {{"chunk", "513"}}}, "use at most 512"},
      {{"trn2-3xlarge", "dma_copy", {{"interval", "packet"}, {"bytes", "64KiB"}, {"transfers", "1"}}}, "of one packet"},
      {{"trn2-3xlarge", "dma_copy", {{"interval", "occupancy"}, {"bytes", "64KiB"}, {"transfers", "1"}}}, "2 or more"},
      {{"trn2-3xlarge", "dma_copy", {{"queues", "16"}, {"beside", "copy"}}},
       "beside=copy takes as many other queues as queues=16, and this machine has 16; use queues=8 or less"},
      {{"trn2-3xlarge", "softmax", {{"interval", "clock_ramp"}}}, "multiplies nothing"},
      {{"trn1-2xlarge", "matmul", {{"interval", "clock_ramp"}}}, "no clock limiter"},
      {{"trn2-3xlarge", "matmul", {{"schedule", "tiled"}, {"epilogue", "softmax"}}}, "use none, bias_gelu"},
      {{"trn2-3xlarge", "matmul", {{"schedule", "strip"}, {"transpose_lhs", "no"}}}, "always turns A"},
      {{"trn2-48xlarge", "broadcast", {{"root", "64"}}}, "root=64, but the group has ranks 0 to 63"},
      {{"trn2-48xlarge", "permute", {{"shift", "64"}}}, "shift=64, but the group has 64 ranks; use 1 to 63"},
      {{"trn2-48xlarge", "all_reduce", {{"dma.queues_per_engine", "3"}}}, "set dma.queues_per_engine to 4 or more"},
      {{"trn3-3xlarge", "dma_copy", {{"beside", "copy"}, {"beside_qos", "4"}}}, "beside_qos=4"},
      {{"trn2-48xlarge", "all_to_all", {{"counts", "/dev/zero"}}}, "/dev/zero is no regular file; name a CSV file"},
      {{"trn3-3xlarge", "all_reduce", {{"dtype", "mxfp8"}}}, "dtype=mxfp8, but collectives carry plain elements"},
      {{"trn3-3xlarge", "all_to_all", {{"dtype", "mxfp4"}}}, "dtype=mxfp4, but collectives carry plain elements"},
      // Before anything is written.
      {{"trn2-3xlarge", "moe", {{"tokens", "1000003"}}}, "written out"},
      {{"trn2-3xlarge", "dma_copy", {{"bytes", "16GB"}, {"descriptor_bytes", "1B"}}}, "written out"},
      {{"trn2-3xlarge", "fused_attention", {{"query_tokens", "1000000"}}}, "written out"},
  };
  for (const Refusal& r : refusals) {
    EXPECT_NE(refusal(r.what).find(r.reason), std::string::npos) << text_of(r.what) << ": " << refusal(r.what);
  }
}

TEST(KernelCases, OneInstructionTakesAsLongOnManyCoresAsOnOne) {
  for (const char* detail : {"tile", "instruction"}) {
    const auto interval = [&](Assignments more) {
      more.emplace_back("run.detail", detail);
      return number_of(evaluated("trn2-3xlarge", "instruction", more), "initiation_interval_ns");
    };
    EXPECT_DOUBLE_EQ(interval({{"cores", "2"}}), interval({}));
    EXPECT_DOUBLE_EQ(interval({{"lnc", "2"}}), interval({}));
  }
}

TEST(KernelCases, TheRooflineCountsEveryOperandAndResultOnce) {
  constexpr double kBytesPerMicrosecond = 1.44e6 / 2;  // one of two stacks of 2.88 TB/s
  const auto roofline = [](const Case& c) {
    return number_of(evaluated(c.platform, c.workload, c.settings), "roofline_us");
  };
  const double stack = roofline({"trn2-3xlarge", "softmax", {{"m", "4096"}, {"n", "4096"}}}) / (2.0 * 4096 * 4096);
  EXPECT_GT(stack * kBytesPerMicrosecond, 0);
  // A vector is not all that is read: [4096 x 4096] of A is.
  const double vector = roofline({"trn2-3xlarge", "matmul", {{"n", "1"}}});
  EXPECT_GT(vector, 4096.0 * 4096 * 2 / 2.88e6 * 2 * 0.99);
  // Both cores of a logical core read gate and up of every expert; the bound does not.
  EXPECT_NEAR(roofline({"trn2-3xlarge", "moe", {{"lnc", "2"}}}) / roofline({"trn2-3xlarge", "moe", {{"lnc", "1"}}}), 1,
              0.6);
  const PointRow one = evaluated("trn2-3xlarge", "instruction", {{"count", "1000"}});
  EXPECT_EQ(number_of(one, "useful_flop"), 2.0 * 128 * 128 * 512 * 1000);
  EXPECT_LE(number_of(one, "roofline_us"), number_of(one, "latency_us"));
}

TEST(KernelCases, ADeepContractionCostsWhatItHasToMultiply) {
  for (const char* platform : {"trn1-2xlarge", "trn2-3xlarge", "trn3-3xlarge"}) {
    const PointRow row = evaluated(platform, "matmul", {{"m", "2048"}, {"n", "2048"}, {"k", "100000"}});
    ASSERT_EQ(row.status, Status::kOk) << row.error;
    EXPECT_LT(number_of(row, "latency_us"), 2 * number_of(row, "roofline_us")) << platform;
  }
}

TEST(KernelCases, WhatIsLessWorkTakesNoLonger) {
  struct Pair {
    Case less, more;
    double at_most;  ///< less / more
  };
  const Pair pairs[] = {
      {{"trn2-3xlarge", "transformer_block", {{"causal", "yes"}}},
       {"trn2-3xlarge", "transformer_block", {{"causal", "no"}}},
       1},
      {{"trn3-3xlarge", "transformer_block", {{"causal", "yes"}}},
       {"trn3-3xlarge", "transformer_block", {{"causal", "no"}}},
       1},
      {{"trn2-3xlarge", "attention", {{"window", "4096"}}}, {"trn2-3xlarge", "attention", {{"window", "0"}}}, 1},
      {{"trn2-3xlarge", "attention", {{"window", "9000"}}}, {"trn2-3xlarge", "attention", {{"window", "0"}}}, 1},
      {{"trn3-3xlarge", "matmul", {{"dtype", "fp32"}, {"m", "2048"}, {"n", "2048"}, {"k", "2048"}}},
       {"trn2-3xlarge", "matmul", {{"dtype", "fp32"}, {"m", "2048"}, {"n", "2048"}, {"k", "2048"}}},
       1},
      {{"trn2-3xlarge", "attention", {{"schedule", "flash"}, {"lnc", "2"}}},
       {"trn2-3xlarge", "attention", {{"schedule", "flash"}, {"lnc", "1"}}},
       0.6},
      {{"trn2-3xlarge", "matmul", {{"batch", "1"}}}, {"trn2-3xlarge", "matmul", {{"batch", "2"}}}, 0.6},
  };
  for (const Pair& p : pairs) {
    EXPECT_LE(latency(p.less), p.at_most * latency(p.more)) << text_of(p.less) << " against " << text_of(p.more);
  }
}

TEST(KernelCases, AnEngineThatOnlyStartsTransfersMayBeTheBottleneck) {
  EXPECT_EQ(evaluated("trn2-3xlarge", "matmul", {{"schedule", "tiled"}, {"m", "2048"}, {"n", "2048"}, {"k", "2048"}})
                .metrics.at("bottleneck"),
            "sync");
}

TEST(KernelCases, CoresWithoutAShareAreCountedIdle) {
  const auto idle = [](const char* heads) {
    return number_of(evaluated("trn2-3xlarge", "attention",
                               {{"schedule", "flash"}, {"q_heads", heads}, {"kv_heads", "1"}, {"lnc", "2"}}),
                     "idle_cores");
  };
  EXPECT_EQ(idle("8"), 6);
  EXPECT_EQ(idle("1"), 7);
}

}  // namespace
}  // namespace trnsim
