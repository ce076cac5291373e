#include "workloads/kernels/norm_scale.h"

namespace trnsim {

Handle rms_norm(KernelWriter& w, std::uint64_t hidden, std::uint64_t tokens, Handle ready) {
  if (tokens == 0) return ready;
  const std::uint64_t all = w.free_elements(hidden, tokens);
  const Handle gain = w.move(Engine::kSync, Queue::kSmall, {.bytes = 2 * hidden, .traffic = Traffic::kWeights}, {});
  const Handle squares = w.run(Engine::kScalar, {Op::kActivation, Count::constant(all)}, {ready});
  const Handle scale = norm_scale(w, w.tiles(hidden), 1, tokens, squares);
  return w.run(Engine::kVector, {Op::kBinary, Count::constant(all)}, {scale, gain});
}

}  // namespace trnsim
