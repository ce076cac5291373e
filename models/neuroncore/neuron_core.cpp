#include "models/neuroncore/neuron_core.h"

#include <algorithm>
#include <utility>

#include "models/mechanism/error.h"
#include "models/neuroncore/timing.h"

namespace trnsim {
namespace {

bool is_compute(Op op) {
  return op != Op::kNop && op != Op::kDma && op != Op::kLoopBegin && op != Op::kLoopEnd;
}

}  // namespace

NeuronCore::NeuronCore(sc_core::sc_module_name name, const CoreSpec& spec, const DmaIssueSpec& dma, Time lookahead,
                       const CoreJob& job, bool one_by_one)
    : sc_core::sc_module(name),
      spec_(spec),
      issue_(dma),
      lookahead_(lookahead),
      job_(job),
      program_(*job.program),
      one_by_one_(one_by_one),
      last_(spec.control.program_entry),
      rings_(dma.queues, Credits(dma.ring_descriptors)),
      ring_waiters_(dma.queues),
      ports_(port_count(spec)),
      limiter_(spec.tensor),
      generators_(dma.hardware_generators) {
  for (const SemaphoreInfo& info : program_.semaphores) semaphores_.emplace_back(info.initial);
  waiters_.resize(semaphores_.size());
  launches_ = std::count_if(program_.calls.begin(), program_.calls.end(), [](const Call& call) { return call.launch; });
  transfers_.resize(program_.operators.size());
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    sequencers_[e] = Sequencer(static_cast<Engine>(e), job);
    sequencers_[e].free_at = spec.control.program_entry;
    sequencers_[e].start_idle = spec.control.program_entry;
    calendar_.insert(spec.control.program_entry, {.what = What::kEngineFree, .engine = static_cast<Engine>(e)});
  }
  SC_METHOD(advance);
  sensitive << alarm_.event();
}

void NeuronCore::transfer_done(Time visible, std::uint64_t order, const TransferRequest& request) {
  last_ = std::max(last_, visible);
  Span& span = transfers_[request.instruction->operator_id].span;
  span.start(request.started, 1);
  span.started += request.times - 1;
  span.end = std::max(span.end, request.last_byte);
  calendar_.post(visible, order,
                 {.what = What::kTransferDone,
                  .instruction = request.instruction,
                  .descriptors = request.transfer->descriptors(request.repeat),
                  .queue = request.transfer->queue,
                  .slice = request.slice});
  alarm_.arm(visible);
}

void NeuronCore::delivered(Time visible, std::uint64_t order, SemaphoreUse use, SliceId slice) {
  last_ = std::max(last_, visible);
  calendar_.post(visible, order, {.what = What::kAdd, .use = use, .slice = slice});
  alarm_.arm(visible);
}

void NeuronCore::advance() {
  alarm_.fired();
  const Time horizon = kernel_time() + std::max(lookahead_, Time(1));
  while (!calendar_.empty() && calendar_.next_time() < horizon) {
    now_ = calendar_.next_time();
    // Collect the whole instant first, then decide engine by engine: who posted first never matters.
    while (!calendar_.empty() && calendar_.next_time() == now_) handle(calendar_.pop().payload);
    while (ready_ != 0) {
      const EngineSet ready = std::exchange(ready_, EngineSet{0});
      for (std::size_t e = 0; e < kEngineCount; ++e) {
        if ((ready & (1U << e)) != 0) step(static_cast<Engine>(e));
      }
    }
    if (launches_ > 0) launch_next();
  }
  if (!calendar_.empty()) alarm_.arm(std::max(calendar_.next_time(), kernel_time()));
}

// All engines start the next program together, when the one before has ended and left.
void NeuronCore::launch_next() {
  if (unfinished_transfers_ > 0) return;
  for (const Sequencer& s : sequencers_) {
    if (!s.parked() || s.busy) return;
  }
  --launches_;
  const Time start = last_ + spec_.control.program_exit + spec_.control.program_entry;
  for (Sequencer& s : sequencers_) {
    s.start_idle += start - s.free_at;
    s.free_at = start;
    s.busy = true;
    s.resume();
    calendar_.insert(start, {.what = What::kEngineFree, .engine = s.engine()});
  }
}

void NeuronCore::handle(const Event& event) {
  switch (event.what) {
    case What::kEngineFree:
      sequencers_[static_cast<std::size_t>(event.engine)].busy = false;
      stalls_.engine_free(event.engine, now_);
      ready_ |= set_of(event.engine);
      break;
    case What::kTransferDone:
      if (--unfinished_transfers_ == 0) dma_active_ += now_ - transfers_since_;
      rings_[event.queue].give_back(event.descriptors);
      if (timeline_ != nullptr) timeline_->left_ring(event.queue, event.slice);
      ready_ |= std::exchange(ring_waiters_[event.queue], EngineSet{0});
      [[fallthrough]];
    case What::kSignals:
      for (std::size_t i = 0; i < event.instruction->signal_count; ++i) add(event.instruction->signals[i], event.slice);
      break;
    case What::kAdd:
      add(event.use, event.slice);
      break;
    case What::kPortFree:
      ready_ |= std::exchange(ports_[event.port].waiters, EngineSet{0});
      break;
  }
}

void NeuronCore::add(SemaphoreUse use, SliceId slice) {
  if (timeline_ != nullptr) timeline_->signalled(use.semaphore, slice);
  semaphores_[use.semaphore].add(use.count);
  ready_ |= std::exchange(waiters_[use.semaphore], EngineSet{0});
}

void NeuronCore::step(Engine engine) {
  Sequencer& sequencer = sequencers_[static_cast<std::size_t>(engine)];
  while (!sequencer.busy) {
    const Instruction* instruction = sequencer.current();
    if (instruction == nullptr) return;
    if (!may_start(sequencer, *instruction)) return;
    start(sequencer, *instruction);
  }
}

bool NeuronCore::may_start(Sequencer& sequencer, const Instruction& instruction) {
  const bool repeats = sequencer.repeats_left > 0;  // has taken its counts
  if (!repeats && !semaphores_hold(sequencer, instruction)) return false;
  if (uses_ports(sequencer, instruction) && !ports_are_free(sequencer, instruction)) return false;
  if (instruction.op == Op::kDma && !take_ring_entries(sequencer, instruction)) return false;
  if (!repeats) {
    for (std::size_t i = 0; i < instruction.wait_count; ++i) {
      semaphores_[instruction.waits[i].semaphore].take(instruction.waits[i].count);
    }
  }
  if (sequencer.waiting) resume(sequencer);
  return true;
}

bool NeuronCore::semaphores_hold(Sequencer& sequencer, const Instruction& instruction) {
  for (std::size_t i = 0; i < instruction.wait_count; ++i) {
    const SemaphoreUse& use = instruction.waits[i];
    if (semaphores_[use.semaphore].holds(use.count)) continue;
    sequencer.semaphore = use.semaphore;
    waiters_[use.semaphore] |= set_of(sequencer.engine());
    wait(sequencer, program_.semaphores[use.semaphore].reason);
    return false;
  }
  return true;
}

// An instruction of no elements or no repeats touches no memory.
bool NeuronCore::uses_ports(const Sequencer& sequencer, const Instruction& instruction) {
  return is_compute(instruction.op) && sequencer.value(instruction.repeat) > 0 && sequencer.value(instruction.free) > 0;
}

bool NeuronCore::ports_are_free(Sequencer& sequencer, const Instruction& instruction) {
  const EngineSet me = set_of(sequencer.engine());
  for (std::size_t k = 0; k < kPortKinds; ++k) {
    const auto kind = static_cast<Port>(k);
    const std::size_t number = port_number(spec_, instruction, kind);
    PortState& port = ports_[number];
    if (port.free_at <= now_ && (port.next == 0 || port.next == me)) continue;
    if (!takes_port(spec_, sequencer.engine(), instruction, kind)) continue;
    if (port.next == 0) port.next = me;
    if (port.waiters == 0 && port.free_at > now_) {
      calendar_.insert(port.free_at, {.what = What::kPortFree, .port = static_cast<std::uint16_t>(number)});
    }
    port.waiters |= me;
    wait(sequencer, WaitReason::kPort);
    return false;
  }
  return true;
}

void NeuronCore::hold_ports(const Sequencer& sequencer, const Instruction& instruction, Time until) {
  for (std::size_t k = 0; k < kPortKinds; ++k) {
    const auto kind = static_cast<Port>(k);
    if (!takes_port(spec_, sequencer.engine(), instruction, kind)) continue;
    const std::size_t number = port_number(spec_, instruction, kind);
    PortState& port = ports_[number];
    port.free_at = until;
    port.next = 0;
    port.waiters &= static_cast<EngineSet>(~set_of(sequencer.engine()));
    if (port.waiters == 0) continue;
    calendar_.insert(until, {.what = What::kPortFree, .port = static_cast<std::uint16_t>(number)});
  }
}

void NeuronCore::record_stall(const Sequencer& sequencer, const Instruction& instruction) {
  const std::uint8_t queue =
      instruction.op == Op::kDma ? sequencer.segment().transfers[instruction.transfer].queue : std::uint8_t{0};
  timeline_->stalled(sequencer.engine(), instruction, sequencer.call(), sequencer.free_at, now_, sequencer.reason,
                     sequencer.semaphore, queue);
}

bool NeuronCore::take_ring_entries(Sequencer& sequencer, const Instruction& instruction) {
  const Transfer& transfer = sequencer.segment().transfers[instruction.transfer];
  const std::uint64_t descriptors = transfer.descriptors(sequencer.value(instruction.repeat));
  if (!rings_[transfer.queue].holds(descriptors)) {
    ring_waiters_[transfer.queue] |= set_of(sequencer.engine());
    wait(sequencer, WaitReason::kDmaRing);
    return false;
  }
  rings_[transfer.queue].take(descriptors);
  return true;
}

void NeuronCore::wait(Sequencer& sequencer, WaitReason reason) {
  sequencer.waiting = true;
  sequencer.reason = reason;
  stalls_.waits(sequencer.engine(), reason, now_);
}

void NeuronCore::resume(Sequencer& sequencer) {
  sequencer.waiting = false;
  sequencer.stall[static_cast<std::size_t>(sequencer.reason)] += now_ - sequencer.free_at;
  if (timeline_ != nullptr) record_stall(sequencer, *sequencer.current());
  sequencer.free_at = now_;
  stalls_.resumes(sequencer.engine(), now_);
}

void NeuronCore::start(Sequencer& sequencer, const Instruction& instruction) {
  if (instruction.op == Op::kLoopBegin) {
    sequencer.enter_loop(instruction, sequencer.value(instruction.repeat));
    return;
  }
  const bool resumed = sequencer.repeats_left > 0;
  std::uint64_t repeat = resumed ? sequencer.repeats_left : sequencer.value(instruction.repeat);
  const std::uint64_t free = sequencer.value(instruction.free);
  const bool splits = one_by_one_ && repeat > 1 && is_compute(instruction.op);
  sequencer.repeats_left = splits ? repeat - 1 : 0;
  if (splits) repeat = 1;

  Time completion;
  const bool uses_ports = is_compute(instruction.op) && repeat > 0 && free > 0;
  const Time taken = occupancy(sequencer, instruction, repeat, free, completion);
  Executed& executed = sequencer.executed();
  const std::uint64_t counted = repeat * sequencer.times();
  executed.count += counted;
  executed.elements += counted * free;
  executed.busy += taken;
  executed.span.start(now_, repeat);
  executed.span.started += counted - repeat;
  sequencer.instructions += repeat;
  sequencer.busy_time += taken;
  sequencer.free_at = now_ + taken;
  ++issue_events_;
  SliceId slice = 0;
  if (timeline_ != nullptr) {
    slice =
        timeline_->executed(sequencer.engine(), instruction, sequencer.call(), now_, sequencer.free_at, repeat, free);
  }
  if (instruction.op != Op::kDma && sequencer.repeats_left == 0) {
    sequencer.last_completion = std::max(sequencer.last_completion, sequencer.free_at + completion);
    last_ = std::max(last_, sequencer.last_completion);
    executed.span.end = std::max(executed.span.end, sequencer.free_at + completion);
    signal_at(sequencer.last_completion + spec_.control.semaphore, instruction, slice);
  }
  if (uses_ports) hold_ports(sequencer, instruction, sequencer.free_at);
  if (instruction.op == Op::kLoopEnd) {
    sequencer.end_loop();
  } else if (sequencer.repeats_left == 0) {
    sequencer.advance();
  }
  if (taken > Time()) {
    sequencer.busy = true;
    stalls_.engine_busy(sequencer.engine(), now_);
    calendar_.insert(sequencer.free_at, {.what = What::kEngineFree, .engine = sequencer.engine()});
  }
}

void NeuronCore::signal_at(Time visible, const Instruction& instruction, SliceId slice) {
  if (instruction.signal_count == 0) return;
  calendar_.insert(visible, {.what = What::kSignals, .instruction = &instruction, .slice = slice});
}

Time NeuronCore::occupancy(Sequencer& sequencer, const Instruction& instruction, std::uint64_t repeat,
                           std::uint64_t free, Time& completion) {
  if (instruction.op == Op::kDma) return start_transfer(sequencer, instruction, repeat);
  if (instruction.op == Op::kLoopEnd) return spec_.control.dispatch;
  if (instruction.op == Op::kNop || repeat == 0 || free == 0) return Time();
  const Cost cost = cost_of(spec_, sequencer.engine(), instruction, free);
  const Time taken = cost.occupancy(repeat);
  completion = cost.completion;
  if (instruction.op == Op::kLoadTable) loaded_function_ = instruction.function;
  if (sequencer.engine() == Engine::kScalar) return taken + table_load(instruction.function);
  if (sequencer.engine() != Engine::kTensor) return taken;
  const Time limited = limiter_.run(now_, taken);
  completion += limiter_.stretched(duration(cost.drain, cost.clock));
  return limited;
}

Time NeuronCore::table_load(Function function) {
  if (function == Function::kNone || function == loaded_function_) return Time();
  loaded_function_ = function;
  return spec_.scalar.table_load;
}

Time NeuronCore::start_transfer(Sequencer& sequencer, const Instruction& instruction, std::uint64_t repeat) {
  const Transfer& transfer = sequencer.segment().transfers[instruction.transfer];
  const Time taken = issue_time(sequencer.engine(), transfer, repeat);
  record_trigger(instruction, transfer, now_, taken);
  TransferRequest request;
  request.instruction = &instruction;
  request.transfer = &transfer;
  request.repeat = repeat;
  request.times = sequencer.times();
  request.destination = peer_of(transfer.peer);
  request.copy = peer_of(transfer.copy_peer);
  request.partner = peer_of(transfer.partner);
  dma_->submit(now_ + taken + dispatch(sequencer.engine(), transfer), request);
  return taken;
}

Time NeuronCore::dispatch(Engine engine, const Transfer& transfer) const {
  if (!is_collective(engine)) return issue_.dispatch;
  return transfer.chained ? Time() : spec_.collective.step;
}

CoreId NeuronCore::peer_of(std::uint32_t peer) const {
  if (peer == kSelf) return self_;
  check(peer < job_.peers.size(), "a transfer names a peer of its rank");
  return job_.peers[peer];
}

// A hardware generator makes descriptors after the instruction that triggers it; otherwise the trigger is the doorbell
// behind the last descriptor.
void NeuronCore::record_trigger(const Instruction& instruction, const Transfer& transfer, Time issued, Time taken) {
  if (unfinished_transfers_++ == 0) transfers_since_ = issued + taken;
  Time& first = transfers_[instruction.operator_id].first_trigger;
  const bool hardware = transfer.generation == DescriptorGeneration::kHardware && !generators_.empty();
  first = std::min(first, hardware ? issued : issued + taken);
}

Time NeuronCore::issue_time(Engine engine, const Transfer& transfer, std::uint64_t repeat) {
  if (is_collective(engine)) return spec_.collective.message_issue;
  const bool hardware = transfer.generation == DescriptorGeneration::kHardware;
  // Without generators, what is known when a kernel is compiled lies in rings made then.
  if (transfer.generation == DescriptorGeneration::kPrebuilt || (hardware && generators_.empty())) {
    return issue_.prebuilt_issue;
  }
  if (hardware) {
    auto generator = std::min_element(generators_.begin(), generators_.end());
    *generator = std::max(*generator, now_) + issue_.hardware_issue;
    return *generator - now_;
  }
  return issue_.software_issue + issue_.software_descriptor * static_cast<std::int64_t>(transfer.descriptors(repeat));
}

}  // namespace trnsim
