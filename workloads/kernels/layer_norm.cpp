#include <algorithm>

#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

/// `matmuls` with ones sum up over the partitions, to `results` columns for each token; then one over their root. As
/// many tokens at a time as a PSUM buffer takes.
Handle scale_of(KernelWriter& w, std::uint64_t matmuls, std::uint64_t results, std::uint64_t tokens, Handle squares) {
  const std::uint64_t tile =
      std::max<std::uint64_t>(1, std::min({tokens, w.core().moving_columns(), w.rings().psum_slot / results}));
  Handle scale;
  for (std::uint64_t first = 0; first < tokens; first += tile) {
    const std::uint64_t n = std::min(tile, tokens - first);
    w.segment().acquire(Engine::kTensor, w.rings().psum);
    const Handle summed = w.matmul({.rows = w.tile_width(),
                                    .columns = w.core().tensor.columns,
                                    .free = Count::constant(n),
                                    .repeat = Count::constant(matmuls)},
                                   {squares});
    scale = w.run(Engine::kScalar, {Op::kActivation, Count::constant(results * n), Space::kPsum}, {summed});
    w.segment().release(scale, w.rings().psum);
  }
  return scale;
}

}  // namespace

Handle layer_norm(KernelWriter& w, std::uint64_t hidden, bool bias, std::uint64_t tokens, Handle ready) {
  if (tokens == 0) return ready;
  const Count all = Count::constant(w.free_elements(hidden, tokens));
  const Handle gain = w.move(Engine::kSync, Queue::kSmall,
                             {.bytes = (bias ? 2 : 1) * hidden * kBf16Bytes, .traffic = Traffic::kWeights}, {});
  const Handle squares = w.run(Engine::kScalar, {Op::kActivation, all}, {ready});
  const Handle scale = scale_of(w, 2 * w.tiles(hidden), 2, tokens, squares);  // of the values and of their squares
  w.run(Engine::kVector, {Op::kBinary, all}, {scale, ready});                 // minus the mean
  Handle done = w.run(Engine::kVector, {Op::kBinary, all}, {gain});
  if (bias) done = w.run(Engine::kVector, {Op::kBinary, all}, {});
  return done;
}

Handle head_norm(KernelWriter& w, std::uint64_t head_dim, std::uint64_t width, std::uint64_t tokens, Handle ready) {
  if (tokens == 0 || width == 0) return ready;
  const Count all = Count::constant(w.free_elements(width, tokens));
  const Handle gains =
      w.move(Engine::kSync, Queue::kSmall, {.bytes = 2 * head_dim * kBf16Bytes, .traffic = Traffic::kWeights}, {});
  const Handle squares = w.run(Engine::kScalar, {Op::kActivation, all}, {ready});
  const Handle scale = scale_of(w, w.tiles(width), w.tiles(width), tokens, squares);
  return w.run(Engine::kVector, {Op::kBinary, all}, {scale, gains});
}

}  // namespace trnsim
