#include <charconv>
#include <cmath>
#include <stdexcept>

#include "results/row.h"
#include "sweeps/sweep_file.h"

namespace trnsim {
namespace {

constexpr std::size_t kMaxValues = 100'000;

struct Number {
  double value = 0;
  std::string unit;
};

Number parse_number(const std::string& text, const std::string& cell) {
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error != std::errc() || !std::isfinite(number.value)) {
    throw std::invalid_argument("'" + text + "' in '" + cell +
                                "' is no number; write start:end:+step or start:end:*factor");
  }
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

std::vector<std::string> expand_range(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3 || parts[2].size() < 2 || (parts[2][0] != '+' && parts[2][0] != '*')) {
    throw std::invalid_argument("'" + text + "' is no range; write start:end:+step or start:end:*factor");
  }
  const bool adds = parts[2][0] == '+';
  const Number start = parse_number(parts[0], text);
  const Number end = parse_number(parts[1], text);
  const Number step = parse_number(parts[2].substr(1), text);
  if (start.unit != end.unit || (adds && step.unit != start.unit) || (!adds && !step.unit.empty())) {
    throw std::invalid_argument("the units in '" + text +
                                "' differ; write the same unit on start, end and step (a factor has none)");
  }
  if (adds ? !(step.value > 0) : !(step.value > 1)) {
    throw std::invalid_argument("the step of '" + text + "' never ends; use a step above 0 or a factor above 1");
  }
  if (start.value > end.value || (!adds && !(start.value > 0))) {
    throw std::invalid_argument("the range '" + text +
                                "' is empty; start must not exceed end, and a factor needs a start above 0");
  }
  std::vector<std::string> values;
  for (std::size_t i = 0;; ++i) {
    const double n = static_cast<double>(i);
    const double value = adds ? start.value + n * step.value : start.value * std::pow(step.value, n);
    if (value > end.value * (1 + 1e-12)) return values;
    if (values.size() == kMaxValues)
      throw std::invalid_argument("the range '" + text + "' has more than 100000 values; use a larger step");
    // Twelve digits are what a person writes; the rest is the error of repeated addition.
    double rounded = value;
    if (value != 0) {
      const double scale = std::pow(10.0, 11 - std::floor(std::log10(std::fabs(value))));
      rounded = std::round(value * scale) / scale;
    }
    values.push_back(format_number(rounded) + start.unit);
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
  return values;
}

}  // namespace trnsim
