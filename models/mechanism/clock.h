// The bridge between a module's own calendar and the SystemC kernel.
#pragma once

#include <limits>
#include <systemc>

#include "models/mechanism/units.h"

namespace trnsim {

[[nodiscard]] inline Time kernel_time() {
  return Time(static_cast<std::int64_t>(sc_core::sc_time_stamp().value()));
}

/// The running process is the only one to act up to this time, included: it may do what it has planned until then at
/// once, and nobody sees a difference.
[[nodiscard]] inline Time quiet_until() {
  if (sc_core::sc_pending_activity_at_current_time()) return kernel_time();
  if (!sc_core::sc_pending_activity_at_future_time()) return Time(std::numeric_limits<std::int64_t>::max());
  const auto gap = static_cast<std::int64_t>(sc_core::sc_time_to_pending_activity().value());
  return kernel_time() + Time(gap - 1);
}

/// One sc_event, armed for the earliest time a module has something to do. The kernel's resolution is 1 ps, so
/// its ticks are our picoseconds. Only ever moved forward: a later time never replaces an earlier one.
class Alarm {
 public:
  [[nodiscard]] const sc_core::sc_event& event() const { return event_; }

  /// Makes the event fire at `time` at the latest. REQUIRES: time not in the past.
  void arm(Time time) {
    if (armed_ && time >= armed_for_) return;
    armed_ = true;
    armed_for_ = time;
    const Time delay = time - kernel_time();
    event_.notify(sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(delay.count())));
  }

  /// The owner's method has started; the event is spent.
  void fired() { armed_ = false; }

 private:
  sc_core::sc_event event_;
  Time armed_for_;
  bool armed_ = false;
};

}  // namespace trnsim
