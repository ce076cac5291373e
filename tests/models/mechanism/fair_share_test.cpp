#include "models/mechanism/fair_share.h"

#include <gtest/gtest.h>

#include <vector>

namespace trnsim {
namespace {

constexpr BytesPerSecond kOneBytePerPicosecond(1'000'000'000'000);
constexpr BytesPerSecond kNoCap(std::uint64_t{1} << 62);

class FairShareTest : public testing::Test {
 protected:
  void start(Time now, std::uint64_t bytes, std::uint64_t token, double weight = 1, BytesPerSecond cap = kNoCap,
             double turn = 1) {
    share_.start(now, {Bytes(bytes), cap, {Demand{resource_, weight}, Demand{}}, 1, turn}, token);
  }
  /// Completes everything; returns (time, token) pairs.
  std::vector<std::pair<Time, std::uint64_t>> finish() {
    std::vector<std::pair<Time, std::uint64_t>> ends;
    while (!share_.idle()) {
      const Time now = share_.next_completion();
      ends.emplace_back(now, share_.complete(now));
    }
    return ends;
  }

  FairShare share_;
  std::uint32_t resource_ = share_.add_resource(kOneBytePerPicosecond);
};

using Ends = std::vector<std::pair<Time, std::uint64_t>>;

TEST_F(FairShareTest, AFlowAloneTakesBytesOverBandwidth) {
  start(Time(100), 1000, 1);
  EXPECT_EQ(finish(), (Ends{{Time(1100), 1}}));
}

TEST_F(FairShareTest, TwoEqualFlowsTakeTwiceAsLong) {
  start(Time(0), 1000, 1);
  start(Time(0), 1000, 2);
  EXPECT_EQ(finish(), (Ends{{Time(2000), 1}, {Time(2000), 2}}));
}

TEST_F(FairShareTest, WhatAShortFlowLeavesTheLongOneGets) {
  // 0..1000: half each; then 1500 bytes of the long one are left and run at full rate: 1000 + 1500.
  start(Time(0), 500, 1);
  start(Time(0), 2000, 2);
  EXPECT_EQ(finish(), (Ends{{Time(1000), 1}, {Time(2500), 2}}));
}

TEST_F(FairShareTest, ALateFlowSlowsTheRestOfTheFirst) {
  // First 500 bytes alone; then both at half rate: 500 left each take 1000.
  start(Time(0), 1000, 1);
  start(Time(500), 500, 2);
  EXPECT_EQ(finish(), (Ends{{Time(1500), 1}, {Time(1500), 2}}));
}

TEST_F(FairShareTest, ACappedFlowLeavesTheRestToOthers) {
  start(Time(0), 1000, 1, 1, BytesPerSecond(250'000'000'000));
  start(Time(0), 3000, 2);
  EXPECT_EQ(finish(), (Ends{{Time(4000), 1}, {Time(4000), 2}}));
}

TEST_F(FairShareTest, AByteThatCostsTwiceTakesTwiceAsLong) {
  start(Time(0), 1000, 1, 2.0);
  EXPECT_EQ(finish(), (Ends{{Time(2000), 1}}));
}

TEST_F(FairShareTest, AFlowRunsAtThePaceOfItsSlowestResource) {
  const std::uint32_t slow = share_.add_resource(BytesPerSecond(500'000'000'000));
  share_.start(Time(0), {Bytes(1000), kNoCap, {Demand{resource_, 1}, Demand{slow, 1}}, 2}, 1);
  EXPECT_EQ(finish(), (Ends{{Time(2000), 1}}));
}

TEST_F(FairShareTest, AFlowHeldElsewhereFreesItsShareHere) {
  const std::uint32_t slow = share_.add_resource(BytesPerSecond(250'000'000'000));
  share_.start(Time(0), {Bytes(1000), kNoCap, {Demand{resource_, 1}, Demand{slow, 1}}, 2}, 1);
  start(Time(0), 3000, 2);
  EXPECT_EQ(finish(), (Ends{{Time(4000), 1}, {Time(4000), 2}}));
}

TEST_F(FairShareTest, RatesAreInTheRatioOfTurns) {
  // 0..1600: 16 of 17 and 1 of 17; then 1600 of the other are left.
  start(Time(0), 1600, 1, 1, kNoCap, 16);
  start(Time(0), 1700, 2, 1, kNoCap, 1);
  EXPECT_EQ(finish(), (Ends{{Time(1700), 1}, {Time(3300), 2}}));
}

TEST_F(FairShareTest, WhatALongTurnCannotUseTheOthersGet) {
  start(Time(0), 1000, 1, 1, BytesPerSecond(250'000'000'000), 1000);
  start(Time(0), 3000, 2);
  EXPECT_EQ(finish(), (Ends{{Time(4000), 1}, {Time(4000), 2}}));
}

TEST_F(FairShareTest, AFlowThatGetsNextToNothingEndsAfterTheOthers) {
  start(Time(0), 1'000'000, 1, 1, kNoCap, 1e9);
  start(Time(0), 1'000'000, 2, 1, kNoCap, 1);
  const Ends ends = finish();
  EXPECT_EQ(ends[0], (std::pair{Time(1'000'001), std::uint64_t{1}}));
  EXPECT_EQ(ends[1], (std::pair{Time(2'000'001), std::uint64_t{2}}));
}

TEST_F(FairShareTest, WorkIsConservedWhateverTheMix) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    start(Time(0), i * 997, i);
    total += i * 997;
  }
  const Ends ends = finish();
  EXPECT_GE(ends.back().first, Time(static_cast<std::int64_t>(total)));
  EXPECT_LE(ends.back().first, Time(static_cast<std::int64_t>(total) + 20));
}

}  // namespace
}  // namespace trnsim
