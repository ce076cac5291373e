// Values with units as users write them: `2.4GHz`, `725 GB/s`, `96GiB`, `0.7pJ`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trnsim {

/// What a value measures; decides which units are accepted.
enum class Dimension : std::uint8_t {
  kCount,      ///< whole number, unit column "count" (also "cycles", "elements"; the unit must be named in files)
  kFraction,   ///< 0..1 or as bounded, unit "1"
  kFrequency,  ///< Hz, kHz, MHz, GHz -> Hz
  kBandwidth,  ///< B/s, kB/s, MB/s, GB/s, TB/s (10^n), GiB/s -> B/s
  kCapacity,   ///< B, KiB, MiB, GiB, kB, MB, GB -> B
  kTime,       ///< ps, ns, us, ms, s -> ps
  kEnergy,     ///< pJ, nJ, fJ per action, unit may carry /MAC, /B, /op, /bit (bit: times 8 per byte) -> J
  kPower,      ///< mW, W, kW, MW -> W
  kPrice,      ///< USD/h
  kCompute,  ///< GFLOPS, TFLOPS, PFLOPS -> FLOP/s; printed totals only
  kWord,       ///< one of a list of words, unit empty
};

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

/// Splits `600GB/s` into number and unit, then as parse_value. A dimension other than count, fraction and word
/// needs its unit.
[[nodiscard]] Value parse_value_with_unit(Dimension dimension, std::string_view text,
                                          std::span<const std::string_view> words = {});

/// The units that `dimension` accepts, for messages and documentation: "Hz, kHz, MHz, GHz".
[[nodiscard]] std::string accepted_units(Dimension dimension);

/// The name in `candidates` nearest to `word` by edit distance, or empty if none is near.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace trnsim
