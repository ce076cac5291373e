#include <gtest/gtest.h>

#include "sweeps/fronts_text.h"
#include "sweeps/points_text.h"
#include "sweeps/progress.h"
#include "sweeps/text_table.h"

namespace trnsim {
namespace {

TEST(Progress, TellsDoneRateAndTimeLeft) {
  EXPECT_EQ(Progress::line(10, 20, 5), "[###############---------------] 10/20 2 points/s, 5 s left");
  EXPECT_EQ(Progress::line(0, 20, 0), "[------------------------------] 0/20");
  EXPECT_EQ(Progress::line(0, 0, 0), "[##############################] 0/0");
}

TEST(TextTable, PadsByCharactersNotBytes) {
  EXPECT_EQ(aligned({{"a", "b"}, {"µs", "1"}, {"xyz", "2"}}, true), "a    b\n---  -\nµs   1\nxyz  2\n");
}

TEST(TextTable, WrapsTheWidestCellsBehindBlanksBarsAndCommas) {
  EXPECT_EQ(wrapped({{"name", "phases"}, {"a.long.name", "one|two|three"}, {"b", "four, five"}}, 20),
            "name         phases\n"
            "-----------  ------\n"
            "a.long.name  one|\n"
            "             two|\n"
            "             three\n"
            "b            four,\n"
            "             five\n");
  EXPECT_EQ(wrapped({{"a", "b"}, {"x y", "z"}}, 80), aligned({{"a", "b"}, {"x y", "z"}}, true));
}

PointRow row(const std::string& platform, double user, double megawatt) {
  PointRow row;
  row.id = platform + format_number(user);
  row.swept = {{"platform", platform}, {"workload", "w"}, {"tp", "8"}};
  row.metrics["tokens_per_s_per_user"] = format_number(user);
  row.metrics["tokens_per_s_per_mw"] = format_number(megawatt);
  return row;
}

TEST(FrontsText, IsAStepAtEveryCornerAndEmptyBeyondAFront) {
  const std::string text = fronts_text({row("old", 10, 100), row("old", 20, 50), row("new", 15, 300)});
  EXPECT_EQ(text,
            "w: tokens/s per IT megawatt at each interactivity, and the point that has them\n"
            "  S1  old\n"
            "  S2  new\n"
            "tokens/s per user  S1   S1 point  S2   S2 point  S2/S1\n"
            "-----------------  ---  --------  ---  --------  -----\n"
            "10.0               100  old10     300  new15     3.00\n"
            "15.0               50   old20     300  new15     6.00\n"
            "20.0               50   old20\n"
            "\n"
            "point  tp\n"
            "-----  --\n"
            "old10  8\n"
            "old20  8\n"
            "new15  8\n\n");
}

PointRow point(const std::string& id, const std::string& error,
               const std::map<std::string, std::string, std::less<>>& metrics = {}) {
  PointRow row;
  row.id = id;
  row.status = error.empty() ? Status::kOk : Status::kInfeasible;
  row.error = error;
  row.metrics = metrics;
  return row;
}

TEST(PointsText, CollectivesHaveTheirRatesAndOtherPointsTheirFlops) {
  const PointRow collective = point("c", "", {{"latency_us", "7"}, {"algbw_gb_per_s", "2"}, {"busbw_gb_per_s", "3.5"}});
  const PointRow kernel = point("k", "", {{"latency_us", "9"}, {"sustained_pflops", "0.5"}});
  EXPECT_EQ(points_text({collective, point("x", "too large")}),
            "id  status      latency us  algbw GB/s  busbw GB/s  HBM  bottleneck\n"
            "--  ----------  ----------  ----------  ----------  ---  ----------\n"
            "c   ok          7           2           3.5\n"
            "x   infeasible\n");
  EXPECT_EQ(points_text({kernel}).find("busbw"), std::string::npos);
  EXPECT_TRUE(points_text({kernel, collective})
                  .starts_with("id  status  latency us  algbw GB/s  busbw GB/s  sustained PFLOP/s  tensor  "));
}

TEST(PointsText, SaysWhatDiffersBetweenPoints) {
  EXPECT_TRUE(
      points_text({row("old", 10, 100), row("new", 15, 300)}).starts_with("id     platform  status  latency us"));
}

TEST(ReasonsText, NamesEachReasonOnceAndFiveAtMost) {
  EXPECT_EQ(reasons_text({point("a", "")}), "");
  std::vector<PointRow> rows = {point("a", "too large"), point("b", ""), point("c", "too large")};
  EXPECT_EQ(reasons_text(rows), "infeasible: too large (a, c)\n\n");
  for (const char* id : {"d", "e", "f", "g", "h", "i"}) rows.push_back(point(id, std::string("because of ") + id));
  const std::string text = reasons_text(rows);
  EXPECT_NE(text.find("infeasible: because of g (g)\nand 2 more reasons, in "), std::string::npos) << text;
  EXPECT_EQ(reasons_text(std::vector<PointRow>(10, point("z", "no"))),
            "infeasible: no (z, z, z, z, z, z, z, z and 2 more)\n\n");
}

TEST(FrontsText, IsEmptyWithoutTokens) {
  PointRow kernel;
  kernel.swept = {{"platform", "p"}, {"workload", "matmul"}};
  EXPECT_EQ(fronts_text({kernel}), "");
}

}  // namespace
}  // namespace trnsim
