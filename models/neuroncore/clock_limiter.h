// The dI/dt limiter of the tensor engine.
#pragma once

#include <cstdint>

#include "models/mechanism/units.h"
#include "models/neuroncore/core_spec.h"

namespace trnsim {

/// Hardware: after idle the tensor engine runs at a fraction of its rate until it has been busy for a window; a window
/// of low activity re-arms the limit. Timing: windows of length W from time 0. Work done in a limited window proceeds
/// at `fraction` of full rate. At the end of a
///   window the limit opens if busy/W > open and closes if busy/W < close.
/// Source: Neuron Explorer documentation (50 % of peak, about 3 us); window and thresholds from kernel profiles.
/// Leaves out: the TDP-driven limit.
class ClockLimiter {
 public:
  explicit ClockLimiter(const TensorSpec& spec) : spec_(spec), limited_(spec.limiter) {}

  /// The engine starts `full` worth of full-rate work at `start`; returns how long it takes.
  /// REQUIRES: start not before the end of the previous work.
  Time run(Time start, Time full);
  /// How long `full` worth of array cycles take at the rate that now holds.
  [[nodiscard]] Time stretched(Time full) const;
  /// When the limit first opened; the end of time if it has not.
  [[nodiscard]] Time opened() const { return opened_; }

 private:
  void close_windows(Time now);

  const TensorSpec& spec_;
  bool limited_;
  Time window_end_;  ///< end of the current window; zero before the first use
  Time busy_;        ///< in the current window
  Time opened_ = Time(INT64_MAX);
};

}  // namespace trnsim
