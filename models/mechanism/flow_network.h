// The event loop of one shared-memory domain: a calendar of callbacks and the flows that share its resources.
#pragma once

#include <cstdint>
#include <functional>

#include "models/mechanism/calendar.h"
#include "models/mechanism/fair_share.h"

namespace trnsim {

/// Something that acts when its time comes. `argument` is what it asked to be given back.
class EventTarget {
 public:
  virtual void on_event(Time now, std::uint64_t argument) = 0;

 protected:
  ~EventTarget() = default;
};

/// Runs timed events and flow completions of one domain in time order. The owner (a SystemC module) calls
/// run(now) whenever next_time() has come; `rearm` tells it that next_time() may have moved forward.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::function<void()> rearm) : rearm_(std::move(rearm)) {}

  std::uint32_t add_resource(BytesPerSecond rate) { return shares_.add_resource(rate); }
  std::uint32_t add_resource(const std::array<BytesPerSecond, kUseKindSets>& by_kinds) {
    return shares_.add_resource(by_kinds);
  }

  /// Calls target.on_event(time, argument). `order` sorts events of equal time (see Calendar::post).
  void at(Time time, std::uint64_t order, EventTarget& target, std::uint64_t argument);

  /// Starts a flow now; target.on_event(end, argument) when its last byte has passed.
  void start_flow(Time now, const FlowDemand& demand, EventTarget& target, std::uint64_t argument);

  [[nodiscard]] bool idle() const { return events_.empty() && shares_.idle(); }
  /// REQUIRES: not idle().
  [[nodiscard]] Time next_time() const;
  /// Handles everything due at `now`. Flow ends come before events of the same time.
  void run(Time now);

 private:
  struct Call {
    EventTarget* target = nullptr;
    std::uint64_t argument = 0;
  };

  std::function<void()> rearm_;
  Calendar<Call> events_;
  FairShare shares_;
  std::vector<Call> flow_calls_;  ///< by flow token
  std::vector<std::uint32_t> free_tokens_;
  bool running_ = false;
};

}  // namespace trnsim
