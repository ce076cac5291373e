#include <algorithm>

#include "workloads/collectives/collectives.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kSumSources = 16;  // sources of one reducing copy, AWS Neuron DMA documentation

}  // namespace

bool Communicator::uses_ring(std::uint64_t bytes) const {
  if (algorithm != AllReduce::kAuto) return algorithm == AllReduce::kRing;
  return bytes > writer->core().collective.mesh_limit.count();
}

Communicator communicator(KernelWriter& writer, CommGroup group, const Settings& settings) {
  Communicator c;
  c.writer = &writer;
  c.group = group;
  c.memory = settings.collective_memory;
  c.algorithm = settings.all_reduce;
  if (group.size > 1) {
    c.first_phase = writer.program().semaphore(WaitReason::kCollective);
    c.second_phase = writer.program().semaphore(WaitReason::kCollective);
  }
  return c;
}

namespace collective {

Handle stage(const Communicator& c, std::uint64_t bytes, Handle ready) {
  if (c.memory == Space::kSbuf || c.in_place) return ready;
  return c.writer->move(Engine::kCollective, Queue::kStage,
                        {.bytes = bytes,
                         .traffic = Traffic::kCollective,
                         .source = Space::kSbuf,
                         .destination = Space::kHbm,
                         .generation = DescriptorGeneration::kPrebuilt},
                        {ready});
}

Handle unstage(const Communicator& c, std::uint64_t bytes, Handle arrived) {
  if (c.memory == Space::kSbuf || c.in_place) return arrived;
  return c.writer->move(Engine::kCollective, Queue::kUnstage,
                        {.bytes = bytes,
                         .traffic = Traffic::kCollective,
                         .source = Space::kHbm,
                         .destination = Space::kSbuf,
                         .generation = DescriptorGeneration::kPrebuilt},
                        {arrived});
}

Handle send(const Communicator& c, std::uint32_t distance, std::uint64_t bytes, std::uint8_t reads, SemaphoreId arrival,
            Handle ready) {
  Transfer transfer;
  transfer.bytes_per_repeat = Bytes(bytes);
  transfer.descriptors_per_repeat = c.writer->descriptors(bytes);
  transfer.peer = c.group.peer(distance);
  transfer.queue = static_cast<std::uint8_t>(distance % 2 == 0 ? Queue::kMessages : Queue::kMessages2);
  transfer.generation = DescriptorGeneration::kPrebuilt;
  transfer.traffic = Traffic::kCollective;
  transfer.source = c.memory;
  transfer.destination = c.memory;
  transfer.reads = reads;
  transfer.on_delivery = {arrival, 1};
  return c.writer->segment().dma(Engine::kCollective, transfer, Count::constant(1), {ready});
}

Handle arrivals(const Communicator& c, SemaphoreId arrival, std::uint32_t count) {
  c.writer->segment().wait(Engine::kCollective, arrival, count);
  return c.writer->segment().emit(Engine::kCollective, Instruction{});
}

Handle sum(const Communicator& c, std::uint32_t sources, std::uint64_t bytes, Handle ready) {
  Handle done = ready;
  for (std::uint32_t left = sources; left > 1;) {
    const std::uint32_t taken = std::min(left, kSumSources);
    Transfer transfer;
    transfer.bytes_per_repeat = Bytes(bytes);
    transfer.descriptors_per_repeat = c.writer->descriptors(bytes);
    transfer.queue = static_cast<std::uint8_t>(Queue::kUnstage);
    transfer.generation = DescriptorGeneration::kPrebuilt;
    transfer.traffic = Traffic::kCollective;
    transfer.source = c.memory;
    transfer.destination = c.memory;
    transfer.reads = static_cast<std::uint8_t>(taken);
    transfer.chained = true;
    done = c.writer->segment().dma(Engine::kCollective, transfer, Count::constant(1), {done});
    left -= taken - 1;
  }
  return done;
}

}  // namespace collective
}  // namespace trnsim
