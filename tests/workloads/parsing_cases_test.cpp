// Workload files as spreadsheets, editors, other tools and accidents write them.
#include <cmath>
#include <random>

#include "models/mechanism/error.h"
#include "tests/platforms/byte_variants.h"
#include "tests/platforms/damaged.h"
#include "tests/platforms/files.h"
#include "tests/workloads/lowering.h"
#include "workloads/parameters.h"

namespace trnsim {
namespace {

using sample::Files;
using sample::input_error;

const std::string kHeader = "parameter,value,unit,source\n";
const std::string kDecode = kHeader + "inherits," + std::string(TRNSIM_ROOT) + "/workloads/gpt-oss-120b-decode.csv,,\n";

std::string refusal(const std::string& path) {
  return input_error([&] { test::workload(path); });
}

std::string content_of(const Workload& workload) {
  std::string text;
  for (const WorkloadParameter& p : workload.parameters) text += p.name + "," + p.value + "," + p.unit + "\n";
  return text;
}

TEST(ParsingCases, ByteDifferentWorkloadFilesAreOneWorkload) {
  const Files files;
  const std::string text = kDecode + "batch_per_replica,4,count,a test\nrouting,balanced,,a test\n";
  const std::string expected = content_of(test::workload(files.write("w.csv", text)));
  EXPECT_NE(expected.find("batch_per_replica,4,count\n"), std::string::npos);
  for (const auto& [name, bytes] : sample::byte_variants(text)) {
    EXPECT_EQ(content_of(test::workload(files.write("w.csv", bytes))), expected) << name;
  }
}

TEST(ParsingCases, AWrongFieldNamesItsPlaceAndWhatBelongsThere) {
  struct Case {
    const char* rows;
    const char* message;  ///< after the path
  };
  constexpr std::array kCases = std::to_array<Case>({
      {"phase,dance,,x\n", ":3:7: 'dance' is no possible value; use one of decode, prefill, matmul, attention"},
      {"routing,zigzag,,x\n", ":3:9: 'zigzag' is no possible value; use one of uniform, balanced, lognormal"},
      {"batch,4,count\n", ":3:9: the row ends before column 'source'; write 4 fields"},
      {"batch,many,count,x\n", ":3:7: 'many' is no number; write digits"},
      {"batch,1.5,count,x\n", ":3:7: 1.5 count is not a whole number"},
      {"batch,0x10,count,x\n", ":3:7: '0x10' is no number; write digits"},
      {"routing,3,,x\n", ":3:9: '3' is no possible value; use one of "},
      {"sequence_length,8,count,x\n", ":3:1: unknown workload parameter 'sequence_length'"},
      {"TP,8,count,x\n", ":3:1: unknown workload parameter 'TP'; did you mean tp?"},
      {"n,8,count,x\n",
       ":3:1: 'n' is not a parameter of decode workloads; remove it (it belongs to matmul, elementwise or softmax)"},
      {"prompt_tokens,8,count,x\n", ":3:1: 'prompt_tokens' is not a parameter of decode workloads; "},
      {"phase,attention,,x\nbatch_per_replica,8,count,x\n",
       ":4:1: 'batch_per_replica' is not a parameter of attention workloads; did you mean batch? (it belongs to decode "
       "or prefill)"},
      {"batch,4,count,\n", ":3:15: the source is missing; "},
      {"routing,uniform,count,x\n", ":3:9: a word has no unit; leave the unit empty"},
      {"dp,auto,count,x\n", ":3:4: a word has no unit; leave the unit empty"},
      {"precision,mxfp4,,x\n",
       ":3:11: 'mxfp4' is no possible value; did you mean mxfp4_experts? use one of bf16, fp8_experts, mxfp4_experts, "
       "auto"},
      {"inherits,,,\n", ":3:10: `inherits` names no file; write its name"},
      {"inherits,w.csv,count,\n", ":3:16: 'count' has no meaning in a row `inherits`; "},
      {"model,,,\n", ":3:7: `model` names no file; write its name"},
      {"model,gpt-oss-120b.csv,count,\n", ":3:24: 'count' has no meaning in a row `model`; "},
  });
  const Files files;
  for (const Case& c : kCases) {
    const std::string path = files.write("w.csv", kDecode + c.rows);
    EXPECT_EQ(refusal(path).substr(0, path.size() + std::string_view(c.message).size()), path + c.message);
  }
}

TEST(ParsingCases, AMissingParameterIsNamedWhereItCouldStand) {
  const Files files;
  const std::string path = files.write("poor.csv", kHeader + "phase,matmul,,x\nm,4,count,x\nn,4,count,x\n");
  EXPECT_EQ(input_error([&] { test::lowered(test::invented_machine(), path); }),
            path + ":4:1: parameter 'k' is missing (contraction length); add a row, or --set k=...");
}

TEST(ParsingCases, WhatIsWrongOnlyTogetherIsRefusedAtItsValue) {
  struct Case {
    const char* workload;
    const char* rows;
    const char* message;  ///< after the path
  };
  constexpr std::array kCases = std::to_array<Case>({
      {"gpt-oss-120b-decode", "kv_heads,7,count,x\n", ":3:10: kv_heads must divide q_heads, which is 64; "},
      {"gpt-oss-120b-decode", "window_period,7,count,x\n", ":3:15: window_period must divide layers, which is 36; "},
      {"gpt-oss-120b-decode", "experts,2,count,x\nexperts_per_token,3,count,x\n", ":4:19: a token takes at most all "},
      {"gpt-oss-120b-decode", "context,131073,count,x\n",
       ":3:9: the model was made for 131072 tokens, not 131073; use less, or set max_context as well"},
      {"gpt-oss-120b-decode", "context,0,count,x\n", ":3:9: the token being decoded is part of context; use 1 or more"},
      {"attention", "query_tokens,8192,count,x\n", ":3:14: query_tokens are part of context; at most 4096 here"},
      {"attention", "kv_heads,3,count,x\n", ":3:10: kv_heads must divide q_heads, which is 8; "},
  });
  const Files files;
  for (const Case& c : kCases) {
    const std::string parent = std::string("inherits,") + TRNSIM_ROOT + "/workloads/" + c.workload + ".csv,,\n";
    const std::string path = files.write("w.csv", kHeader + parent + c.rows);
    const std::string message = input_error([&] { test::lowered(test::machine("trn2-48xlarge"), path); });
    EXPECT_EQ(message.substr(0, path.size() + std::string_view(c.message).size()), path + c.message);
  }
}

TEST(ParsingCases, ASettingThatTheWorkloadDoesNotReadIsRefused) {
  struct Case {
    const char* workload;
    const char* name;
    const char* message;
  };
  constexpr std::array kCases = std::to_array<Case>({
      {"gpt-oss-120b-decode", "n",
       "'n' is not a parameter of decode workloads; remove it (it belongs to matmul, elementwise or softmax)"},
      {"matmul", "tp", "'tp' is not a parameter of matmul workloads; remove it (it belongs to decode or prefill)"},
      {"matmul", "context", "'context' is not a parameter of matmul workloads; remove it (it belongs to decode, "},
      {"attention", "batch_per_replica",
       "'batch_per_replica' is not a parameter of attention workloads; did you mean "},
      {"gpt-oss-120b-prefill", "context", "'context' is not a parameter of prefill workloads; "},
  });
  for (const Case& c : kCases) {
    const std::string message = input_error([&] { test::workload(c.workload, {{c.name, "4"}}); });
    EXPECT_EQ(message.find("--set: " + std::string(c.message)), 0U) << message;
  }
}

// A prefill file may build on a decode file: what only decode reads is no part of it.
TEST(ParsingCases, AWorkloadHoldsWhatItsPhaseReadsAndNothingElse) {
  for (const std::string& name : workload_names(TRNSIM_ROOT)) {
    const Workload workload = test::workload(name);
    std::string phase;
    for (const WorkloadParameter& p : workload.parameters) phase = p.name == "phase" ? p.value : phase;
    ASSERT_NE(phase, "") << name;
    for (const WorkloadParameter& p : workload.parameters) {
      EXPECT_TRUE(find_workload_parameter(p.name)->is_read_by(phase)) << name << " " << p.name;
    }
  }
}

// Forty levels that each name the next twice: 2^40 reads if a file were read once per path to it.
TEST(ParsingCases, AWorkloadThatManyInheritIsReadOnceAndEndlessChainsAreRefused) {
  const Files files;
  for (int level = 0; level < 40; ++level) {
    const std::string next = "inherits,level" + std::to_string(level + 1) + ".csv,,\n";
    files.write("level" + std::to_string(level) + ".csv", kHeader + next + next);
  }
  files.write("level40.csv", kDecode);
  EXPECT_EQ(test::workload(files.path("level0.csv")).parameters.size(),
            test::workload("gpt-oss-120b-decode").parameters.size());
  for (int level = 0; level < 100; ++level) {
    files.write("level" + std::to_string(level) + ".csv",
                kHeader + "inherits,level" + std::to_string(level + 1) + ".csv,,\n");
  }
  EXPECT_NE(refusal(files.path("level0.csv")).find("more than 64 files inherit"), std::string::npos);
}

std::string workload_that_reads(const WorkloadParameterRow& row) {
  for (const std::string& name : workload_names(TRNSIM_ROOT)) {
    for (const WorkloadParameter& p : test::workload(name).parameters) {
      if (p.name == "phase" && row.is_read_by(p.value)) return name;
    }
  }
  ADD_FAILURE() << "no workload reads " << row.name;
  return "";
}

TEST(ParsingCases, BoundsAreAcceptedAndOneBeyondIsRefusedWithTheRange) {
  for (const WorkloadParameterRow& row : workload_parameter_table()) {
    if (row.dimension == Dimension::kWord) continue;
    const std::string name(row.name);
    const auto whole = [](double value) { return std::to_string(static_cast<long long>(value)); };
    const std::string unit = row.dimension == Dimension::kCapacity ? "B" : "";
    const auto refused = [&](double value) {
      return input_error([&] { test::workload(workload_that_reads(row), {{name, whole(value) + unit}}); });
    };
    EXPECT_EQ(refused(row.low), "") << name;
    EXPECT_EQ(refused(row.high), "") << name;
    const std::string range = whole(row.low) + " to " + whole(row.high) + " is accepted";
    EXPECT_NE(refused(row.high + 1).find(range), std::string::npos) << name << ": " << refused(row.high + 1);
    EXPECT_NE(refused(row.low - 1).find(row.low > 0 ? range : "is negative"), std::string::npos)
        << name << ": " << refused(row.low - 1);
    EXPECT_NE(refused(row.low - 1).find(name), std::string::npos);
  }
}

TEST(ParsingCases, AThousandDamagedWorkloadsAreReadOrRefusedWithTheirPath) {
  const Files files;
  std::string text = kHeader;
  for (const WorkloadParameter& p : test::workload("gpt-oss-120b-decode").parameters) {
    text += p.name + "," + p.value + "," + p.unit + ",\"a, source\"\n";
  }
  std::mt19937 random(20'240'602);  // NOLINT: the same thousand every time
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = files.write("damaged.csv", sample::damaged(text, random));
    const std::string message = refusal(path);
    if (message.empty()) {
      ++read;
    } else {
      EXPECT_EQ(message.rfind(path + ":", 0), 0U) << message;
    }
  }
  EXPECT_GT(read, 50) << "a change inside a source or a digit is no error";
  EXPECT_LT(read, 800);
}

}  // namespace
}  // namespace trnsim
