#include <algorithm>

#include "workloads/kernels/kernels.h"

namespace trnsim {

Handle router(KernelWriter& w, const Router& r, Handle ready) {
  if (r.tokens == 0) return ready;
  const Handle scores =
      project(w, {.contraction = r.hidden, .columns = r.experts, .tokens = r.tokens, .bias = r.bias}, ready);
  // Tokens onto partitions, then the eight largest scores and their experts in one pass each.
  const std::uint64_t token_tiles = w.tiles(r.tokens);
  w.segment().acquire(Engine::kTensor, w.rings().psum);
  const Handle turned =
      w.transpose(std::min<std::uint64_t>(r.experts, w.partitions()), std::min<std::uint64_t>(r.tokens, w.partitions()),
                  token_tiles * w.tiles(r.experts), {scores});
  const KernelWriter::Elementwise best{Op::kMax8, Count::constant(r.experts * token_tiles), Space::kPsum};
  w.run(Engine::kVector, best, {turned});
  const Handle indices = w.run(Engine::kVector, best, {});
  w.segment().release(indices, w.rings().psum);
  const Count kept = Count::constant(r.top_k * token_tiles);
  const Handle weights = w.exponential(kept, Space::kSbuf, {indices});
  w.run(Engine::kVector, {Op::kReduce, kept}, {weights});
  w.run(Engine::kVector, {Op::kReciprocal, Count::constant(token_tiles)}, {});
  return w.run(Engine::kVector, {Op::kBinary, kept}, {});
}

}  // namespace trnsim
