#include "models/memory/hbm_stack.h"

#include <algorithm>
#include <cmath>

namespace trnsim {
namespace {

BytesPerSecond part(BytesPerSecond bandwidth, double fraction) {
  if (bandwidth == kUnlimited) return bandwidth;
  return BytesPerSecond(static_cast<std::uint64_t>(std::llround(static_cast<double>(bandwidth.count()) * fraction)));
}

/// By the kinds of use that are going on.
std::array<BytesPerSecond, kUseKindSets> rates_of(const HbmSpec& spec) {
  std::array<BytesPerSecond, kUseKindSets> rates{};
  rates[kPlainUse] = spec.bandwidth;
  rates[kReading] = part(spec.bandwidth, spec.read_fraction);
  rates[kWriting] = part(spec.bandwidth, spec.write_fraction);
  rates[kReading | kWriting] = part(spec.bandwidth, spec.mixed_fraction);
  return rates;
}

constexpr std::uint64_t head_of(std::uint32_t slot) {
  return std::uint64_t{slot} << 1;
}
constexpr std::uint64_t write_of(std::uint32_t slot) {
  return std::uint64_t{slot} << 1 | 1;
}

}  // namespace

HbmStack::HbmStack(sc_core::sc_module_name name, const HbmSpec& spec, Time notify)
    : sc_core::sc_module(name),
      spec_(spec),
      notify_(notify),
      network_([this] { rearm(); }),
      bandwidth_(network_.add_resource(rates_of(spec))) {
  SC_METHOD(advance);
  sensitive << alarm_.event();
  dont_initialize();
}

StackShare HbmStack::share() {
  return {&network_, bandwidth_};
}

void HbmStack::rearm() {
  if (!network_.idle()) alarm_.arm(std::max(network_.next_time(), kernel_time()));
}

void HbmStack::advance() {
  alarm_.fired();
  network_.run(kernel_time());
  rearm();
}

void HbmStack::receive(Time head, Delivery& delivery, CorePort& receiver) {
  if (free_arrivals_.empty()) {
    free_arrivals_.push_back(static_cast<std::uint32_t>(arrivals_.size()));
    arrivals_.emplace_back();
  }
  const std::uint32_t slot = free_arrivals_.back();
  free_arrivals_.pop_back();
  arrivals_[slot] = {&delivery, &receiver};
  delivery.arrival = slot;
  network_.at(head, delivery.order, *this, head_of(slot));
}

void HbmStack::read(Time now, Bytes bytes, std::uint32_t times, double turn, EventTarget& target,
                    std::uint64_t argument) {
  const std::array<Demand, 2> demands{Demand{bandwidth_, static_cast<double>(times), kReading}, Demand{}};
  network_.start_flow(now, {bytes, spec_.bandwidth, demands, 1, turn}, target, argument);
}

void HbmStack::on_event(Time now, std::uint64_t argument) {
  const auto slot = static_cast<std::uint32_t>(argument >> 1);
  if ((argument & 1) == 0) {
    head_arrives(now, slot);
  } else {
    written(now, slot);
  }
}

void HbmStack::head_arrives(Time now, std::uint32_t slot) {
  const Delivery& delivery = *arrivals_[slot].delivery;
  if (!delivery.is_copy) received_bytes_ += delivery.bytes.count() * delivery.times;
  if (delivery.space != Space::kHbm || delivery.bytes.count() == 0) {
    written(now, slot);
    return;
  }
  written_bytes_ += delivery.bytes.count() * delivery.times;
  const std::array<Demand, 2> demands{Demand{bandwidth_, 1.0, kWriting}, Demand{}};
  network_.start_flow(now, {delivery.bytes, spec_.bandwidth, demands, 1, delivery.turn}, *this, write_of(slot));
}

void HbmStack::written(Time now, std::uint32_t slot) {
  Delivery& delivery = *arrivals_[slot].delivery;
  delivery.written = now;
  delivery.write_finished = true;
  if (delivery.source_finished) {
    complete(slot);
  } else {
    delivery.waiting = this;
  }
}

void HbmStack::tail_sent(Delivery& delivery) {
  complete(delivery.arrival);
}

void HbmStack::complete(std::uint32_t slot) {
  const Arrival arrival = arrivals_[slot];
  free_arrivals_.push_back(slot);
  Delivery& delivery = *arrival.delivery;
  const Time arrived = std::max({delivery.written, delivery.tail, delivery.source_done + delivery.path_latency});
  delivery.arrived = std::max(delivery.arrived, arrived);
  if (delivery.on_delivery.count > 0) {
    arrival.receiver->delivered(arrived + notify_, delivery.order, delivery.on_delivery, delivery.slice);
  }
  done_(delivery);
}

}  // namespace trnsim
