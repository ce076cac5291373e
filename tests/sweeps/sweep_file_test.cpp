#include "sweeps/sweep_file.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "models/mechanism/error.h"
#include "sweeps/evaluate.h"
#include "tests/sweeps/folder.h"

namespace trnsim {
namespace {

using Words = std::vector<std::string>;

TEST(ExpandCell, ListsRangesAndUnits) {
  const std::vector<std::pair<std::string, Words>> cases = {
      {"7", {"7"}},
      {"8|16|32", {"8", "16", "32"}},
      {"1:5:+2", {"1", "3", "5"}},
      {"1:6:+2", {"1", "3", "5"}},
      {"1:1024:*4", {"1", "4", "16", "64", "256", "1024"}},
      {"1GHz:2GHz:+0.2GHz", {"1GHz", "1.2GHz", "1.4GHz", "1.6GHz", "1.8GHz", "2GHz"}},
      {"600GB/s|800GB/s", {"600GB/s", "800GB/s"}},
      {"100GB/s:300GB/s:+100GB/s", {"100GB/s", "200GB/s", "300GB/s"}},
      {"1KiB:1MiB:*4", {"1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1024KiB"}},
      {"1GB:4GiB:*2", {"1GB", "2GB", "4GB"}},
      {"1MiB:2600KiB:+0.5MiB", {"1MiB", "1.5MiB", "2MiB", "2.5MiB"}},
      {"500ns:0.001ms:+250ns", {"500ns", "750ns", "1000ns"}},
      {"10pJ/bit:100pJ/B:*2", {"10pJ/bit"}},
      {"0.1:0.5:+0.1", {"0.1", "0.2", "0.3", "0.4", "0.5"}},
      {"5:5:+1", {"5"}},
      {"1|4:8:*2|100", {"1", "4", "8", "100"}},
      {"1000000000001:1000000000004:+1", {"1000000000001", "1000000000002", "1000000000003", "1000000000004"}},
      {"9007199254740992:9007199254740994:+1", {"9007199254740992", "9007199254740993", "9007199254740994"}},
      {"3000000000000001:9223372036854775807:*3",
       {"3000000000000001", "9000000000000003", "27000000000000009", "81000000000000027", "243000000000000081",
        "729000000000000243", "2187000000000000729", "6561000000000002187"}},
      {"100000:300000:+1e5", {"100000", "200000", "300000"}},
      {"-0.1:0.1:+0.1", {"-0.1", "0", "0.1"}},
      {"0.25:1:*2", {"0.25", "0.5", "1"}},
      {"1:3:*1.5", {"1", "1.5", "2.25"}},
      {"1e300:3e300:*2", {"1e+300", "2e+300"}},
      {"9007199254740992|9007199254740993", {"9007199254740992", "9007199254740993"}},
      {"uniform|balanced", {"uniform", "balanced"}},
  };
  for (const auto& [cell, values] : cases) EXPECT_EQ(expand_cell(cell), values) << cell;
}

TEST(ExpandCell, RefusesRangesThatMakeNoSense) {
  for (const char* cell : {"1:16",
                           "1:16:2",
                           "1:16:+",
                           "1:16:+0",
                           "1:16:+-1",
                           "1:16:*1",
                           "1:16:*0.5",
                           "16:1:+1",
                           "0:16:*2",
                           "1GHz:2GHz:+0.2",
                           "1GHz:2:+1GHz",
                           "1:4:*2GHz",
                           "a:b:+c",
                           "1:nan:+1",
                           "1:inf:+1",
                           "1:1e999:+1",
                           "1||2",
                           "|1",
                           "1|",
                           "0:1e9:+1",
                           "1:2:+1:+1",
                           "1KiB:1MB/s:*2",
                           "1KiB:1Mib:*2",
                           "1KiB:4:*2",
                           "1KiB:1MiB:+1MiB",
                           "1MiB:1KiB:*2",
                           "1rows:4tokens:+1rows",
                           "1|1",
                           "1|2|1.0",
                           "1GHz|1GHz",
                           "1:4:+1|4",
                           "a|b|a",
                           "1000|1e3"}) {
    EXPECT_THROW(static_cast<void>(expand_cell(cell)), std::invalid_argument) << cell;
  }
}

class SweepFile : public testing::Test {
 protected:
  Sweep read(const std::string& text, const std::vector<Setting>& common = {}) {
    return read_sweep(folder_.file("s.csv", text), common);
  }
  std::string refusal(const std::string& text) {
    try {
      static_cast<void>(read(text));
    } catch (const InputError& error) {
      const std::string what = error.what();
      return what.starts_with(folder_.path("")) ? what.substr(folder_.path("").size()) : what;
    }
    return "accepted";
  }
  Folder folder_;
};

Words ids(const Sweep& sweep) {
  Words list;
  for (const Point& point : sweep.points) list.push_back(point.id);
  return list;
}

TEST_F(SweepFile, ListsInARowMultiplyOutLastColumnFastest) {
  const Sweep sweep = read("platform,workload,tp,batch\ntrn2-48xlarge,gpt-oss-120b-decode,8|16,1|4|16\n");
  EXPECT_EQ(ids(sweep), (Words{"1.1", "1.2", "1.3", "1.4", "1.5", "1.6"}));
  EXPECT_EQ(sweep.points[1].swept.back(), (std::pair<std::string, std::string>{"batch", "4"}));
  EXPECT_EQ(sweep.points[3].swept[2], (std::pair<std::string, std::string>{"tp", "16"}));
}

TEST_F(SweepFile, IdsAreTheRowOrTheUsersWithTheCombination) {
  const Sweep sweep = read(
      "id,platform,workload,tp\n,trn2-48xlarge,gpt-oss-120b-decode,8\nmine,trn2-48xlarge,gpt-oss-120b-decode,8\n"
      "two,trn2-48xlarge,gpt-oss-120b-decode,8|16\n");
  EXPECT_EQ(ids(sweep), (Words{"1", "mine", "two.1", "two.2"}));
}

TEST_F(SweepFile, AnEmptyCellLeavesTheParameterUnset) {
  const Sweep sweep = read("platform,workload,tp,batch\ntrn2-48xlarge,gpt-oss-120b-decode,,4\n");
  ASSERT_EQ(sweep.points.size(), 1U);
  ASSERT_EQ(sweep.points[0].workload_overrides.size(), 1U);
  EXPECT_EQ(sweep.points[0].workload_overrides[0].name, "batch");
  EXPECT_EQ(sweep.points[0].swept.at(2), (std::pair<std::string, std::string>{"tp", ""}));
}

TEST_F(SweepFile, SettingsGoToThePlatformTheWorkloadOrTheRun) {
  const Sweep sweep = read(
      "platform,workload,core.tensor.clock,tp,run.detail,run.fold,run.seed\n"
      "trn2-48xlarge,gpt-oss-120b-decode,2.4GHz,8,instruction,none,7\n");
  const Point& point = sweep.points.at(0);
  EXPECT_EQ(point.platform_overrides.at(0).value, "2.4GHz");
  EXPECT_TRUE(point.platform_overrides.at(0).place.ends_with("s.csv:2:35")) << point.platform_overrides.at(0).place;
  EXPECT_EQ(point.workload_overrides.at(0).name, "tp");
  EXPECT_EQ(point.run.options.detail, Detail::kInstruction);
  EXPECT_EQ(point.run.options.fold, Fold::kNone);
  EXPECT_EQ(point.run.seed, 7U);
}

TEST_F(SweepFile, ARowsOwnValueReplacesTheCommonOne) {
  const Sweep sweep = read("workload,tp\ngpt-oss-120b-decode,8\ngpt-oss-120b-decode,\n",
                           {{"platform", "trn2-48xlarge", "--set"}, {"tp", "16", "--set"}});
  EXPECT_EQ(sweep.points.at(0).workload_overrides.at(0).value, "8");
  EXPECT_EQ(sweep.points.at(1).workload_overrides.at(0).value, "16");
  EXPECT_EQ(sweep.points.at(1).swept.at(2), (std::pair<std::string, std::string>{"tp", "16"}));
}

TEST_F(SweepFile, EveryPointHasEverySweptColumnInOneOrder) {
  const Sweep sweep = read(
      "platform,workload,tp,precision\ntrn2-48xlarge,gpt-oss-120b-decode,,\ntrn2-48xlarge,gpt-oss-120b-decode,8,bf16\n",
      {{"tp", "16", "--set"}, {"context", "128", "--set"}});
  for (const Point& point : sweep.points) {
    Words names;
    for (const auto& [name, value] : point.swept) names.push_back(name);
    EXPECT_EQ(names, (Words{"context", "platform", "workload", "tp", "precision"})) << point.id;
  }
  EXPECT_EQ(sweep.points[0].swept[3].second, "16");
  EXPECT_EQ(sweep.points[1].swept[3].second, "8");
}

TEST_F(SweepFile, ExpectationsBecomeBounds) {
  const Sweep sweep = read(
      "platform,workload,expect.latency_us,low.tensor_utilization,high.tensor_utilization,expect.bottleneck,tolerance,"
      "group,source\ntrn2-48xlarge,matmul,200,0.4,0.9,tensor,5%,g,a paper\ntrn2-48xlarge,matmul,,,,,,,\n");
  ASSERT_EQ(sweep.checks.size(), 4U);
  EXPECT_DOUBLE_EQ(sweep.checks[0].low, 190);
  EXPECT_DOUBLE_EQ(sweep.checks[0].high, 210);
  EXPECT_DOUBLE_EQ(sweep.checks[1].low, 0.4);
  EXPECT_DOUBLE_EQ(sweep.checks[2].high, 0.9);
  EXPECT_EQ(sweep.checks[3].word, "tensor");
}

TEST_F(SweepFile, RefusesWithThePlaceAndTheNearestName) {
  const std::string head = "platform,workload,tp\n";
  const std::string row = "trn2-48xlarge,gpt-oss-120b-decode,";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"platform,workload,tpp\nx,y,1\n", "s.csv:1:19: unknown parameter 'tpp'; did you mean tp?"},
      {"platform,workload,expect.latency_u\nx,y,1\n",
       "s.csv:1:19: unknown metric 'latency_u'; did you mean latency_us?"},
      {"platform,workload,tp,tp\nx,y,1,1\n", "s.csv:1:22: duplicate column 'tp'"},
      {head + row + "8:16\n", "s.csv:2:35: '8:16' is no range"},
      {head + row + "8||16\n", "s.csv:2:35: an empty value in the list"},
      {"platform,workload,run.fold\n" + row + "maybe\n", "s.csv:2:35: run.fold: "},
      {"platform,workload,run.seed\n" + row + "-1\n", "s.csv:2:35: run.seed: "},
      {"platform,workload,tolerance,expect.latency_us\n" + row + "x,1\n", "s.csv:2:35: 'x' is no number"},
      {"platform,workload,expect.latency_us\n" + row + "nan\n", "s.csv:2:35: 'nan' is no number"},
      {"platform,workload,expect.latency_us\n" + row + "1e999\n", "s.csv:2:35: '1e999' is no number"},
      {"id,platform,workload\na,trn2-48xlarge,matmul\na,trn2-48xlarge,matmul\n",
       "s.csv:3:1: duplicate id 'a', first in line 2"},
      {"platform,tp\ntrn2-48xlarge,8\n", "s.csv:2:1: no workload"},
      {head, "s.csv: the sweep has no points"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(refusal(text).substr(0, message.size()), message) << text;
}

TEST_F(SweepFile, RefusesMoreThanTwentyThousandPointsWithTheirNumber) {
  EXPECT_EQ(refusal("platform,workload,tp,batch\nx,y,1:4000:+1,1:4000:+1\n"),
            "s.csv:2:1: the sweep has 16000000 points, the most is 20000; make its lists shorter, or more files of it");
  const std::string big = "1:90000:+1";
  EXPECT_NE(refusal("platform,workload,tp,batch,ep,context,dp\nx,y," + big + "," + big + "," + big + "," + big + "," +
                    big + "\n")
                .find("more than 2^64 points"),
            std::string::npos);
}

TEST_F(SweepFile, KeptRowsThatSetWhatThereIsNotAreRefusedAloneWithTheirChecks) {
  const Sweep sweep =
      read_sweep(folder_.file("s.csv",
                              "id,group,platform,workload,m,tpp,expect.latency_us,expect.speed,tolerance\n"
                              "a,G,trn2-48xlarge,matmul,64,,5,,5%\n"
                              "b,G,trn2-48xlarge,matmul,64,3,6,,5%\n"
                              "c,G,trn2-48xlarge,matmul,64,,,7,5%\n"
                              "d,H,trn9,matmul,64,,8,,5%\n"),
                 {}, WrongRows::kKept);
  EXPECT_EQ(ids(sweep), (Words{"a"}));
  ASSERT_EQ(sweep.refused.size(), 3U);
  EXPECT_NE(sweep.refused[0].error.find("s.csv:1:30: unknown parameter 'tpp'"), std::string::npos);
  EXPECT_NE(sweep.refused[1].error.find("unknown metric 'speed'"), std::string::npos);
  EXPECT_NE(sweep.refused[2].error.find("s.csv:5:5: unknown platform 'trn9'"), std::string::npos);
  ASSERT_EQ(sweep.checks.size(), 4U);
  EXPECT_EQ(sweep.checks[2].metric, "speed");
  EXPECT_EQ(sweep.checks[2].expected, 7);
  EXPECT_DOUBLE_EQ(sweep.checks[2].tolerance, 0.05);
  EXPECT_EQ(sweep.groups.at("d"), "H");
}

/// The fenced block of docs/cli.md that starts with `header`.
std::string example_in_docs(const std::string& header) {
  std::ifstream in(TRNSIM_ROOT "/docs/cli.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = page.find(header);
  return begin == std::string::npos ? "" : page.substr(begin, page.find("```", begin) - begin);
}

TEST_F(SweepFile, TheDocumentedExampleIsValid) {
  const Sweep sweep = read(example_in_docs("id,platform,workload"));
  EXPECT_EQ(sweep.points.size(), 12U);
  EXPECT_EQ(sweep.checks.size(), 1U);
  EXPECT_NO_THROW(check_input(sweep.points));
}

TEST(MainSweep, HasAtMostTwoHundredPointsAndBothTrn2Precisions) {
  const Sweep sweep = read_sweep(TRNSIM_ROOT "/sweeps/gpt-oss-120b-tokens-per-megawatt.csv", {});
  EXPECT_LE(sweep.points.size(), 200U);
  std::size_t bf16 = 0, fp8 = 0, level_table = 0;
  for (const Point& point : sweep.points) {
    for (const auto& [name, value] : point.swept) {
      bf16 += value == "bf16" ? 1 : 0;
      fp8 += value == "fp8_experts" ? 1 : 0;
      level_table += value == "level_table" ? 1 : 0;
    }
  }
  EXPECT_GT(bf16, 0U);
  EXPECT_GT(fp8, 0U);
  EXPECT_EQ(level_table, 3U);
}

}  // namespace
}  // namespace trnsim
