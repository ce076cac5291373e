#include <gtest/gtest.h>

#include <cmath>

#include "results/validation/score.h"

namespace trnsim {
namespace {

Measurement point(const std::string& id, double expected, std::optional<double> predicted,
                  const std::string& kind = "memory", const std::string& group = "M-T2-A") {
  Measurement m;
  m.id = id;
  m.group = group;
  m.kind = kind;
  m.metric = "latency_us";
  m.expected = expected;
  m.bound = 0.05;
  m.predicted = predicted;
  return m;
}

TEST(Score, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_FALSE(median({}).has_value());
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({8, 1, 4, 2}), 3);
  EXPECT_TRUE(std::isinf(*median({1, INFINITY})));
}

TEST(Score, ErrorsKeepTheirSignAndAreOfWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(relative_error(110, 100), 0.1);
  EXPECT_DOUBLE_EQ(relative_error(50, 100), -0.5);
}

TEST(Score, AGroupHasItsMedianItsWorstAndItsBias) {
  const Scores scores = score({point("a", 100, 110), point("b", 100, 70), point("c", 100, 102)}, {});
  ASSERT_EQ(scores.groups.size(), 1U);
  const GroupScore& group = scores.groups[0];
  EXPECT_EQ(group.points, 3U);
  EXPECT_EQ(group.missed, 0U);
  EXPECT_NEAR(group.error, 0.10, 1e-12);
  EXPECT_NEAR(group.worst, -0.30, 1e-12);
  EXPECT_NEAR(*group.bias, (0.10 - 0.30 + 0.02) / 3, 1e-12);
}

TEST(Score, APointThatDidNotRunIsAnInfiniteErrorAndNoBias) {
  const Scores scores = score({point("a", 100, 101), point("b", 100, {}), point("c", 100, 103)}, {});
  const GroupScore& group = scores.groups[0];
  EXPECT_EQ(group.missed, 1U);
  EXPECT_NEAR(group.error, 0.03, 1e-12);
  EXPECT_TRUE(std::isinf(group.worst));
  EXPECT_NEAR(*group.bias, 0.02, 1e-12);
  EXPECT_FALSE(score({point("a", 100, {})}, {}).groups[0].bias.has_value());
  EXPECT_FALSE(score({point("a", 100, {})}, {}).classes[0].passes());
}

TEST(Score, AClassIsTheMedianOverItsGroupsAndNotOverItsPoints) {
  const Scores scores = score(
      {point("a", 100, 104, "memory", "A"), point("b", 100, 150, "memory", "B"), point("c", 100, 150, "memory", "B"),
       point("d", 100, 101, "memory", "C"), point("e", 100, 200, "layer", "D")},
      {});
  ASSERT_EQ(scores.classes.size(), 2U);
  EXPECT_EQ(scores.classes[0].groups, 3U);
  EXPECT_NEAR(scores.classes[0].error, 0.04, 1e-12);
  EXPECT_TRUE(scores.classes[0].passes());
  EXPECT_NEAR(scores.classes[1].error, 1.0, 1e-12);
  EXPECT_FALSE(scores.classes[1].passes());
  EXPECT_EQ(scores.all.points, 5U);
  EXPECT_NEAR(scores.all.error, (0.04 + 0.5) / 2, 1e-12);
  EXPECT_TRUE(scores.all.passes()) << "all classes together have no bound";
}

TEST(Score, RooflineFirstRunAndHeldOutPointsAreScoredApart) {
  std::vector<Measurement> points = {point("a", 100, 101), point("b", 100, 110), point("c", 100, 130)};
  points[0].roofline = 50;
  points[1].first = 300;
  points[0].fitted = true;
  const GroupScore group = score(points, {}).groups[0];
  EXPECT_NEAR(*group.roofline, 0.5, 1e-12);
  EXPECT_NEAR(*group.first, 2.0, 1e-12);
  EXPECT_EQ(group.first_points, 1U);
  EXPECT_NEAR(*group.fitted, 0.01, 1e-12);
  EXPECT_NEAR(*group.held_out, 0.20, 1e-12);
  const ClassScore of_class = score(points, {}).classes[0];
  EXPECT_EQ(of_class.fitted_points, 1U);
  EXPECT_NEAR(*of_class.held_out, 0.20, 1e-12);
}

TEST(Ladder, CountsThePairsWhoseMeasuredValuesDiffer) {
  // Measured 100, 50, 51 and 20: of six pairs all but 50 against 51 differ by more than 3 %.
  const std::vector<Measurement> points = {point("a", 100, 90), point("b", 50, 40), point("c", 51, 30),
                                           point("d", 20, 35)};
  const LadderScore score = score_ladder({"A", {"a", "b", "c", "d"}}, points);
  EXPECT_EQ(score.pairs, 5U);
  EXPECT_EQ(score.right, 4U) << "c was slower than d, predicted is the opposite";
  EXPECT_DOUBLE_EQ(*score.order(), 0.8);
}

TEST(Ladder, EqualPredictionsOfStepsThatDifferAreWrong) {
  EXPECT_EQ(score_ladder({"A", {"a", "b"}}, {point("a", 100, 7), point("b", 50, 7)}).right, 0U);
  EXPECT_EQ(score_ladder({"A", {"a", "b"}}, {point("a", 100, 7), point("b", 97.5, 7)}).pairs, 0U);
}

TEST(Ladder, RatiosAreThoseOfNeighbours) {
  // Steps of 0.5 and 0.5 were predicted as 0.4 and 1: errors of 20 % and 100 %.
  const std::vector<Measurement> points = {point("a", 100, 50), point("b", 50, 20), point("c", 25, 20)};
  const LadderScore score = score_ladder({"A", {"a", "b", "c"}}, points);
  ASSERT_EQ(score.ratio_errors.size(), 2U);
  EXPECT_NEAR(score.ratio_errors[0], 0.2, 1e-12);
  EXPECT_NEAR(score.ratio_errors[1], 1.0, 1e-12);
  EXPECT_NEAR(*score.ratio_error(), 0.6, 1e-12);
}

TEST(Ladder, AStepThatDidNotRunMakesItsPairsWrongAndItsRatiosInfinite) {
  const LadderScore score =
      score_ladder({"A", {"a", "b", "c"}}, {point("a", 100, 9), point("b", 50, {}), point("c", 25, 2)});
  EXPECT_EQ(score.pairs, 3U);
  EXPECT_EQ(score.right, 1U);
  EXPECT_TRUE(std::isinf(*score.ratio_error()));
}

TEST(Ladder, CountsForTheGroupOfItsFirstStepAndOnlyWithThePointsThatAreThere) {
  const std::vector<Measurement> points = {point("a", 100, 9, "memory", "A"), point("b", 50, 5, "memory", "B"),
                                           point("c", 25, 2, "memory", "B")};
  const Scores scores = score(points, {{"L", {"gone", "b", "c"}}, {"M", {"gone", "a"}}});
  EXPECT_EQ(scores.groups[0].ladder.pairs, 0U);
  EXPECT_EQ(scores.groups[1].ladder.pairs, 1U);
  EXPECT_EQ(scores.classes[0].ladder.right, 1U);
  EXPECT_EQ(scores.all.ladder.ratio_errors.size(), 1U);
}

}  // namespace
}  // namespace trnsim
