#include <algorithm>
#include <array>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

/// Queues that the sync engine starts; as many as a copy may use.
constexpr std::array kCopyQueues = {Queue::kWeights, Queue::kSmall, Queue::kKv, Queue::kTiles};

}  // namespace

std::uint64_t copy_queues() {
  return kCopyQueues.size();
}

// Transfers are independent: the next one is issued as soon as the engine is free. Nobody reads what lands in SBUF, so
// that buffers there are overwritten without waiting.
Handle dma_copy(KernelWriter& w, const DmaCopy& copy) {
  if (copy.bytes == 0) return {};
  check(copy.queues >= 1 && copy.queues <= kCopyQueues.size(), "a copy uses queues that there are");
  if (copy.descriptor_bytes > w.machine().dma.max_descriptor.count()) {
    throw InfeasibleError("descriptor_bytes=" + std::to_string(copy.descriptor_bytes) +
                          ": a descriptor carries at most " + std::to_string(w.machine().dma.max_descriptor.count()) +
                          " bytes on this machine");
  }
  const std::uint64_t transfers = std::min(copy.transfers, copy.bytes);
  std::array<Handle, kCopyQueues.size()> last{};
  const auto move = [&](std::uint64_t bytes, std::uint64_t queue) {
    last[queue] = w.move(Engine::kSync, kCopyQueues[queue],
                         {.bytes = bytes,
                          .descriptors = ceil_div(bytes, copy.descriptor_bytes),
                          .traffic = Traffic::kActivations,
                          .source = copy.source,
                          .destination = copy.destination,
                          .generation = copy.generation},
                         {});
  };
  const std::uint64_t each = copy.bytes / transfers;
  const std::uint64_t longer = copy.bytes % transfers;  // the first transfers take one byte more
  for (std::uint64_t t = 0; t < transfers; ++t) move(each + (t < longer ? 1 : 0), t % copy.queues);
  Handle done;
  for (const Handle& handle : last) done = w.segment().emit(Engine::kSync, Instruction{}, {done, handle});
  return done;
}

}  // namespace trnsim
