#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include "models/mechanism/units.h"
#include "platforms/table/quantity.h"
#include "results/row.h"
#include "sweeps/sweep_file.h"

namespace trnsim {
namespace {

constexpr std::size_t kMaxValues = 100'000;

/// digits / 10^places, exactly.
struct Decimal {
  std::int64_t digits = 0;
  int places = 0;
};

/// Brings `number` to `places` decimal places; false if it does not fit.
bool scale(Decimal& number, int places) {
  for (; number.places < places; ++number.places) {
    if (__builtin_mul_overflow(number.digits, 10, &number.digits)) return false;
  }
  return number.places == places;
}

/// `12`, `-0.5` or `1e3`, without trailing zeros behind the point; nothing if it is not such a number or too long.
std::optional<Decimal> decimal(std::string_view text) {
  Decimal number;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  bool behind_point = false;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.' && !behind_point) {
      behind_point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    if (__builtin_mul_overflow(number.digits, 10, &number.digits) ||
        __builtin_add_overflow(number.digits, text[i] - '0', &number.digits)) {
      return std::nullopt;
    }
    number.places += behind_point ? 1 : 0;
  }
  if (i == 0) return std::nullopt;
  if (i < text.size()) {
    std::string_view exponent_text = text.substr(i + 1);
    if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
    int exponent = 0;
    const auto [end, error] =
        std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
    if (error != std::errc() || end != exponent_text.data() + exponent_text.size()) return std::nullopt;
    if (exponent < -30 || exponent > 30) return std::nullopt;
    number.places -= exponent;
  }
  if (number.places < 0 && !scale(number, 0)) return std::nullopt;
  for (; number.places > 0 && number.digits % 10 == 0; --number.places) number.digits /= 10;
  if (negative) number.digits = -number.digits;
  return number;
}

std::string text_of(Decimal number) {
  for (; number.places > 0 && number.digits % 10 == 0; --number.places) number.digits /= 10;
  const bool negative = number.digits < 0;
  std::string text = std::to_string(negative ? -number.digits : number.digits);
  const auto places = static_cast<std::size_t>(number.places);
  if (places > 0) {
    if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
    text.insert(text.size() - places, ".");
  }
  return (negative ? "-" : "") + text;
}

struct Number {
  double value = 0;
  std::optional<Decimal> exact;
  std::string unit;
};

Number parse_number(const std::string& text, const std::string& cell) {
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error != std::errc() || !std::isfinite(number.value)) {
    throw std::invalid_argument("'" + text + "' in '" + cell +
                                "' is no number; write start:end:+step or start:end:*factor");
  }
  number.exact = decimal({text.data(), static_cast<std::size_t>(end - text.data())});
  number.unit = std::string(end, text.data() + text.size());
  return number;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void check_room(const std::vector<std::string>& values, const std::string& range) {
  if (values.size() < kMaxValues) return;
  throw std::invalid_argument("the range '" + range + "' has more than 100000 values; use a larger step");
}

/// The bound `number` * `ratio`, rounded down to the decimal places of `number`; false if it does not fit.
bool convert_down(Decimal& number, UnitRatio ratio) {
  const Wide product = static_cast<Wide>(number.digits) * ratio.numerator;
  Wide quotient = product / ratio.denominator;
  if (product % ratio.denominator < 0) --quotient;
  using Limits = std::numeric_limits<std::int64_t>;
  if (quotient < Limits::min() || quotient > Limits::max()) return false;
  number.digits = static_cast<std::int64_t>(quotient);
  return true;
}

/// The range by whole arithmetic, if its numbers and a factor allow that: no value is off by a rounding. `ratio`: the
/// unit of end in that of start.
std::optional<std::vector<std::string>> exact_range(const Number& start, const Number& end, const Number& step,
                                                    UnitRatio ratio, bool adds, const std::string& range) {
  if (!start.exact || !end.exact || !step.exact || (!adds && step.exact->places > 0)) return std::nullopt;
  Decimal value = *start.exact;
  Decimal last = *end.exact;
  Decimal change = *step.exact;
  const int places = std::max({value.places, last.places, adds ? change.places : 0});
  if (!scale(value, places) || !scale(last, places) || (adds && !scale(change, places))) return std::nullopt;
  if (!convert_down(last, ratio)) return std::nullopt;
  std::vector<std::string> values;
  bool beyond = false;
  while (!beyond && value.digits <= last.digits) {
    check_room(values, range);
    values.push_back(text_of(value) + start.unit);
    beyond = adds ? __builtin_add_overflow(value.digits, change.digits, &value.digits)
                  : __builtin_mul_overflow(value.digits, change.digits, &value.digits);
  }
  return values;
}

std::vector<std::string> expand_range(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3 || parts[2].size() < 2 || (parts[2][0] != '+' && parts[2][0] != '*')) {
    throw std::invalid_argument("'" + text + "' is no range; write start:end:+step or start:end:*factor");
  }
  const bool adds = parts[2][0] == '+';
  const Number start = parse_number(parts[0], text);
  Number end = parse_number(parts[1], text);
  const Number step = parse_number(parts[2].substr(1), text);
  const std::optional<UnitRatio> ratio = unit_ratio(end.unit, start.unit);
  if (!ratio || step.unit != (adds ? start.unit : "")) {
    throw std::invalid_argument("the units in '" + text +
                                "' differ; write start and end in units of one dimension, such as KiB and MiB, and " +
                                (adds ? "the step in that of start" : "the factor without one"));
  }
  end.value *= static_cast<double>(ratio->numerator) / static_cast<double>(ratio->denominator);
  if (adds ? !(step.value > 0) : !(step.value > 1)) {
    throw std::invalid_argument("the step of '" + text + "' never ends; use a step above 0 or a factor above 1");
  }
  if (start.value > end.value || (!adds && !(start.value > 0))) {
    throw std::invalid_argument("the range '" + text +
                                "' is empty; start must not exceed end, and a factor needs a start above 0");
  }
  if (const auto exact = exact_range(start, end, step, *ratio, adds, text)) return *exact;
  std::vector<std::string> values;
  for (std::size_t i = 0;; ++i) {
    const double n = static_cast<double>(i);
    const double value = adds ? start.value + n * step.value : start.value * std::pow(step.value, n);
    if (value > end.value * (1 + 1e-12)) return values;
    check_room(values, text);
    // Twelve digits are what a person writes; the rest is the error of repeated addition.
    double rounded = value;
    if (value != 0) {
      const double scale = std::pow(10.0, 11 - std::floor(std::log10(std::fabs(value))));
      rounded = std::round(value * scale) / scale;
    }
    values.push_back(format_number(rounded) + start.unit);
  }
}

/// Equal for texts of one number and unit: 1, 1.0 and 1e0.
std::string without_style(const std::string& text) {
  const auto [number, unit] = split_unit(text);
  const std::optional<Decimal> exact = decimal(number);
  return exact ? text_of(*exact) + std::string(unit) : text;
}

void refuse_duplicates(const std::vector<std::string>& values, const std::string& cell) {
  std::set<std::string> seen;
  for (const std::string& value : values) {
    if (seen.insert(without_style(value)).second) continue;
    throw std::invalid_argument("'" + cell + "' has the value " + value + " twice; keep one");
  }
}

}  // namespace

std::vector<std::string> expand_cell(const std::string& cell) {
  std::vector<std::string> values;
  for (const std::string& part : split(cell, '|')) {
    if (part.empty()) throw std::invalid_argument("an empty value in the list '" + cell + "'; remove the extra |");
    const bool is_range = part.find(':') != std::string::npos && part.find('/') == std::string::npos;
    const std::vector<std::string> expanded =
        is_range || (part.find(":+") != std::string::npos || part.find(":*") != std::string::npos)
            ? expand_range(part)
            : std::vector<std::string>{part};
    values.insert(values.end(), expanded.begin(), expanded.end());
  }
  refuse_duplicates(values, cell);
  return values;
}

}  // namespace trnsim
