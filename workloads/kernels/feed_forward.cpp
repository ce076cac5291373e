#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

}  // namespace

Handle feed_forward(KernelWriter& w, const FeedForward& f, Handle ready) {
  if (f.tokens == 0 || f.inner == 0) return ready;
  const bool gated = f.matrices == 3;
  const Projection up{
      .contraction = f.hidden, .columns = (f.matrices - 1) * f.inner, .tokens = f.tokens, .bias = f.bias};
  Handle inner = project(w, up, ready);
  const Count elements = Count::constant(w.free_elements(f.inner, f.tokens));
  inner = w.run(Engine::kScalar, {Op::kActivation, elements}, {inner});
  inner = gated ? w.run(Engine::kVector, {Op::kBinary, elements}, {inner})
                : w.segment().emit(Engine::kVector, Instruction{}, {inner});
  if (f.bias) {
    const Handle bias = w.move(Engine::kSync, Queue::kSmall,
                               {.bytes = w.share(f.hidden) * kBf16Bytes, .traffic = Traffic::kBiases}, {});
    inner = w.segment().emit(Engine::kVector, Instruction{}, {inner, bias});
  }
  return project(w, {.contraction = f.inner, .columns = f.hidden, .tokens = f.tokens, .bias = false}, inner);
}

}  // namespace trnsim
