#include "models/mechanism/units.h"

#include <gtest/gtest.h>

namespace trnsim {
namespace {

TEST(Time, ABillionCyclesAreRoundedOnceAndNotAddedUp) {
  EXPECT_EQ(duration(1'000'000'000, Hertz(2'400'000'000)), Time(416'666'666'667));
  EXPECT_EQ(duration(1'000'000'000, Hertz(1'400'000'000)), Time(714'285'714'286));
  EXPECT_EQ(duration(1'000'000'000, Hertz(2'800'000'000)), Time(357'142'857'143));
}

TEST(Time, APeriodThatIsNoWholePicosecondIsNotTruncated) {
  EXPECT_EQ(duration(1'000'000, Hertz(5'120'000'000)), Time(195'312'500));
}

TEST(Time, ATebibyteOnALinkNeitherWrapsNorTurnsNegative) {
  const Bytes tebibyte(std::uint64_t{1} << 40);
  EXPECT_EQ(duration(tebibyte, BytesPerSecond(50'000'000'000)), Time(21'990'232'555'520));
}

TEST(Time, TransfersRoundUpSoThatNothingIsFreeEarly) {
  EXPECT_EQ(duration(Bytes(1), BytesPerSecond(3'000'000'000'000)), Time(1));
  EXPECT_EQ(duration(Bytes(0), BytesPerSecond(1)), Time(0));
}

TEST(Time, AMillionHopLatenciesOfTenMicrosecondsAreTenSeconds) {
  Time sum;
  for (int hop = 0; hop < 1'000'000; ++hop) sum += Time(10'000'000);
  EXPECT_EQ(sum, Time(10 * kPicosecondsPerSecond));
}

}  // namespace
}  // namespace trnsim
