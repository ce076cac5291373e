#include "models/system/chip.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

Hertz scaled(Hertz clock, double scale) {
  return Hertz(static_cast<std::uint64_t>(std::llround(static_cast<double>(clock.count()) * scale)));
}

Time slowed(Time time, double scale) {
  return Time(static_cast<std::int64_t>(std::llround(static_cast<double>(time.count()) / scale)));
}

// A core whose clock is scaled runs everything on the core at that pace; DMA, HBM and links keep theirs.
CoreSpec scaled(const CoreSpec& core, double scale) {
  if (scale == 1.0) return core;
  CoreSpec s = core;
  for (Hertz* clock : {&s.tensor.clock, &s.vector.clock, &s.scalar.clock, &s.gpsimd.clock})
    *clock = scaled(*clock, scale);
  for (Time* time : {&s.tensor.fill, &s.tensor.weight_load_completion, &s.vector.issue_overhead,
                     &s.vector.pointer_overhead, &s.vector.completion, &s.scalar.issue_overhead, &s.scalar.completion,
                     &s.scalar.function_overhead, &s.scalar.sbuf_overhead, &s.scalar.table_load, &s.gpsimd.completion,
                     &s.control.semaphore, &s.control.dispatch, &s.collective.message_issue, &s.collective.step}) {
    *time = slowed(*time, scale);
  }
  return s;
}

double scale_of(const std::map<std::uint32_t, double>& scales, std::uint32_t part) {
  const auto found = scales.find(part);
  return found == scales.end() ? 1.0 : found->second;
}

BytesPerSecond scaled(BytesPerSecond rate, double scale) {
  if (scale == 1.0) return rate;
  const auto slower = std::llround(static_cast<double>(rate.count()) * scale);
  return BytesPerSecond(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(slower)));
}

HbmSpec scaled(const HbmSpec& hbm, double scale) {
  HbmSpec s = hbm;
  s.bandwidth = scaled(hbm.bandwidth, scale);
  return s;
}

DmaSpec scaled(const DmaSpec& dma, double scale) {
  DmaSpec s = dma;
  s.engine_bandwidth = scaled(dma.engine_bandwidth, scale);
  s.wire_bandwidth = scaled(dma.wire_bandwidth, scale);
  return s;
}

DmaIssueSpec issue_of(const DmaSpec& dma) {
  return {.queues = dma.queues_per_engine,
          .ring_descriptors = dma.ring_descriptors,
          .hardware_generators = dma.hardware_generators,
          .hardware_issue = dma.hardware_issue,
          .software_issue = dma.software_issue,
          .software_descriptor = dma.software_descriptor,
          .prebuilt_issue = dma.prebuilt_issue,
          .dispatch = dma.dispatch};
}

}  // namespace

Chip::Chip(sc_core::sc_module_name name, ChipId chip, const MachineSpec& machine, const AddressMap& addresses,
           PayloadPool& payloads, const Job& job, const std::vector<bool>& simulated, const SimulationOptions& options)
    : sc_core::sc_module(name),
      to_fabric("to_fabric"),
      from_fabric("from_fabric"),
      chip_(chip),
      machine_(machine),
      hbm_(scaled(machine.hbm, scale_of(machine.chip_hbm_scale, chip.value()))),
      dma_(scaled(machine.dma, scale_of(machine.chip_dma_scale, chip.value()))),
      addresses_(addresses),
      payloads_(payloads),
      core_by_local_(machine.cores_per_chip, nullptr) {
  to_fabric.register_nb_transport_bw(this, &Chip::acknowledged);
  from_fabric.register_nb_transport_fw(this, &Chip::arrival);
  from_fabric.register_b_transport(this, &Chip::blocking_arrival);
  for (std::uint32_t s = 0; s < machine.hbm.stacks; ++s) {
    stacks_.push_back(std::make_unique<HbmStack>(("hbm" + std::to_string(s)).c_str(), hbm_, machine.dma.notify));
    stacks_.back()->on_done([this](Delivery& delivery) { landed(delivery); });
  }
  for (std::uint32_t local = 0; local < machine.cores_per_chip; ++local) {
    const CoreId id(chip.value() * machine.cores_per_chip + local);
    if (simulated[id.index()] && job.cores[id.index()].program != nullptr) build_core(id, job, options);
  }
}

void Chip::build_core(CoreId id, const Job& job, const SimulationOptions& options) {
  const std::uint32_t local = id.value() % machine_.cores_per_chip;
  auto core = std::make_unique<Core>();
  core->id = id;
  core->spec = scaled(machine_.core, scale_of(machine_.core_clock_scale, id.value()));
  core->core =
      std::make_unique<NeuronCore>(("core" + std::to_string(local)).c_str(), core->spec, issue_of(machine_.dma),
                                   machine_.dma.notify, job.cores[id.index()], options.detail == Detail::kInstruction);
  HbmStack& stack = stack_of(id);
  core->dma = std::make_unique<DmaEngines>(id, dma_, stack.share(), *core->core, *this);
  core->core->connect(id, *core->dma);
  core_by_local_[local] = core.get();
  cores_.push_back(std::move(core));
}

void Chip::send(Time now, Time head, Delivery& delivery) {
  if (delivery.destination.value() / machine_.cores_per_chip == chip_.value()) {
    ++local_messages_;
    delivery.path_latency = machine_.fabric.on_chip_latency;
    receive(head + delivery.path_latency, delivery);
    return;
  }
  tlm::tlm_generic_payload& payload = payloads_.take(delivery, addresses_.encode(delivery.destination, delivery.space));
  delivery.payload = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::sc_time::from_value(static_cast<sc_dt::uint64>((head - now).count()));
  const tlm::tlm_sync_enum answer = to_fabric->nb_transport_fw(payload, phase, delay);
  check(answer == tlm::TLM_UPDATED && phase == tlm::END_REQ, "the fabric accepts a message at once");
}

void Chip::sent(Time last_byte, Delivery& delivery) {
  Delivery* twin = delivery.twin;
  for (Delivery* landing : {&delivery, twin}) {
    if (landing == nullptr) continue;
    landing->source_done = last_byte;
    landing->source_finished = true;
    landing->slice = delivery.slice;
    if (landing->waiting != nullptr) landing->waiting->tail_sent(*landing);
  }
}

void Chip::read_beside(Time now, CoreId core, Bytes bytes, std::uint32_t times, double turn, EventTarget& target,
                       std::uint64_t argument) {
  check(core.value() / machine_.cores_per_chip == chip_.value(), "a partner is a core of the same chip");
  stack_of(core).read(now, bytes, times, turn, target, argument);
}

// Messages are timed by the stack they are written to; a blocking call has no such time and is refused.
void Chip::blocking_arrival(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

tlm::tlm_sync_enum Chip::arrival(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  check(phase == tlm::BEGIN_REQ, "the fabric hands over a message with BEGIN_REQ");
  receive(kernel_time() + Time(static_cast<std::int64_t>(delay.value())),
          *payload.get_extension<DeliveryExtension>()->delivery);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// The copy branches off here: from now on it is a delivery of its own that arrives by the same path.
void Chip::receive(Time head, Delivery& delivery) {
  if (delivery.copy != delivery.destination) {
    Delivery& twin = *deliveries_.take();
    twin = delivery;
    twin.destination = delivery.copy;
    twin.order = delivery.copy_order;
    twin.payload = nullptr;
    twin.is_copy = true;
    twin.twin = &delivery;
    delivery.twin = &twin;
    delivery.unfinished = 2;
    land(head, twin);
  }
  land(head, delivery);
}

void Chip::land(Time head, Delivery& delivery) {
  const std::uint32_t local = delivery.destination.value() % machine_.cores_per_chip;
  check(core_by_local_[local] != nullptr, "a message goes to a core that is simulated");
  stack_of(delivery.destination).receive(head, delivery, *core_by_local_[local]->core);
}

void Chip::landed(Delivery& delivery) {
  Delivery& original = delivery.is_copy ? *delivery.twin : delivery;
  if (delivery.is_copy) {
    original.arrived = std::max(original.arrived, delivery.arrived);
    deliveries_.give_back(&delivery);
  }
  if (--original.unfinished == 0) done(original);
}

void Chip::done(Delivery& delivery) {
  if (delivery.payload == nullptr) {
    release(delivery);
    return;
  }
  auto& payload = *static_cast<tlm::tlm_generic_payload*>(delivery.payload);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum answer = from_fabric->nb_transport_bw(payload, phase, delay);
  check(answer == tlm::TLM_COMPLETED, "the fabric completes a transaction at its response");
}

// Back at the chip that sent it.
void Chip::release(Delivery& delivery) {
  core_by_local_[delivery.source.value() % machine_.cores_per_chip]->dma->acknowledged(delivery);
  deliveries_.give_back(&delivery);
}

tlm::tlm_sync_enum Chip::acknowledged(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                      sc_core::sc_time& /*delay*/) {
  check(phase == tlm::BEGIN_RESP && payload.is_response_ok(), "a message is answered once and well");
  release(*payload.get_extension<DeliveryExtension>()->delivery);
  payload.release();
  return tlm::TLM_COMPLETED;
}

}  // namespace trnsim
