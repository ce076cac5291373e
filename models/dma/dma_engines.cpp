#include "models/dma/dma_engines.h"

#include <algorithm>
#include <cmath>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

// What an event of the engines is about: the low bit tells arrivals from completions.
constexpr std::uint64_t arrival_of(std::uint32_t slot) {
  return std::uint64_t{slot} << 1;
}
constexpr std::uint64_t completion_of(std::uint32_t slot) {
  return std::uint64_t{slot} << 1 | 1;
}

}  // namespace

DmaEngines::DmaEngines(CoreId core, const DmaSpec& spec, const StackShare& stack, CorePort& port, RemotePort& remote)
    : core_(core),
      spec_(spec),
      stack_(stack),
      engines_(stack.network->add_resource(spec.engine_bandwidth == kUnlimited ? kUnlimited
                                                                               : spec.engine_bandwidth * spec.engines)),
      port_(port),
      remote_(remote),
      queues_(spec.queues_per_engine) {
  counters_.queues.resize(spec.queues_per_engine);
}

void DmaEngines::submit(Time at, const TransferRequest& request) {
  check(request.transfer->queue < queues_.size(), "a DMA queue number is below the number of queues");
  check(request.transfer->qos < spec_.qos_classes, "a transfer has a class of service that the machine has");
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {request, nullptr, Time(), 0};
  ++in_flight_;
  ++counters_.transfers;
  stack_.network->at(at, next_order(), *this, arrival_of(slot));
}

void DmaEngines::on_event(Time now, std::uint64_t argument) {
  const auto slot = static_cast<std::uint32_t>(argument >> 1);
  if ((argument & 1) == 0) {
    arrive(now, slot);
  } else {
    flow_ended(now, slot);
  }
}

void DmaEngines::arrive(Time now, std::uint32_t slot) {
  const std::size_t queue = slots_[slot].request.transfer->queue;
  queues_[queue].slots.push_back(slot);
  if (!queues_[queue].active) start_head(now, queue);
}

Time DmaEngines::first_byte(const Transfer& transfer) const {
  return transfer.source == Space::kHbm ? spec_.read_latency : spec_.write_latency;
}

void DmaEngines::start_head(Time now, std::size_t queue) {
  const std::uint32_t index = queues_[queue].slots.front();
  Slot& slot = slots_[index];
  slot.started = now;
  slot.unread = 1;
  queues_[queue].active = true;
  const Transfer& transfer = *slot.request.transfer;
  const std::uint64_t bytes = transfer.bytes_per_repeat.count() * slot.request.repeat;
  const bool remote = slot.request.destination != core_;
  if (remote || slot.request.copy != core_) begin_delivery(now, index, bytes);
  if (bytes == 0) {
    stack_.network->at(now, next_order(), *this, completion_of(index));
    return;
  }
  count(slot.request, bytes * slot.request.times);
  if (transfer.partner_reads > 0) {
    ++slot.unread;
    remote_.read_beside(now, slot.request.partner, Bytes(bytes), transfer.partner_reads, turn(transfer), *this,
                        completion_of(index));
  }
  const double weight = engine_weight(slot.request, bytes);
  FlowDemand flow;
  flow.bytes = Bytes(bytes);
  flow.turn = turn(transfer);
  flow.demands[flow.demand_count++] = {engines_, weight};
  const Demand stack = stack_demand(transfer, remote);
  if (stack.weight > 0) flow.demands[flow.demand_count++] = stack;
  const std::uint64_t most =
      transfer.engines == 0 ? spec_.engines : std::min<std::uint64_t>(transfer.engines, spec_.engines);
  const std::uint64_t used = std::clamp<std::uint64_t>(transfer.descriptors(slot.request.repeat), 1, most);
  flow.cap = pace(used, weight);
  stack_.network->start_flow(now, flow, *this, completion_of(index));
}

double DmaEngines::turn(const Transfer& transfer) const {
  const Bytes packet = transfer.traffic == Traffic::kCollective ? spec_.collective_packet : spec_.packet;
  return static_cast<double>(packet.count()) * std::pow(spec_.qos_ratio, spec_.qos_classes - 1 - transfer.qos);
}

/// Of a transfer on `engines` of the engines, each byte of which takes `weight` of theirs.
BytesPerSecond DmaEngines::pace(std::uint64_t engines, double weight) const {
  if (spec_.engine_bandwidth == kUnlimited) return kUnlimited;
  const double cap = static_cast<double>(spec_.engine_bandwidth.count() * engines) / weight;
  return BytesPerSecond(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(cap)));
}

Demand DmaEngines::stack_demand(const Transfer& transfer, bool remote) const {
  Demand demand{stack_.resource, 0, kPlainUse};
  if (transfer.source == Space::kHbm && transfer.reads > 0) {
    demand.weight += static_cast<double>(transfer.reads);
    demand.kinds |= kReading;
  }
  if (!remote && transfer.destination == Space::kHbm) {
    demand.weight += 1;
    demand.kinds |= kWriting;
  }
  return demand;
}

std::uint64_t DmaEngines::packets(const Transfer& transfer, std::uint64_t repeat) const {
  const std::uint64_t descriptors = std::max<std::uint64_t>(1, transfer.descriptors(repeat));
  const std::uint64_t payload = ceil_div(transfer.bytes_per_repeat.count() * repeat, descriptors);
  const Bytes packet = transfer.traffic == Traffic::kCollective ? spec_.collective_packet : spec_.packet;
  return descriptors * ceil_div(payload, packet.count());
}

double DmaEngines::engine_weight(const TransferRequest& request, std::uint64_t bytes) const {
  const Transfer& transfer = *request.transfer;
  double rate = 1;
  if (transfer.computes) rate *= spec_.compute_fraction;
  if (transfer.transposes) {
    rate *= transfer.source == Space::kHbm ? spec_.transpose_fraction_hbm : spec_.transpose_fraction_sbuf;
  }
  const double overhead = static_cast<double>(packets(transfer, request.repeat)) * seconds(spec_.descriptor) *
                          static_cast<double>(spec_.engine_bandwidth.count());
  const bool copies = request.copy != core_;
  const double passes = std::max(transfer.reads + transfer.partner_reads, copies ? 2 : 1);
  return passes / rate + overhead / static_cast<double>(bytes);
}

// Engines start the next packet before the last one has ended where it is short, and pause after it where it is long.
Time DmaEngines::packet_tail(const TransferRequest& request) const {
  const std::uint64_t bytes = request.transfer->bytes_per_repeat.count() * request.repeat;
  const Bytes packet(bytes / std::max<std::uint64_t>(1, packets(*request.transfer, request.repeat)));
  return spec_.packet_overhead + duration(packet, spec_.wire_bandwidth) - spec_.descriptor -
         duration(packet, spec_.engine_bandwidth);
}

// What goes to another core; if only the copy does, the copy is the message.
void DmaEngines::begin_delivery(Time now, std::uint32_t index, std::uint64_t bytes) {
  Slot& slot = slots_[index];
  const TransferRequest& request = slot.request;
  const bool remote = request.destination != core_;
  Delivery& delivery = remote_.new_delivery();
  delivery.bytes = Bytes(bytes);
  delivery.times = request.times;
  delivery.signal = bytes == 0 && request.transfer->reads == 0;
  delivery.source = core_;
  delivery.destination = remote ? request.destination : request.copy;
  delivery.copy = request.copy != core_ ? request.copy : delivery.destination;
  delivery.space = request.transfer->destination;
  delivery.turn = turn(*request.transfer);
  delivery.on_delivery = request.transfer->on_delivery;
  delivery.order = next_order();
  if (delivery.copy != delivery.destination) delivery.copy_order = next_order();
  delivery.sender_slot = index;
  slot.delivery = &delivery;
  counters_.sent_bytes += bytes * request.times;
  remote_.send(now, now + first_byte(*request.transfer), delivery);
}

void DmaEngines::flow_ended(Time now, std::uint32_t index) {
  if (--slots_[index].unread == 0) leave_queue(now, index);
}

void DmaEngines::leave_queue(Time now, std::uint32_t index) {
  Slot& slot = slots_[index];
  const Transfer& transfer = *slot.request.transfer;
  const std::size_t queue = transfer.queue;
  counters_.queues[queue].busy += now - slot.started;
  ++counters_.queues[queue].served;
  queues_[queue].slots.pop_front();
  queues_[queue].active = false;
  if (timeline_ != nullptr) {
    slot.request.slice = timeline_->transferred(*slot.request.instruction, transfer, slot.request.repeat,
                                                slot.request.destination, slot.started, now);
  }
  slot.request.started = slot.started;
  slot.request.last_byte = std::max(slot.started, now + packet_tail(slot.request));
  const Time last_byte = std::max(now, slot.request.last_byte + first_byte(transfer));
  if (slot.request.destination == core_ && transfer.on_delivery.count > 0) {
    port_.delivered(last_byte + spec_.notify, next_order(), transfer.on_delivery, slot.request.slice);
  }
  if (slot.delivery != nullptr) {
    slot.delivery->slice = slot.request.slice;
    remote_.sent(last_byte, *slot.delivery);
  } else {
    complete(index, last_byte, next_order());
  }
  if (!queues_[queue].slots.empty()) start_head(now, queue);
}

void DmaEngines::acknowledged(const Delivery& delivery) {
  complete(delivery.sender_slot, delivery.arrived, next_order());
}

void DmaEngines::complete(std::uint32_t index, Time last_byte, std::uint64_t order) {
  const TransferRequest request = slots_[index].request;
  free_slots_.push_back(index);
  --in_flight_;
  port_.transfer_done(last_byte + spec_.notify, order, request);
}

void DmaEngines::count(const TransferRequest& request, std::uint64_t bytes) {
  const Transfer& transfer = *request.transfer;
  counters_.bytes[static_cast<std::size_t>(transfer.traffic)] += bytes;
  const std::uint64_t read = bytes * transfer.reads;
  const bool local = request.destination == core_;
  if (transfer.source == Space::kHbm) counters_.hbm_read_bytes += read;
  counters_.hbm_read_bytes += bytes * transfer.partner_reads;
  if (transfer.source == Space::kSbuf) counters_.sbuf_bytes += read;
  if (local && transfer.destination == Space::kHbm) counters_.hbm_write_bytes += bytes;
  // SBUF writes on the receiving core are counted here too: each message is counted once, at its source.
  if (transfer.destination == Space::kSbuf) counters_.sbuf_bytes += bytes * (request.copy != core_ ? 2 : 1);
}

}  // namespace trnsim
