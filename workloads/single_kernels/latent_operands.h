// What the workloads of latent attention, dense and sparse, have in common.
#pragma once

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

/// Bytes per partition of biases, gains and what else is small.
inline constexpr std::uint64_t kSmallLatentTensors = 8192;

inline void add_facts(WorkloadFacts& facts, const LatentCount& count, const Placement& placement) {
  facts.weight_bytes += countable(count.weight_bytes * placement.cores);
  facts.kv_read_bytes += countable(count.kv_read_bytes * placement.cores);
  facts.kv_write_bytes += countable(count.kv_write_bytes * placement.cores);
}

}  // namespace trnsim
