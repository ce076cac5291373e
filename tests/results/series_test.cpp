#include "results/series.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/results/sample_rows.h"

namespace trnsim {
namespace {

void set(PointRow& row, const std::string& name, const std::string& value) {
  for (auto& [swept, old] : row.swept) {
    if (swept == name) {
      old = value;
      return;
    }
  }
  row.swept.emplace_back(name, value);
}

TEST(Series, PrecisionsOfAPlatformAreSeparateCurves) {
  const auto scenarios = group(sample::rows());
  ASSERT_EQ(scenarios.size(), 1U);
  EXPECT_EQ(scenarios[0].label, "gpt-oss-120b-decode");
  ASSERT_EQ(scenarios[0].series.size(), 3U);
  EXPECT_EQ(scenarios[0].series[0].label, "trn2-ultraserver · bf16");
  EXPECT_EQ(scenarios[0].series[1].label, "trn2-ultraserver · fp8_experts");
}

TEST(Series, BatchAndMappingShareOneFront) {
  auto rows = sample::rows();
  set(rows[1], "tp", "16");
  const auto scenarios = group(rows);
  EXPECT_EQ(scenarios[0].series[0].rows, (std::vector<std::size_t>{0, 1, 2, 3, 4, 15}));
}

TEST(Series, AnotherContextIsAnotherQuestion) {
  auto rows = sample::rows();
  for (std::size_t i = 0; i < rows.size(); ++i) set(rows[i], "context", i % 2 == 0 ? "1024" : "8192");
  const auto scenarios = group(rows);
  ASSERT_EQ(scenarios.size(), 2U);
  EXPECT_EQ(scenarios[1].label, "gpt-oss-120b-decode · context 8192");
}

TEST(Series, ASweptPlatformParameterMakesAnotherMachine) {
  auto rows = sample::rows();
  set(rows[0], "fabric.link.reading", "level_table");
  EXPECT_EQ(group(rows)[0].series[0].label, "trn2-ultraserver · bf16 · fabric.link.reading=level_table");
}

TEST(Series, AnEmptyCellStandsForTheResolvedValue) {
  auto rows = sample::rows();
  set(rows[0], "precision", "");
  EXPECT_EQ(parameter(rows[0], "precision"), "");
  rows[0].parameters.rows.push_back({"precision", "bf16", "", "", "", "", "", ""});
  EXPECT_EQ(parameter(rows[0], "precision"), "bf16");
  EXPECT_EQ(group(rows)[0].series.size(), 3U);
}

TEST(Series, PointsThatDidNotFinishAreOnNoFront) {
  const auto front = group(sample::rows())[0].series[0].front;
  EXPECT_EQ(front.corners().size(), 5U);
  for (const FrontPoint& corner : front.corners()) EXPECT_NE(corner.index, 15U);
}

TEST(Series, AMetricThatIsNoNumberIsNan) {
  const PointRow row = sample::rows()[0];
  EXPECT_TRUE(std::isnan(metric(row, "bottleneck")));
  EXPECT_TRUE(std::isnan(metric(row, "ttft_us")));
  EXPECT_EQ(metric(row, "batch"), 36);
}

TEST(Series, NoRowsAreNoScenario) {
  EXPECT_TRUE(group({}).empty());
}

}  // namespace
}  // namespace trnsim
