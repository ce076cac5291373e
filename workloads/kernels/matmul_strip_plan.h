// What a matmul by strips keeps in SBUF.
#pragma once

#include <cstdint>

#include "models/mechanism/error.h"
#include "workloads/kernels/matmul_parts.h"

namespace trnsim {

// Choices of software: result tiles on their way out, copies of row blocks and activations.
inline constexpr std::uint64_t kStagedResults = 4;
inline constexpr std::uint64_t kBuffers = 2;
inline constexpr std::uint64_t kOperandsOfTheSum = 2;

inline std::uint64_t pieces_of(std::uint64_t extent, std::uint64_t block, std::uint64_t part) {
  std::uint64_t count = 0;
  for (const Range& range : cut({0, extent}, block)) count += ceil_div(range.size, part);
  return count;
}

/// How long B stays: all of it, a column block while the rows pass, or only for the block of rows at hand.
enum class RhsStay : std::uint8_t { kAll, kBlock, kPass };

/// SBUF per partition: what is kept of both operands, by what fits.
struct StripPlan {
  StripPlan(const CoreSpec& core, const ScheduledMatmul& s) : tile(core, s.dtype, true) {
    const auto bytes = [&](std::uint64_t elements) { return storage_bytes(elements, s.dtype); };
    norms = s.prologue == MatmulPrologue::kAddRmsNorm;
    if (norms && s.block_m > tile.m) throw InfeasibleError("a prologue takes one row tile at a time as block_m");
    row_slot = bytes(s.load_k);
    rows_of_block = ceil_div(s.block_m, tile.m) * ceil_div(s.k, s.load_k);
    turned_slot = bytes(tile.m);
    turned_of_block = ceil_div(s.block_m, tile.m) * ceil_div(s.k, tile.k);
    rhs_slot = bytes(s.load_n);
    room = core.sbuf_per_partition.count();
    take(kStagedResults * bytes(tile.n));
    if (norms) take((kOperandsOfTheSum + kBuffers + 1) * kBuffers * bytes(s.k));
    take(kBuffers * (rows_of_block * row_slot + turned_of_block * turned_slot));
    const std::uint64_t k_tiles = ceil_div(s.k, tile.k);
    const std::uint64_t all_turned = k_tiles * pieces_of(s.m, s.block_m, tile.m);
    const std::uint64_t rhs_all = k_tiles * pieces_of(s.n, s.block_n, s.load_n);
    const std::uint64_t rhs_block = k_tiles * ceil_div(s.block_n, s.load_n);
    keeps_lhs = !norms && fits(all_turned * turned_slot + rhs_all * rhs_slot);
    // With a prologue all columns pass for one block of rows: a column block does not outlast it.
    stay = fits(rhs_all * rhs_slot)               ? RhsStay::kAll
           : !norms && fits(rhs_block * rhs_slot) ? RhsStay::kBlock
                                                  : RhsStay::kPass;
    if (keeps_lhs) take(all_turned * turned_slot);
    turned = keeps_lhs ? all_turned : kBuffers * turned_of_block;
    rhs = stay == RhsStay::kAll ? rhs_all : stay == RhsStay::kBlock ? rhs_block : room / rhs_slot;
    if (rhs == 0) throw InfeasibleError("one load of B does not fit SBUF");
    take(rhs * rhs_slot);
  }

  [[nodiscard]] bool fits(std::uint64_t bytes) const { return bytes <= room; }
  void take(std::uint64_t bytes) {
    if (!fits(bytes)) throw InfeasibleError("the strips of this matmul do not fit SBUF");
    room -= bytes;
  }

  TileShape tile;
  bool norms = false;
  bool keeps_lhs = false;  ///< A stays transposed for the whole product
  RhsStay stay = RhsStay::kAll;
  std::uint64_t row_slot = 0, rows_of_block = 0;
  std::uint64_t turned_slot = 0, turned_of_block = 0, turned = 0;
  std::uint64_t rhs_slot = 0, rhs = 0;
  std::uint64_t room = 0;  ///< left
};

}  // namespace trnsim
