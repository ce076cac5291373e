#include "workloads/kernels/kernels.h"

namespace trnsim {

Handle lm_head(KernelWriter& w, std::uint64_t hidden, std::uint64_t vocabulary, std::uint64_t tokens, Handle ready) {
  if (tokens == 0) return ready;
  // The running maximum per partition and token is kept while PSUM is emptied; logits are never written out.
  const Handle scores = project(
      w, {.contraction = hidden, .columns = vocabulary, .tokens = tokens, .bias = false, .evacuate = Op::kBinary},
      ready);
  w.segment().acquire(Engine::kTensor, w.rings().psum);
  const Handle turned =
      w.transpose(w.partitions(), tokens < w.partitions() ? tokens : w.partitions(), w.tiles(tokens), {scores});
  const Handle best =
      w.run(Engine::kVector, {Op::kMax8, Count::constant(w.partitions() * w.tiles(tokens)), Space::kPsum}, {turned});
  w.segment().release(best, w.rings().psum);
  return best;
}

}  // namespace trnsim
