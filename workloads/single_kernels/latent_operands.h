// What the workloads of latent attention, dense and sparse, have in common.
#pragma once

#include <algorithm>

#include "workloads/kernels/latent_kernels.h"
#include "workloads/single_kernels/operands.h"

namespace trnsim {

/// Every sequence decodes one token, whose row is written.
[[nodiscard]] inline LatentDecode latent_decode_of(const SettingReader& read) {
  LatentDecode a;
  a.sequences = read.count("batch");
  a.heads = read.count("q_heads");
  a.keys = read.count("context");
  a.written = a.keys > 0 ? a.sequences : 0;
  a.kv_rank = read.count("kv_lora_rank");
  a.rope_dim = read.count("qk_rope_dim");
  a.nope_dim = read.count("qk_nope_dim");
  a.value_dim = read.count("value_dim");
  if (a.keys == 0) a.sequences = 0;
  return a;
}

/// Bytes per partition of what stays in SBUF: the new row, and queries and outputs of as many tokens as move at once,
/// before and after they go through the latent; of these this core's heads before, all heads inside.
[[nodiscard]] inline std::uint64_t latent_resident_bytes(const CoreSpec& core, const LatentDecode& a) {
  constexpr std::uint64_t kSmallTensors = 8192;
  constexpr std::uint64_t kBf16Bytes = 2;
  const std::uint64_t tokens = std::min<std::uint64_t>(a.sequences, core.moving_columns());
  const std::uint64_t head = a.nope_dim + a.rope_dim + a.row() + a.kv_rank + a.value_dim;
  return kSmallTensors + ceil_div(a.heads * head, features_per_tile(core)) * tokens * kBf16Bytes;
}

inline void add_facts(WorkloadFacts& facts, const LatentCount& count, const Placement& placement) {
  facts.weight_bytes += countable(count.weight_bytes * placement.cores);
  facts.kv_read_bytes += countable(count.kv_read_bytes * placement.cores);
  facts.kv_write_bytes += countable(count.kv_write_bytes * placement.cores);
}

}  // namespace trnsim
