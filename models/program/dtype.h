// Number formats that the engines understand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trnsim {

enum class Dtype : std::uint8_t { kFp32, kBf16, kFp8, kMxfp8, kMxfp4 };
inline constexpr std::size_t kDtypeCount = 5;
inline constexpr std::array<std::string_view, kDtypeCount> kDtypeNames = {"fp32", "bf16", "fp8", "mxfp8", "mxfp4"};

[[nodiscard]] constexpr std::string_view name(Dtype dtype) {
  return kDtypeNames[static_cast<std::size_t>(dtype)];
}

/// Bits that one element occupies in memory. MX formats carry one 8-bit scale per group of 32
/// elements (OCP Microscaling Formats specification), hence 8.25 and 4.25 bits.
[[nodiscard]] constexpr std::uint64_t quarter_bits(Dtype dtype) {
  constexpr std::array<std::uint64_t, kDtypeCount> kQuarterBits = {128, 64, 32, 33, 17};
  return kQuarterBits[static_cast<std::size_t>(dtype)];
}

/// Bytes of `elements` values, rounded up to a whole byte.
[[nodiscard]] constexpr std::uint64_t storage_bytes(std::uint64_t elements, Dtype dtype) {
  return (elements * quarter_bits(dtype) + 31) / 32;
}

[[nodiscard]] constexpr bool is_microscaled(Dtype dtype) {
  return dtype == Dtype::kMxfp8 || dtype == Dtype::kMxfp4;
}

}  // namespace trnsim
