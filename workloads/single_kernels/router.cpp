#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kSmallTensors = 8192;  // bytes per partition

/// Tokens that pass through SBUF together: their columns move at once.
std::uint64_t tile_of(const CoreSpec& core, std::uint64_t tokens) {
  return std::max<std::uint64_t>(1, std::min<std::uint64_t>(tokens, core.partitions));
}

}  // namespace

// Tokens are split over the logical core; each core reads the router for every tile of tokens.
LoweredWorkload lower_router(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  Router shape{read.count("hidden"), read.count("experts"), read.count("experts_per_token"), read.count("tokens")};
  if (shape.top_k > shape.experts) {
    throw InputError(read.need("experts_per_token").place + ": a token takes at most all experts; use " +
                     std::to_string(shape.experts) + " or less");
  }
  const Wide tokens = shape.tokens, weights = Wide(shape.hidden) * shape.experts;
  const Wide operands = kBf16Bytes * tokens * (Wide(shape.hidden) + 2 * Wide(shape.top_k));
  check_operands(operands + kBf16Bytes * weights, machine);
  const std::uint64_t tile = tile_of(machine.core, shape.tokens);
  const std::uint64_t resident =
      kSmallTensors + 2 * tile * kBf16Bytes * ceil_div(shape.hidden + shape.experts, features_per_tile(machine.core));
  LoweredWorkload lowered;
  lowered.job = job_of(placement, machine, resident, [&](KernelWriter& w) {
    Handle done;
    for (std::uint64_t at = 0; at < w.share(shape.tokens); at += tile) {
      Router part = shape;
      part.tokens = std::min(tile, w.share(shape.tokens) - at);
      const Handle loaded =
          w.move(Engine::kSync, Queue::kTiles, {.bytes = part.tokens * shape.hidden * kBf16Bytes}, {done});
      done = router(w, part, loaded);
      const Handle stored = w.move(
          Engine::kGpSimd, Queue::kStore,
          {.bytes = 2 * part.tokens * shape.top_k * kBf16Bytes, .source = Space::kSbuf, .destination = Space::kHbm},
          {done});
      w.segment().emit(Engine::kCollective, Instruction{}, {stored});
      lowered.facts.weight_bytes += placement.cores * countable(kBf16Bytes * weights);
      lowered.facts.bias_bytes += placement.cores * kBf16Bytes * shape.experts;
    }
  });
  const Wide once = shape.tokens > 0 ? kBf16Bytes * (weights + shape.experts) : Wide(0);
  lowered.facts.operand_bytes = countable((operands + once) * placement.cores);
  lowered.facts.peak_dtype = std::string(name(Dtype::kBf16));
  finish_facts(lowered, placement, machine, Dtype::kBf16, countable(2 * tokens * weights));
  return lowered;
}

}  // namespace trnsim
