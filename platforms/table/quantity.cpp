#include "platforms/table/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/mechanism/units.h"
#include "platforms/table/nearest.h"

namespace trnsim {
namespace {

/// A unit is numerator / denominator base units. Base units are small enough that all common values are whole.
struct Unit {
  Dimension dimension;
  std::string_view name;
  std::int64_t numerator;
  std::int64_t denominator;
};

constexpr std::int64_t kKi = 1024;
constexpr std::array kUnits = std::to_array<Unit>({
    {Dimension::kCount, "count", 1, 1},
    {Dimension::kCount, "cycles", 1, 1},
    {Dimension::kCount, "elements", 1, 1},
    {Dimension::kCount, "elements/cycle", 1, 1},
    {Dimension::kCount, "cycles/element", 1, 1},
    {Dimension::kCount, "rows", 1, 1},
    {Dimension::kCount, "tokens", 1, 1},
    {Dimension::kFraction, "1", 1, 1},
    {Dimension::kFraction, "%", 1, 100},
    {Dimension::kFrequency, "Hz", 1, 1},
    {Dimension::kFrequency, "kHz", 1'000, 1},
    {Dimension::kFrequency, "MHz", 1'000'000, 1},
    {Dimension::kFrequency, "GHz", 1'000'000'000, 1},
    {Dimension::kBandwidth, "B/s", 1, 1},
    {Dimension::kBandwidth, "kB/s", 1'000, 1},
    {Dimension::kBandwidth, "MB/s", 1'000'000, 1},
    {Dimension::kBandwidth, "GB/s", 1'000'000'000, 1},
    {Dimension::kBandwidth, "TB/s", 1'000'000'000'000, 1},
    {Dimension::kBandwidth, "GiB/s", kKi* kKi* kKi, 1},
    {Dimension::kBandwidth, "TiB/s", kKi* kKi* kKi* kKi, 1},
    {Dimension::kCapacity, "B", 1, 1},
    {Dimension::kCapacity, "kB", 1'000, 1},
    {Dimension::kCapacity, "MB", 1'000'000, 1},
    {Dimension::kCapacity, "GB", 1'000'000'000, 1},
    {Dimension::kCapacity, "TB", 1'000'000'000'000, 1},
    {Dimension::kCapacity, "KiB", kKi, 1},
    {Dimension::kCapacity, "MiB", kKi* kKi, 1},
    {Dimension::kCapacity, "GiB", kKi* kKi* kKi, 1},
    {Dimension::kCapacity, "TiB", kKi* kKi* kKi* kKi, 1},
    {Dimension::kTime, "ps", 1, 1},
    {Dimension::kTime, "ns", 1'000, 1},
    {Dimension::kTime, "us", 1'000'000, 1},
    {Dimension::kTime, "ms", 1'000'000'000, 1},
    {Dimension::kTime, "s", kPicosecondsPerSecond, 1},
    {Dimension::kEnergyPerMac, "fJ/MAC", 1, 1'000'000'000'000'000},
    {Dimension::kEnergyPerMac, "pJ/MAC", 1, 1'000'000'000'000},
    {Dimension::kEnergyPerMac, "nJ/MAC", 1, 1'000'000'000},
    {Dimension::kEnergyPerByte, "fJ/B", 1, 1'000'000'000'000'000},
    {Dimension::kEnergyPerByte, "pJ/B", 1, 1'000'000'000'000},
    {Dimension::kEnergyPerByte, "nJ/B", 1, 1'000'000'000},
    {Dimension::kEnergyPerByte, "fJ/bit", 8, 1'000'000'000'000'000},
    {Dimension::kEnergyPerByte, "pJ/bit", 8, 1'000'000'000'000},
    {Dimension::kEnergyPerByte, "nJ/bit", 8, 1'000'000'000},
    {Dimension::kEnergyPerOperation, "fJ/op", 1, 1'000'000'000'000'000},
    {Dimension::kEnergyPerOperation, "pJ/op", 1, 1'000'000'000'000},
    {Dimension::kEnergyPerOperation, "nJ/op", 1, 1'000'000'000},
    {Dimension::kPower, "mW", 1, 1'000},
    {Dimension::kPower, "W", 1, 1},
    {Dimension::kPower, "kW", 1'000, 1},
    {Dimension::kPower, "MW", 1'000'000, 1},
    {Dimension::kPrice, "USD/h", 1, 1},
    {Dimension::kCompute, "GFLOPS", 1'000'000'000, 1},
    {Dimension::kCompute, "TFLOPS", 1'000'000'000'000, 1},
    {Dimension::kCompute, "PFLOPS", 1'000'000'000'000'000, 1},
});

bool is_whole(Dimension dimension) {
  return dimension == Dimension::kCount || dimension == Dimension::kFrequency || dimension == Dimension::kBandwidth ||
         dimension == Dimension::kCapacity || dimension == Dimension::kTime;
}

[[noreturn]] void refuse(const std::string& wrong, const std::string& right) {
  throw std::invalid_argument(wrong + "; " + right);
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// `number` if it is one, to show how it should have been written.
std::string example(std::string_view number) {
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? std::string(number) : "36";
}

const Unit& find_unit(Dimension dimension, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Unit& unit : kUnits) {
    if (unit.dimension != dimension) continue;
    if (unit.name == name) return unit;
    names.push_back(unit.name);
  }
  if (name.empty()) refuse("the unit is missing", "use one of " + accepted_units(dimension));
  const std::string near = nearest(name, names);
  refuse("unknown unit " + quoted(name), near.empty()
                                             ? "use one of " + accepted_units(dimension)
                                             : "did you mean " + near + "? (" + accepted_units(dimension) + ")");
}

constexpr int kExponentLow = -60;
constexpr int kExponentHigh = 30;

/// Not KiB, GiB/s, pJ/bit or %: the units in which bounds are told.
bool is_decimal(const Unit& unit) {
  return unit.name.find('i') == std::string_view::npos && unit.name != "%";
}

/// A decimal number as digits * 10^-scale, so that whole results are exact.
struct Decimal {
  Wide digits = 0;
  int scale = 0;
};

Decimal parse_decimal(std::string_view text) {
  Decimal decimal;
  std::size_t i = 0;
  std::size_t digit_count = 0;
  bool point = false;
  for (; i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    if (++digit_count > 30) refuse("the number " + quoted(text) + " has too many digits", "use at most 30");
    decimal.digits = decimal.digits * 10 + (text[i] - '0');
    decimal.scale += point ? 1 : 0;
  }
  if (digit_count == 0) refuse(quoted(text) + " is no number", "write digits, such as 2.4 or 1e9");
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    int exponent = 0;
    const char* begin = text.data() + i + 1;
    if (begin < text.data() + text.size() && *begin == '+') ++begin;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), exponent);
    if (error == std::errc::result_out_of_range)
      exponent = kExponentHigh + 1;
    else if (error != std::errc() || end != text.data() + text.size()) {
      refuse(quoted(text) + " is no number", "write digits, such as 2.4 or 1e9");
    }
    if (exponent > kExponentHigh || exponent < kExponentLow) {
      refuse("the number " + quoted(text) + " is out of range",
             "use an exponent from " + std::to_string(kExponentLow) + " to " + std::to_string(kExponentHigh));
    }
    decimal.scale -= exponent;
    i = text.size();
  }
  if (i != text.size()) refuse(quoted(text) + " is no number", "write digits, such as 2.4 or 1e9");
  return decimal;
}

std::int64_t whole_value(std::string_view number, const Decimal& decimal, const Unit& unit) {
  Wide value = decimal.digits;
  const Wide limit = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  const auto too_large = [&] {
    refuse("the number " + quoted(number) + " is too large", "stay below 2^63 base units");
  };
  if (value != 0 && value > (limit << 60) / unit.numerator) too_large();
  value *= unit.numerator;
  int scale = decimal.scale;
  for (; scale < 0; ++scale) {
    if (value > limit) too_large();
    value *= 10;
  }
  for (; scale > 0; --scale) {
    if (value % 10 != 0) {
      refuse(std::string(number) + " " + std::string(unit.name) + " is not a whole number of base units",
             "use a value that is (times are whole picoseconds, rates whole bytes per second)");
    }
    value /= 10;
  }
  if (value > limit) too_large();
  return static_cast<std::int64_t>(value);
}

}  // namespace

Value parse_value(Dimension dimension, std::string_view number, std::string_view unit_name,
                  std::span<const std::string_view> words) {
  Value value;
  if (dimension == Dimension::kWord) {
    if (std::find(words.begin(), words.end(), number) == words.end()) {
      std::string list;
      for (std::string_view word : words) list += (list.empty() ? "" : ", ") + std::string(word);
      const std::string near = nearest(number, words);
      refuse(quoted(number) + " is no possible value",
             (near.empty() ? "" : "did you mean " + near + "? ") + ("use one of " + list));
    }
    if (!unit_name.empty()) refuse("a word has no unit", "leave the unit empty");
    value.word = std::string(number);
    return value;
  }
  if (dimension == Dimension::kFile) {
    if (number.empty()) refuse("the file is missing", "write its path");
    if (!unit_name.empty()) refuse("a file has no unit", "leave the unit empty");
    value.word = std::string(number);
    return value;
  }
  if (number.empty()) refuse("the number is missing", "write a value");
  if (number.front() == '-') refuse(std::string(number) + " is negative", "write a value of 0 or more");
  const Decimal decimal = parse_decimal(number);
  const Unit& unit = find_unit(dimension, unit_name);
  if (is_whole(dimension)) {
    value.integer = whole_value(number, decimal, unit);
    value.real = static_cast<double>(value.integer);
    return value;
  }
  double real = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), real);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(real)) {
    refuse("the number " + quoted(number) + " is out of range", "use a finite value");
  }
  value.real = real * static_cast<double>(unit.numerator) / static_cast<double>(unit.denominator);
  return value;
}

NumberWithUnit split_unit(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  std::size_t end = std::min(text.find_first_not_of("0123456789.+-"), text.size());
  const bool exponent = end > 0 && end < text.size() && (text[end] == 'e' || text[end] == 'E');
  const std::size_t sign = exponent && end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 1 : 0;
  if (exponent && end + 1 + sign < text.size() && kDigits.find(text[end + 1 + sign]) != std::string_view::npos) {
    end = std::min(text.find_first_not_of(kDigits, end + 1 + sign), text.size());
  }
  if (end == 0) end = text.size();
  return {text.substr(0, end), text.substr(end)};
}

Value parse_value_with_unit(Dimension dimension, std::string_view text, std::span<const std::string_view> words) {
  if (is_text(dimension)) return parse_value(dimension, text, "", words);
  auto [number, unit] = split_unit(text);
  if (dimension == Dimension::kCount) {
    const bool known = std::any_of(kUnits.begin(), kUnits.end(), [&, name = unit](const Unit& u) {
      return u.dimension == dimension && u.name == name;
    });
    if (!unit.empty() && !known)
      refuse(quoted(text) + " is no number", "write digits alone, such as " + example(number));
    if (unit.empty()) unit = "count";
  }
  if (unit.empty() && dimension == Dimension::kFraction) unit = "1";
  return parse_value(dimension, number, unit, words);
}

std::optional<UnitRatio> unit_ratio(std::string_view from, std::string_view to) {
  if (from == to) return UnitRatio{};
  for (const Unit& a : kUnits) {
    if (a.name != from || a.dimension == Dimension::kCount) continue;
    for (const Unit& b : kUnits) {
      if (b.name != to || b.dimension != a.dimension) continue;
      return UnitRatio{a.numerator * b.denominator, a.denominator * b.numerator};
    }
  }
  return std::nullopt;
}

std::string accepted_units(Dimension dimension) {
  std::string list;
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension) list += (list.empty() ? "" : ", ") + std::string(unit.name);
  }
  return list;
}

std::string with_unit(Dimension dimension, double base) {
  if (base == 0) return "0";
  const Unit* best = nullptr;
  for (const Unit& unit : kUnits) {
    if (unit.dimension != dimension) continue;
    const bool fits = static_cast<double>(unit.numerator) <= base * static_cast<double>(unit.denominator);
    if (best == nullptr || (fits && is_decimal(unit))) best = &unit;
  }
  std::array<char, 32> text{};
  const double scaled =
      best == nullptr ? base : base * static_cast<double>(best->denominator) / static_cast<double>(best->numerator);
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), scaled, std::chars_format::general, 6);
  std::string result(text.data(), end);
  if (best != nullptr && dimension != Dimension::kCount && dimension != Dimension::kFraction)
    result += " " + std::string(best->name);
  return result;
}

}  // namespace trnsim
