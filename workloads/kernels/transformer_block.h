// One dense transformer layer, from the kernels that whole models use.
#pragma once

#include <cstdint>

#include "workloads/kernels/writer.h"

namespace trnsim {

/// RMSNorm, Q K V projections, attention, output projection, RMSNorm and MLP, each with its residual sum.
struct BlockShape {
  std::uint64_t batch = 0, tokens = 0, hidden = 0, q_heads = 0, kv_heads = 0, head_dim = 0, ffn = 0;
  Function activation = Function::kGelu;
  bool gated = false;  ///< activation(gate) times up
  bool causal = false;
  std::uint64_t first_query = 0, queries = 0;  ///< of each sequence, whose attention this core computes
  std::uint64_t own_tokens = 0;                ///< of each sequence, in all but the attention

  [[nodiscard]] std::uint64_t q_width() const { return q_heads * head_dim; }
  [[nodiscard]] std::uint64_t kv_width() const { return kv_heads * head_dim; }
};
/// Tokens that pass through the projections together.
[[nodiscard]] std::uint64_t block_tile_tokens(const CoreSpec& core, const BlockShape& s);
/// Bytes per SBUF partition that they take.
[[nodiscard]] std::uint64_t block_resident_bytes(const CoreSpec& core, const BlockShape& s);
Handle transformer_block(KernelWriter& w, const BlockShape& s);

}  // namespace trnsim
