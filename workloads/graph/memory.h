// What a mapped model keeps in HBM.
#pragma once

#include <cstdint>

#include "models/mechanism/units.h"
#include "models/system/machine_spec.h"
#include "workloads/mapping/mapping.h"
#include "workloads/settings.h"

namespace trnsim {

/// Parameter counts of a model, from its dimensions.
struct ParameterCount {
  std::uint64_t expert_matrices = 0;  ///< all layers; kept in the experts' format
  std::uint64_t other = 0;            ///< all layers, embedding, output matrix, biases, norms, sinks; BF16
  [[nodiscard]] std::uint64_t total() const { return expert_matrices + other; }
};
[[nodiscard]] ParameterCount count_parameters(const ModelShape& model);

/// Bytes in one rank's memory.
struct RankMemory {
  std::uint64_t weights = 0;      ///< copies of KV heads, router and norms counted
  std::uint64_t kv_cache = 0;     ///< per sequence
  std::uint64_t activations = 0;  ///< per sequence: residual stream and collective buffers
  [[nodiscard]] std::uint64_t sequence() const { return kv_cache + activations; }
};
[[nodiscard]] RankMemory rank_memory(const Settings& settings, const Mapping& mapping);

/// Throws InfeasibleError if the weights exceed a chip, or weights, KV cache, activations and reserve exceed a stack.
/// The message says what would fit: the most sequences, the longest context, FP8 experts, the smallest tp.
/// Settings may allow the latter. Returns the bytes used on the fullest chip, reserve included.
Wide check_memory(const Settings& settings, const Mapping& mapping, const MachineSpec& machine);

/// Throws InfeasibleError if a kernel's `bytes` of operands and results exceed what the stack of its core has left.
void check_operands(Wide bytes, const MachineSpec& machine);

}  // namespace trnsim
