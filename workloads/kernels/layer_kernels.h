// Layers as one kernel, alone on a core, with the operands in HBM and the schedules that published code has.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/kernels/writer.h"

namespace trnsim {

/// Norm, router and the experts that it picks, for a few tokens: each choice of each token reads its expert's weights.
struct SelectiveMoe {
  std::uint64_t tokens = 0, hidden = 0, experts = 0, top_k = 0, inner = 0;
  Dtype dtype = Dtype::kFp8;  ///< of expert weights; FP8 ones come with an FP32 scale per output
};
/// Bytes of weights that the core reads: gate and up whole, its half of down's columns.
[[nodiscard]] std::uint64_t selective_weight_bytes(const TileWriter& w, const SelectiveMoe& m);
void moe_selective(TileWriter& w, const SelectiveMoe& m);

/// down(silu(gate x) up x) for `tokens` tokens, in three phases with the inner activation in HBM between them.
struct GatedMlp {
  std::uint64_t tokens = 0, hidden = 0, inner = 0, output = 0;
  Dtype dtype = Dtype::kFp32;
};
void mlp_gated(TileWriter& w, const GatedMlp& m);

/// Linear layers one after the other; activations stay in SBUF, features on partitions.
struct LinearChain {
  std::uint64_t tokens = 0;
  std::vector<std::uint64_t> widths;  ///< of the input, then of each layer's output
  bool bias = false;
  Function activation = Function::kNone;
  Dtype dtype = Dtype::kBf16;   ///< of the products
  Dtype stored = Dtype::kBf16;  ///< of weights and activations in HBM
};
void mlp_chain(TileWriter& w, const LinearChain& c);

/// The same, each layer a blocked matmul over HBM: blocks of n outside, of k, of m inside, partial sums in SBUF.
struct BlockedMlp {
  std::uint64_t tokens = 0;
  std::vector<std::uint64_t> widths;  ///< of the input, then of each layer's output
  std::uint64_t block_m = 1, block_n = 1, block_k = 1;
  bool bias = false, relu = false, log_softmax = false;
  Dtype dtype = Dtype::kFp32;
};
void mlp_blocks(TileWriter& w, const BlockedMlp& m);

}  // namespace trnsim
