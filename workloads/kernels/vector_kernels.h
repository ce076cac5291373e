// Kernels that live on the vector and scalar engines, alone on a core, with the operands in HBM and the schedules that
// published code has.
#pragma once

#include <cstdint>

#include "workloads/kernels/writer.h"

namespace trnsim {

/// Order of the loops of a selective scan, outermost first.
enum class ScanSchedule : std::uint8_t {
  kStateOuter,           ///< state, channel tile
  kChannelOuter,         ///< channel tile, state
  kChannelOuterChunked,  ///< channel tile, state, chunk of the sequence
  kChunkOuter,           ///< channel tile, chunk, state
  kChunkOuterBuffered,   ///< the same; rows of b and c in two buffers, broadcast inside the multiply
};

/// x_t = exp(delta_t a) x_(t-1) + delta_t u_t b_t; y_t = sum over states of c_t x_t, for every channel.
struct SelectiveScan {
  std::uint64_t batch = 0, channels = 0, sequence = 0, states = 0;
  std::uint64_t chunk = 0;  ///< columns per step along the sequence, where the schedule has chunks
  ScanSchedule schedule = ScanSchedule::kChannelOuter;
  Dtype dtype = Dtype::kFp32;
};
/// The first three schedules. Throws InfeasibleError if a step does not fit SBUF.
void scan(TileWriter& w, const SelectiveScan& s);
/// The last two.
void scan_chunks(TileWriter& w, const SelectiveScan& s);

/// Depthwise convolution along the sequence with padding 1.
struct DepthwiseConvolution {
  static constexpr std::uint64_t kPadded = 2;  ///< columns that padding adds
  std::uint64_t batch = 0, channels = 0, sequence = 0, taps = 0;
  bool tile_resident = true;  ///< channel tile, image, position, filter in PSUM; else image, channel tile, position
  Dtype dtype = Dtype::kFp32;
};
void conv1d(TileWriter& w, const DepthwiseConvolution& c);

/// AdamW on [m x n] parameters: weights, two moments and gradient are read, weights written.
struct AdamW {
  std::uint64_t m = 0, n = 0;
  Dtype dtype = Dtype::kFp32;
};
void adamw(TileWriter& w, const AdamW& a);

/// Rotary embedding of [head_dim x columns], head_dim on the partitions, a table entry for each column.
struct RotaryTiles {
  std::uint64_t head_dim = 0, columns = 0;
  Dtype dtype = Dtype::kFp32;
};
void rope_tiles(TileWriter& w, const RotaryTiles& r);

}  // namespace trnsim
