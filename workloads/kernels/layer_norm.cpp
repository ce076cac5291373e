#include "workloads/kernels/norm_scale.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

}  // namespace

Handle layer_norm(KernelWriter& w, std::uint64_t hidden, bool bias, std::uint64_t tokens, Handle ready) {
  if (tokens == 0) return ready;
  const Count all = Count::constant(w.free_elements(hidden, tokens));
  const Handle gain = w.move(Engine::kSync, Queue::kSmall,
                             {.bytes = (bias ? 2 : 1) * hidden * kBf16Bytes, .traffic = Traffic::kWeights}, {});
  const Handle squares = w.run(Engine::kScalar, {Op::kActivation, all}, {ready});
  const Handle scale = norm_scale(w, 2 * w.tiles(hidden), 2, tokens, squares);  // of the values and of their squares
  w.run(Engine::kVector, {Op::kBinary, all}, {scale, ready});                   // minus the mean
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
  const Handle scale = norm_scale(w, w.tiles(width), w.tiles(width), tokens, squares);
  return w.run(Engine::kVector, {Op::kBinary, all}, {scale, gains});
}

}  // namespace trnsim
