// What all norms have in common: sums over the partitions and the factor that they give.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workloads/kernels/kernels.h"

namespace trnsim {

/// `matmuls` with ones sum up over the partitions, to `results` columns for each token; then one over their root. As
/// many tokens at a time as a PSUM buffer takes.
inline Handle norm_scale(KernelWriter& w, std::uint64_t matmuls, std::uint64_t results, std::uint64_t tokens,
                         Handle squares) {
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

}  // namespace trnsim
