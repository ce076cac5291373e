#include "workloads/collectives/emit.h"

#include <map>
#include <string>
#include <utility>

#include "models/mechanism/error.h"
#include "models/program/builder.h"
#include "workloads/collectives/steps.h"

namespace trnsim::collective {

struct Emitter::Programs {
  std::map<Outline, std::shared_ptr<const Program>> by_outline;
  // Of the member at hand; they keep their room from one to the next.
  Outline outline;
  Peers peers;
};

Emitter::Emitter(const MachineSpec& machine, const Operands& operands, std::string name,
                 std::function<CoreId(std::uint32_t)> core_of)
    : machine_(machine),
      operands_(operands),
      name_(std::move(name)),
      core_of_(std::move(core_of)),
      programs_(std::make_unique<Programs>()) {}

Emitter::~Emitter() = default;

CoreJob Emitter::job_of(const Script& script) {
  auto& [by_outline, outline, peers] = *programs_;
  peers.clear();
  outline_of(script, core_of_, peers, outline);
  auto found = by_outline.find(outline);
  if (found == by_outline.end()) found = by_outline.emplace(outline, program_of(outline)).first;
  return {found->second, {}, peers.cores()};
}

std::shared_ptr<const Program> Emitter::program_of(const Outline& outline) const {
  const auto queue_of = [this](std::uint8_t stream, std::uint8_t channel) {
    const std::size_t per_stream = machine_.dma.queues_per_engine / kStreamCount;
    if (per_stream == 0) {
      throw InfeasibleError("each of " + std::to_string(kStreamCount) +
                            " streams has a DMA queue of its own, the machine has " +
                            std::to_string(machine_.dma.queues_per_engine) + "; set dma.queues_per_engine to " +
                            std::to_string(kStreamCount) + " or more");
    }
    return static_cast<std::uint8_t>(stream * per_stream + channel % per_stream);
  };
  ProgramBuilder builder(name_);
  builder.call(builder.segment(name_, [&](SegmentBuilder& segment) {
    segment.operator_is(name_);
    std::vector<SemaphoreId> semaphores;
    for (Event e = 0; e < outline.events; ++e) semaphores.push_back(builder.semaphore(WaitReason::kCollective));
    Handle ready;
    if (operands_.copied_in > 0) ready = copy(segment, operands_.copied_in, {});
    const std::vector<Handle> ends = write_steps(outline, {operands_.element_bytes, operands_.memory, queue_of},
                                                 machine_, segment, semaphores, ready);
    if (operands_.copied_out > 0) copy(segment, operands_.copied_out, ends);
  }));
  return builder.finish();
}

Handle Emitter::copy(SegmentBuilder& segment, std::uint64_t elements, std::span<const Handle> after) const {
  Transfer transfer = prebuilt(operands_.memory, Bytes(elements * operands_.element_bytes));
  transfer.descriptors_per_repeat = message_descriptors(machine_, transfer.bytes_per_repeat);
  return segment.dma(Engine::kCollective, transfer, Count::constant(1), after);
}

}  // namespace trnsim::collective
