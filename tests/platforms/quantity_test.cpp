// Numbers and units as users write them.
#include "platforms/table/quantity.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>

namespace trnsim {
namespace {

std::string refusal(Dimension dimension, std::string_view number, std::string_view unit) {
  try {
    static_cast<void>(parse_value(dimension, number, unit));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Quantity, DecimalsBecomeWholeBaseUnitsExactly) {
  struct Case {
    Dimension dimension;
    const char* number;
    const char* unit;
    std::int64_t base;
  };
  constexpr std::array kCases = std::to_array<Case>({
      {Dimension::kFrequency, "2.4", "GHz", 2'400'000'000},
      {Dimension::kFrequency, "0.96", "GHz", 960'000'000},
      {Dimension::kFrequency, "1.12e3", "MHz", 1'120'000'000},
      {Dimension::kBandwidth, "725", "GB/s", 725'000'000'000},
      {Dimension::kBandwidth, "4.9", "TB/s", 4'900'000'000'000},
      {Dimension::kBandwidth, "192", "GiB/s", 206'158'430'208},
      {Dimension::kBandwidth, "1.225e3", "GB/s", 1'225'000'000'000},
      {Dimension::kCapacity, "24", "GiB", 25'769'803'776},
      {Dimension::kCapacity, "0.5", "KiB", 512},
      {Dimension::kCapacity, "96", "MB", 96'000'000},
      {Dimension::kTime, "314.5", "ns", 314'500},
      {Dimension::kTime, "0.001", "ns", 1},
      {Dimension::kTime, "1e-12", "s", 1},
      {Dimension::kTime, "3.413", "us", 3'413'000},
      {Dimension::kCount, "128", "count", 128},
      {Dimension::kCount, "1e2", "cycles", 100},
      {Dimension::kCount, "9223372036854775807", "count", 9'223'372'036'854'775'807},
  });
  for (const Case& c : kCases) {
    const Value value = parse_value(c.dimension, c.number, c.unit);
    EXPECT_EQ(value.integer, c.base) << c.number << c.unit;
    EXPECT_EQ(value.real, static_cast<double>(c.base)) << c.number << c.unit;
  }
}

TEST(Quantity, RealDimensionsConvertToSiUnits) {
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kEnergyPerMac, "0.753", "pJ/MAC").real, 0.753e-12);
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kEnergyPerByte, "7", "pJ/bit").real, 56e-12);
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kEnergyPerByte, "3.8", "pJ/B").real, 3.8e-12);
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kEnergyPerOperation, "2", "nJ/op").real, 2e-9);
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kPower, "0.5", "kW").real, 500);
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kPrice, "35.7608", "USD/h").real, 35.7608);
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kFraction, "75", "%").real, 0.75);
  EXPECT_DOUBLE_EQ(parse_value(Dimension::kCompute, "362.448", "PFLOPS").real, 362.448e15);
}

TEST(Quantity, BadNumbersAreRefusedWithWhatWouldBeRight) {
  struct Case {
    Dimension dimension;
    const char* number;
    const char* unit;
    const char* message;
  };
  constexpr std::array kCases = std::to_array<Case>({
      {Dimension::kFrequency, "", "GHz", "the number is missing; write a value"},
      {Dimension::kFrequency, "nan", "GHz", "'nan' is no number; write digits"},
      {Dimension::kFrequency, "inf", "GHz", "'inf' is no number; write digits"},
      {Dimension::kFrequency, "1e999", "GHz", "the number '1e999' is out of range; use an exponent"},
      {Dimension::kPower, "1e999", "W", "the number '1e999' is out of range; use an exponent"},
      {Dimension::kPower, "1e99999999999", "W", "the number '1e99999999999' is out of range; use an exponent"},
      {Dimension::kPower, "1e-999", "W", "the number '1e-999' is out of range; use an exponent"},
      {Dimension::kFrequency, "-1", "GHz", "-1 is negative; write a value of 0 or more"},
      {Dimension::kPower, "-0.5", "W", "-0.5 is negative; write a value of 0 or more"},
      {Dimension::kFrequency, "2,4", "GHz", "'2,4' is no number; write digits"},
      {Dimension::kFrequency, "0x10", "GHz", "'0x10' is no number; write digits"},
      {Dimension::kFrequency, "2.4GHz", "", "'2.4GHz' is no number; write digits"},
      {Dimension::kFrequency, "1.2.3", "GHz", "'1.2.3' is no number; write digits"},
      {Dimension::kFrequency, "1e", "GHz", "'1e' is no number; write digits"},
      {Dimension::kFrequency, ".", "GHz", "'.' is no number; write digits"},
      {Dimension::kPower, "+5", "W", "'+5' is no number; write digits"},
      {Dimension::kCount, "9223372036854775808", "count", "is too large; stay below 2^63"},
      {Dimension::kCount, "1e30", "count", "is too large; stay below 2^63"},
      {Dimension::kFrequency, "18446744073709551616", "GHz", "is too large; stay below 2^63"},
      {Dimension::kCount, "1234567890123456789012345678901", "count", "too many digits; use at most 30"},
      {Dimension::kTime, "0.1", "ps", "0.1 ps is not a whole number of base units"},
      {Dimension::kCount, "1.5", "cycles", "1.5 cycles is not a whole number of base units"},
      {Dimension::kCapacity, "0.3", "KiB", "0.3 KiB is not a whole number of base units"},
  });
  for (const Case& c : kCases) {
    EXPECT_NE(refusal(c.dimension, c.number, c.unit).find(c.message), std::string::npos)
        << "'" << c.number << "' gave: " << refusal(c.dimension, c.number, c.unit);
  }
}

TEST(Quantity, AMissingUnitListsTheAcceptedOnes) {
  EXPECT_EQ(refusal(Dimension::kFrequency, "2.4", ""), "the unit is missing; use one of Hz, kHz, MHz, GHz");
  EXPECT_EQ(refusal(Dimension::kTime, "5", ""), "the unit is missing; use one of ps, ns, us, ms, s");
  EXPECT_EQ(refusal(Dimension::kFraction, "0.5", ""), "the unit is missing; use one of 1, %");
}

TEST(Quantity, AnUnknownUnitSuggestsTheNearest) {
  EXPECT_EQ(refusal(Dimension::kFrequency, "2.4", "Ghz"), "unknown unit 'Ghz'; did you mean GHz? (Hz, kHz, MHz, GHz)");
  EXPECT_NE(refusal(Dimension::kBandwidth, "725", "Gb/s").find("did you mean GB/s?"), std::string::npos);
  EXPECT_NE(refusal(Dimension::kTime, "5", "parsec").find("use one of ps, ns, us, ms, s"), std::string::npos);
}

TEST(Quantity, AnEnergySaysWhichActionItCounts) {
  EXPECT_NE(refusal(Dimension::kEnergyPerMac, "0.7", "pJ/bit"), "");
  EXPECT_NE(refusal(Dimension::kEnergyPerByte, "0.7", "pJ/MAC"), "");
  EXPECT_NE(refusal(Dimension::kEnergyPerByte, "0.7", "pJ"), "");
}

TEST(Quantity, AWordMustBeOneOfTheList) {
  constexpr std::array<std::string_view, 2> kWords = {"lanes", "level_table"};
  EXPECT_EQ(parse_value(Dimension::kWord, "lanes", "", kWords).word, "lanes");
  EXPECT_THROW(static_cast<void>(parse_value(Dimension::kWord, "Lanes", "", kWords)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(parse_value(Dimension::kWord, "lanes", "GB/s", kWords)), std::invalid_argument);
}

TEST(Quantity, UnspacedValuesSplitIntoNumberAndUnit) {
  struct Case {
    const char* text;
    const char* number;
    const char* unit;
  };
  constexpr std::array kCases = std::to_array<Case>({{"600GB/s", "600", "GB/s"},
                                                     {"2.4GHz", "2.4", "GHz"},
                                                     {"1e3MHz", "1e3", "MHz"},
                                                     {"1e-3us", "1e-3", "us"},
                                                     {"1E+3B", "1E+3", "B"},
                                                     {"5", "5", ""},
                                                     {"80%", "80", "%"},
                                                     {"7eV", "7", "eV"},
                                                     {"nan", "nan", ""},
                                                     {"", "", ""}});
  for (const Case& c : kCases) {
    EXPECT_EQ(split_unit(c.text).number, c.number) << c.text;
    EXPECT_EQ(split_unit(c.text).unit, c.unit) << c.text;
  }
  EXPECT_EQ(parse_value_with_unit(Dimension::kBandwidth, "600GB/s").integer, 600'000'000'000);
  EXPECT_EQ(parse_value_with_unit(Dimension::kCount, "16").integer, 16);
  EXPECT_EQ(parse_value_with_unit(Dimension::kFraction, "0.5").real, 0.5);
  EXPECT_THROW(static_cast<void>(parse_value_with_unit(Dimension::kBandwidth, "600")), std::invalid_argument);
}

TEST(Quantity, ACountBesideLettersIsNoNumberAndListsNoUnits) {
  try {
    static_cast<void>(parse_value_with_unit(Dimension::kCount, "36x"));
    ADD_FAILURE() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "'36x' is no number; write digits alone, such as 36");
  }
}

TEST(Quantity, BoundsAreToldInReadableUnits) {
  EXPECT_EQ(with_unit(Dimension::kFrequency, 1e6), "1 MHz");
  EXPECT_EQ(with_unit(Dimension::kBandwidth, 2.5e12), "2.5 TB/s");
  EXPECT_EQ(with_unit(Dimension::kTime, 1500), "1.5 ns");
  EXPECT_EQ(with_unit(Dimension::kEnergyPerMac, 1e-14), "10 fJ/MAC");
  EXPECT_EQ(with_unit(Dimension::kCount, 64), "64");
  EXPECT_EQ(with_unit(Dimension::kTime, 0), "0");
}

}  // namespace
}  // namespace trnsim
