// What a tiled matmul keeps in SBUF.
#pragma once

#include <cstdint>

#include "workloads/kernels/matmul_bias.h"
#include "workloads/kernels/matmul_parts.h"

namespace trnsim {

/// What SBUF holds beside two loads of the k body.
struct TiledRoom {
  static constexpr std::uint64_t kStagedResults = 4;  ///< result tiles on their way out: a choice of software
  static constexpr std::uint64_t kBuffers = 2;

  TiledRoom(const CoreSpec& core, const ScheduledMatmul& s) {
    const TileShape tile(core, s.dtype, s.transpose_lhs);
    const std::uint64_t lhs = ceil_div(s.block_m, s.load_m) * slot_bytes(core, tile.k, s.load_m, s.dtype);
    const std::uint64_t rhs = ceil_div(s.block_n, s.load_n) * slot_bytes(core, tile.k, s.load_n, s.dtype);
    const std::uint64_t k_tiles = ceil_div(s.k, tile.k);
    const std::uint64_t strips = kBuffers * k_tiles * lhs + kBuffers * rhs + results(tile, s);
    const std::uint64_t all = ceil_div(s.n, s.block_n) * k_tiles * rhs;
    keeps_lhs = strips <= core.sbuf_per_partition.count();
    keeps_rhs = keeps_lhs && strips + all <= core.sbuf_per_partition.count();
  }

  [[nodiscard]] static bool has_bias(const ScheduledMatmul& s) {
    return s.epilogue == MatmulEpilogue::kBiasGelu || s.epilogue == MatmulEpilogue::kBiasGeluKernel;
  }
  /// Bytes per partition of results and biases under way.
  [[nodiscard]] static std::uint64_t results(const TileShape& tile, const ScheduledMatmul& s) {
    return (kStagedResults + (has_bias(s) ? BiasRows::kBuffers : 0)) * storage_bytes(tile.n, s.result_dtype);
  }

  bool keeps_lhs = false;  ///< a row strip of A, and the next
  bool keeps_rhs = false;  ///< all of B
};

}  // namespace trnsim
