// Physical quantities as distinct types, so that bytes are never added to seconds.
//
// Time is integer picoseconds. Durations come from whole cycles or whole bytes and are rounded once;
// periods are never summed (a 2.4 GHz period is 416.67 ps: adding it up drifts by 0.08 %).
#pragma once

#include <compare>
#include <cstdint>

namespace trnsim {

/// A number of `Tag` units held in `Rep`. Only like quantities add and compare.
template <class Tag, class Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep count) : count_(count) {}

  [[nodiscard]] constexpr Rep count() const { return count_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep n) { return Quantity(a.count_ * n); }
  friend constexpr Quantity operator*(Rep n, Quantity a) { return a * n; }

 private:
  Rep count_{};
};

using Time = Quantity<struct PicosecondTag, std::int64_t>;                 ///< ps, a point or a duration
using Bytes = Quantity<struct ByteTag, std::uint64_t>;                     ///< B
using Hertz = Quantity<struct HertzTag, std::uint64_t>;                    ///< 1/s
using BytesPerSecond = Quantity<struct BytesPerSecondTag, std::uint64_t>;  ///< B/s
using Joules = Quantity<struct JouleTag, double>;                          ///< J
using Watts = Quantity<struct WattTag, double>;                            ///< W
using UsdPerHour = Quantity<struct UsdPerHourTag, double>;                 ///< USD/h

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

__extension__ using Wide = __int128;  ///< exact products of two 64-bit counts

/// `cycles` of a clock, rounded once to the nearest picosecond. REQUIRES: clock > 0.
[[nodiscard]] constexpr Time duration(std::uint64_t cycles, Hertz clock) {
  const Wide scaled = static_cast<Wide>(cycles) * kPicosecondsPerSecond;
  const Wide half = static_cast<Wide>(clock.count() / 2);
  return Time(static_cast<std::int64_t>((scaled + half) / static_cast<Wide>(clock.count())));
}

/// Time to move `bytes` at `rate`, rounded up: a resource is never free early. REQUIRES: rate > 0.
[[nodiscard]] constexpr Time duration(Bytes bytes, BytesPerSecond rate) {
  const Wide scaled = static_cast<Wide>(bytes.count()) * kPicosecondsPerSecond;
  const Wide divisor = static_cast<Wide>(rate.count());
  return Time(static_cast<std::int64_t>((scaled + divisor - 1) / divisor));
}

[[nodiscard]] constexpr double seconds(Time t) {
  return static_cast<double>(t.count()) / static_cast<double>(kPicosecondsPerSecond);
}
[[nodiscard]] constexpr double microseconds(Time t) {
  return static_cast<double>(t.count()) / 1e6;
}

/// ceil(a / b) for counts. REQUIRES: b > 0.
[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return a / b + static_cast<std::uint64_t>(a % b != 0);
}

}  // namespace trnsim
