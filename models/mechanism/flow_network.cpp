#include "models/mechanism/flow_network.h"

#include <algorithm>

namespace trnsim {

void FlowNetwork::at(Time time, std::uint64_t order, EventTarget& target, std::uint64_t argument) {
  events_.post(time, order, {&target, argument});
  if (!running_) rearm_();
}

void FlowNetwork::start_flow(Time now, const FlowDemand& demand, EventTarget& target, std::uint64_t argument) {
  if (free_tokens_.empty()) {
    free_tokens_.push_back(static_cast<std::uint32_t>(flow_calls_.size()));
    flow_calls_.emplace_back();
  }
  const std::uint32_t token = free_tokens_.back();
  free_tokens_.pop_back();
  flow_calls_[token] = {&target, argument};
  shares_.start(now, demand, token);
  if (!running_) rearm_();
}

Time FlowNetwork::next_time() const {
  if (events_.empty()) return shares_.next_completion();
  if (shares_.idle()) return events_.next_time();
  return std::min(events_.next_time(), shares_.next_completion());
}

void FlowNetwork::run(Time now) {
  running_ = true;
  while (!idle() && next_time() <= now) {
    if (!shares_.idle() && shares_.next_completion() <= now) {
      const auto token = static_cast<std::uint32_t>(shares_.complete(now));
      const Call call = flow_calls_[token];
      free_tokens_.push_back(token);
      call.target->on_event(now, call.argument);
    } else {
      const Call call = events_.pop().payload;
      call.target->on_event(now, call.argument);
    }
  }
  running_ = false;
}

}  // namespace trnsim
