#include "models/neuroncore/clock_limiter.h"

#include <gtest/gtest.h>

namespace trnsim {
namespace {

constexpr Time kWindow(1000);

TensorSpec limited() {
  TensorSpec spec;
  spec.limiter = true;
  spec.limiter_window = kWindow;
  spec.limiter_open = 0.9;
  spec.limiter_close = 0.5;
  spec.limiter_fraction = 0.5;
  return spec;
}

TEST(ClockLimiter, TheFirstWindowRunsAtHalfRateAndTheRestAtFull) {
  const TensorSpec spec = limited();
  ClockLimiter limiter(spec);
  // 500 of 10,000 are done in the first window; the other 9,500 at full rate.
  EXPECT_EQ(limiter.run(Time(0), Time(10'000)), Time(10'500));
}

TEST(ClockLimiter, IdleClosesTheGateAgain) {
  const TensorSpec spec = limited();
  ClockLimiter limiter(spec);
  limiter.run(Time(0), Time(10'000));
  EXPECT_EQ(limiter.run(Time(50'000), Time(100)), Time(200));
}

TEST(ClockLimiter, SparseWorkStaysAtHalfRate) {
  const TensorSpec spec = limited();
  ClockLimiter limiter(spec);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limiter.run(Time(i * 1000), Time(100)), Time(200));
}

TEST(ClockLimiter, WorkInPiecesTakesAsLongAsInOne) {
  const TensorSpec spec = limited();
  ClockLimiter pieces(spec);
  ClockLimiter whole(spec);
  Time now;
  for (int i = 0; i < 1000; ++i) now += pieces.run(now, Time(50));
  EXPECT_NEAR(static_cast<double>(now.count()), static_cast<double>(whole.run(Time(0), Time(50'000)).count()), 50);
}

TEST(ClockLimiter, WithoutLimiterWorkTakesItsTime) {
  TensorSpec spec = limited();
  spec.limiter = false;
  ClockLimiter limiter(spec);
  EXPECT_EQ(limiter.run(Time(0), Time(123)), Time(123));
}

}  // namespace
}  // namespace trnsim
