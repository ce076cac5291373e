#include <gtest/gtest.h>

#include "sweeps/fronts_text.h"
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

TEST(FrontsText, IsEmptyWithoutTokens) {
  PointRow kernel;
  kernel.swept = {{"platform", "p"}, {"workload", "matmul"}};
  EXPECT_EQ(fronts_text({kernel}), "");
}

}  // namespace
}  // namespace trnsim
