#include "models/neuroncore/clock_limiter.h"

#include <algorithm>
#include <cmath>

namespace trnsim {

void ClockLimiter::close_windows(Time now) {
  if (now < window_end_) return;
  const auto length = static_cast<double>(spec_.limiter_window.count());
  const double activity = static_cast<double>(busy_.count()) / length;
  if (activity > spec_.limiter_open) {
    limited_ = false;
    opened_ = std::min(opened_, window_end_);
  }
  if (activity < spec_.limiter_close) limited_ = true;
  busy_ = Time();
  window_end_ += spec_.limiter_window;
  if (now < window_end_) return;
  // Whole windows without any work have passed.
  limited_ = true;
  const std::int64_t passed = (now - window_end_).count() / spec_.limiter_window.count() + 1;
  window_end_ += spec_.limiter_window * passed;
}

Time ClockLimiter::run(Time start, Time full) {
  if (!spec_.limiter) return full;
  if (window_end_ == Time()) window_end_ = spec_.limiter_window;
  Time now = start;
  Time left = full;
  while (left > Time()) {
    close_windows(now);
    const Time room = window_end_ - now;
    const double rate = limited_ ? spec_.limiter_fraction : 1.0;
    const Time need(static_cast<std::int64_t>(std::ceil(static_cast<double>(left.count()) / rate)));
    const Time spent = std::min(room, need);
    busy_ += spent;
    now += spent;
    if (spent == need) break;
    left -= Time(static_cast<std::int64_t>(std::floor(static_cast<double>(spent.count()) * rate)));
    if (!limited_ && busy_ == spec_.limiter_window) {
      // A full window at full rate: so are all that follow until the work ends.
      const std::int64_t windows = left.count() / spec_.limiter_window.count();
      now += spec_.limiter_window * windows;
      left -= spec_.limiter_window * windows;
      window_end_ += spec_.limiter_window * windows;
    }
  }
  return now - start;
}

Time ClockLimiter::stretched(Time full) const {
  if (!limited_) return full;
  return Time(static_cast<std::int64_t>(std::ceil(static_cast<double>(full.count()) / spec_.limiter_fraction)));
}

}  // namespace trnsim
