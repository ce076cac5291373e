#include "results/pareto.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trnsim {
namespace {

TEST(ParetoFront, AtInteractivityXItIsTheBestPointWithAtLeastX) {
  const ParetoFront front({{10, 100, 0}, {50, 60, 1}, {20, 50, 2}, {90, 5, 3}});
  ASSERT_EQ(front.corners().size(), 3U);  // (20, 50) lies behind (50, 60)
  EXPECT_EQ(front.at(0)->index, 0U);
  EXPECT_EQ(front.at(10)->index, 0U);
  EXPECT_EQ(front.at(10.001)->index, 1U);  // a step, not 99.99
  EXPECT_EQ(front.at(50)->index, 1U);
  EXPECT_EQ(front.at(90)->index, 3U);
}

TEST(ParetoFront, IsEmptyBeyondItsLastPoint) {
  EXPECT_FALSE(ParetoFront({{10, 100, 0}}).at(10.5).has_value());
  EXPECT_FALSE(ParetoFront().at(0).has_value());
}

TEST(ParetoFront, OfEqualPointsTheFirstStays) {
  const ParetoFront front({{10, 100, 7}, {10, 100, 3}, {10, 90, 1}, {5, 100, 0}});
  ASSERT_EQ(front.corners().size(), 1U);
  EXPECT_EQ(front.corners()[0].index, 3U);
}

TEST(ParetoFront, LeavesOutWhatIsNoNumber) {
  EXPECT_TRUE(ParetoFront({{NAN, 1, 0}, {1, NAN, 1}, {INFINITY, 1, 2}}).corners().empty());
}

TEST(Ratios, StandAtEveryCornerOfEitherFront) {
  const auto table =
      ratios(ParetoFront({{10, 100, 0}, {40, 50, 1}}), ParetoFront({{20, 400, 0}, {40, 200, 1}, {80, 10, 2}}));
  ASSERT_EQ(table.size(), 4U);  // 10, 20, 40, 80
  EXPECT_DOUBLE_EQ(table[0].ratio.value(), 4);
  EXPECT_DOUBLE_EQ(table[1].ratio.value(), 8);
  EXPECT_DOUBLE_EQ(table[2].ratio.value(), 4);
  EXPECT_FALSE(table[3].ratio.has_value());  // the base has no point at 80
  EXPECT_EQ(table[3].candidate->y, 10);
}

TEST(Ratios, OfAZeroBaseAreEmpty) {
  EXPECT_FALSE(ratios(ParetoFront({{10, 0, 0}}), ParetoFront({{10, 5, 0}}))[0].ratio.has_value());
}

}  // namespace
}  // namespace trnsim
