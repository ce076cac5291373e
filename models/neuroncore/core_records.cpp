// What a core says of itself: whether it is done, what it waits for, what it has counted.
#include <algorithm>

#include "models/mechanism/error.h"
#include "models/neuroncore/activity.h"
#include "models/neuroncore/neuron_core.h"

namespace trnsim {

bool NeuronCore::finished() const {
  return std::all_of(sequencers_.begin(), sequencers_.end(),
                     [](const Sequencer& s) { return s.current() == nullptr && !s.busy; });
}

std::uint64_t NeuronCore::instructions() const {
  std::uint64_t sum = 0;
  for (const Sequencer& s : sequencers_) sum += s.instructions;
  return sum;
}

std::string NeuronCore::waiting() const {
  std::string text;
  for (const Sequencer& s : sequencers_) {
    if (s.current() == nullptr) continue;
    text += std::string(name()) + " " + std::string(kEngineNames[static_cast<std::size_t>(s.engine())]) +
            " engine waits in " + s.segment().name + " (" + program_.operators[s.current()->operator_id] +
            (s.reason == WaitReason::kDmaRing ? ") for room in a DMA ring"
             : s.reason == WaitReason::kPort  ? ") for a memory port"
                                              : ") on semaphore " + std::to_string(s.semaphore)) +
            " (" + std::string(kWaitReasonNames[static_cast<std::size_t>(s.reason)]) + ")\n";
  }
  return text;
}

void NeuronCore::collect(RunRecord& record, std::uint64_t weight, Time elapsed) const {
  const auto times = static_cast<std::int64_t>(weight);
  Activity activity;
  for (const Sequencer& s : sequencers_) {
    EngineRecord& engine = record.engines[static_cast<std::size_t>(s.engine())];
    TimeAccount account;
    account.busy = s.busy_time;
    account.stall = s.stall;
    account.idle = s.start_idle;
    (s.waiting ? account.stall[static_cast<std::size_t>(s.reason)] : account.idle) += elapsed - s.free_at;
    check(account.total() == elapsed, "busy, stalls and idle of an engine add up to the elapsed time");
    engine.sum.add(account, times);
    engine.busiest = std::max(engine.busiest, s.busy_time);
    s.for_each_executed([&](const Instruction& instruction, const Segment&, const Executed& executed) {
      engine.instructions += executed.count * weight;
      add_activity(activity, s.engine(), instruction, executed.count, executed.elements);
    });
  }
  record.activity.add(activity, weight);
  record.communication_busy_while_compute_idle += stalls_.exposed() * times;
  record.cores_with_program += weight;
  const Time open = unfinished_transfers_ > 0 ? elapsed - transfers_since_ : Time();
  record.dma_active = std::max(record.dma_active, dma_active_ + open);
  record.limiter_opened = std::min(record.limiter_opened, limiter_.opened());
}

void NeuronCore::collect_operators(std::vector<OperatorRecord>& operators, std::uint64_t weight) const {
  for (std::size_t o = 0; o < transfers_.size(); ++o) {
    operators[o].transfers.join(transfers_[o].span);
    operators[o].first_trigger = std::min(operators[o].first_trigger, transfers_[o].first_trigger);
  }
  for (const Sequencer& s : sequencers_) {
    const auto e = static_cast<std::size_t>(s.engine());
    s.for_each_executed([&](const Instruction& instruction, const Segment& segment, const Executed& executed) {
      OperatorRecord& record = operators[instruction.operator_id];
      record.busy[e] += executed.busy * static_cast<std::int64_t>(weight);
      record.instructions[e] += executed.count * weight;
      record.spans[e].join(executed.span);
      record.macs += macs_of(instruction, executed.elements) * weight;
      if (instruction.op == Op::kDma) {
        record.dma_bytes += segment.transfers[instruction.transfer].bytes_per_repeat.count() * executed.count * weight;
      }
    });
  }
}

}  // namespace trnsim
