#include <algorithm>

#include "workloads/kernels/kernels.h"

namespace trnsim {

Handle rms_norm(KernelWriter& w, std::uint64_t hidden, std::uint64_t tokens, Handle ready) {
  if (tokens == 0) return ready;
  const std::uint64_t all = w.free_elements(hidden, tokens);
  const Handle gain = w.move(Engine::kSync, Queue::kSmall, {.bytes = 2 * hidden, .traffic = Traffic::kWeights}, {});
  const Handle squares = w.run(Engine::kScalar, {Op::kActivation, Count::constant(all)}, {ready});
  const std::uint64_t tile = std::min({tokens, w.core().moving_columns(), w.rings().psum_slot});
  Handle scale;
  for (std::uint64_t first = 0; first < tokens; first += tile) {
    const std::uint64_t n = std::min(tile, tokens - first);
    w.segment().acquire(Engine::kTensor, w.rings().psum);
    const Handle sums = w.matmul({.rows = w.tile_width(),
                                  .columns = w.core().tensor.columns,
                                  .free = Count::constant(n),
                                  .repeat = Count::constant(w.tiles(hidden))},
                                 {squares});
    scale = w.run(Engine::kScalar, {Op::kActivation, Count::constant(n), Space::kPsum}, {sums});
    w.segment().release(scale, w.rings().psum);
  }
  return w.run(Engine::kVector, {Op::kBinary, Count::constant(all)}, {scale, gain});
}

}  // namespace trnsim
