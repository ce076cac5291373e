// Values with units as users write them: `2.4GHz`, `725 GB/s`, `96GiB`, `0.7pJ/MAC`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trnsim {

/// What a value measures; decides which units are accepted.
enum class Dimension : std::uint8_t {
  kCount,               ///< whole number: count, cycles, elements, rows, ...; the unit must be named in files
  kFraction,            ///< bounded real number, 1 or %
  kFrequency,           ///< Hz, kHz, MHz, GHz -> Hz
  kBandwidth,           ///< B/s, kB/s, MB/s, GB/s, TB/s (10^n), GiB/s, TiB/s (2^n) -> B/s
  kCapacity,            ///< B, kB, MB, GB, TB (10^n), KiB, MiB, GiB, TiB (2^n) -> B
  kTime,                ///< ps, ns, us, ms, s -> ps
  kEnergyPerMac,        ///< fJ/MAC, pJ/MAC, nJ/MAC -> J
  kEnergyPerByte,       ///< pJ/B, pJ/bit (times 8), ... -> J per byte
  kEnergyPerOperation,  ///< fJ/op, pJ/op, nJ/op -> J
  kPower,               ///< mW, W, kW, MW -> W
  kPrice,               ///< USD/h
  kCompute,             ///< GFLOPS, TFLOPS, PFLOPS -> FLOP/s; printed totals only
  kWord,                ///< one of a list of words, unit empty
  kFile,                ///< path of a file, unit empty
};

/// Whether values of `dimension` are text: no unit, no bounds.
[[nodiscard]] constexpr bool is_text(Dimension dimension) {
  return dimension == Dimension::kWord || dimension == Dimension::kFile;
}

/// A parsed value in base units. Whole-number dimensions use `integer`, the others `real`.
struct Value {
  std::int64_t integer = 0;
  double real = 0;
  std::string word;
};

/// Converts `number` with `unit`. Whole dimensions (count, frequency, bandwidth, capacity, time) must come out
/// whole after conversion (0.5 ps is refused). Throws std::invalid_argument with "what is wrong; what would be
/// right", without a place: the caller knows the file, line and column.
[[nodiscard]] Value parse_value(Dimension dimension, std::string_view number, std::string_view unit,
                                std::span<const std::string_view> words = {});

/// `600GB/s` as 600 and GB/s, `1.5e3` as 1.5e3 and nothing. A text that does not begin with a number is all number, so
/// that converting it says so. Views into `text`.
struct NumberWithUnit {
  std::string_view number;
  std::string_view unit;
};
[[nodiscard]] NumberWithUnit split_unit(std::string_view text);

/// Splits `600GB/s` into number and unit, then as parse_value. A dimension other than count, fraction and word
/// needs its unit.
[[nodiscard]] Value parse_value_with_unit(Dimension dimension, std::string_view text,
                                          std::span<const std::string_view> words = {});

/// One unit in another: numerator / denominator.
struct UnitRatio {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
};

/// What one `from` is in `to`: 1024 for MiB in KiB. Nothing if no dimension has both; counts are not converted, a row
/// is no token.
[[nodiscard]] std::optional<UnitRatio> unit_ratio(std::string_view from, std::string_view to);

/// The units that `dimension` accepts, for messages and documentation: "Hz, kHz, MHz, GHz".
[[nodiscard]] std::string accepted_units(Dimension dimension);

/// `base` base units in the largest decimal unit that keeps it at 1 or more, for messages: "1 MHz".
[[nodiscard]] std::string with_unit(Dimension dimension, double base);

}  // namespace trnsim
