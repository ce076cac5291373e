#include "workloads/graph/memory.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
// Residual stream, its copy, and the two buffers of a collective.
constexpr std::uint64_t kActivationCopies = 4;

std::string gib(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", bytes / 1073741824.0);
  return text;
}

// Weights of one chip if nothing but the mapping's own split existed: no copies.
double weights_per_chip(const Settings& s, std::uint32_t tp, std::uint32_t ep, const MachineSpec& machine) {
  const ParameterCount count = count_parameters(s.model);
  const double ranks_per_chip = static_cast<double>(machine.cores_per_chip) / s.lnc;
  const double experts = static_cast<double>(storage_bytes(count.expert_matrices, s.expert_dtype));
  const double other = static_cast<double>(count.other * kBf16Bytes);
  return (experts / std::max(tp, ep) + other / tp) * ranks_per_chip;
}

void check_weights(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  const auto capacity = static_cast<double>(machine.hbm.capacity.count() * machine.hbm.stacks);
  const double need = weights_per_chip(s, m.tp, m.ep, machine);
  if (need <= capacity) return;
  std::string message = "weights need " + gib(need) + " GiB per chip, has " + gib(capacity);
  for (const std::uint32_t tp : valid_tp(s.model)) {
    if (std::uint64_t{tp} * s.lnc > machine.cores() || weights_per_chip(s, tp, m.ep, machine) > capacity) continue;
    throw InfeasibleError(message + "; smallest tp that fits: " + std::to_string(tp));
  }
  throw InfeasibleError(message + "; no tp fits");
}

std::uint64_t tokens_in_flight(const Settings& s, const Mapping& m) {
  return m.batch_per_replica * (s.phase == Phase::kPrefill ? s.prompt_tokens : 1);
}

}  // namespace

ParameterCount count_parameters(const ModelShape& model) {
  const std::uint64_t h = model.hidden;
  const std::uint64_t qkv = model.q_width() + 2 * model.kv_width();
  const std::uint64_t attention = h * qkv + qkv + model.q_width() * h + h + model.q_heads;  // with biases and sinks
  const std::uint64_t router = h * model.experts + model.experts;
  const std::uint64_t expert_biases = model.experts * (2 * model.ffn + h);
  const std::uint64_t norms = 2 * h;
  ParameterCount count;
  count.expert_matrices = model.layers * model.experts * 3 * h * model.ffn;
  count.other = model.layers * (attention + router + expert_biases + norms) + 2 * model.vocabulary * h + h;
  return count;
}

RankMemory rank_memory(const Settings& s, const Mapping& m) {
  const ModelShape& model = s.model;
  const std::uint64_t h = model.hidden;
  const std::uint64_t q = m.q_heads * model.head_dim;
  const std::uint64_t qkv = q + 2 * m.kv_heads * model.head_dim;
  const std::uint64_t inner = ceil_div(model.ffn, m.expert_split);
  const std::uint64_t dense = h * qkv + qkv + q * h + h + m.q_heads + h * model.experts + model.experts + 2 * h +
                              m.local_experts * (2 * inner + h);
  RankMemory memory;
  memory.weights =
      model.layers * (dense * kBf16Bytes + storage_bytes(m.local_experts * 3 * h * inner, s.expert_dtype)) +
      kBf16Bytes * (2 * ceil_div(model.vocabulary, m.tp) * h + h);
  const std::uint64_t seen = s.phase == Phase::kPrefill ? s.prompt_tokens : s.context;
  const std::uint64_t positions =
      model.full_layers() * seen + (model.layers - model.full_layers()) * std::min(seen, model.window);
  memory.kv_cache = m.batch_per_replica * positions * 2 * m.kv_heads * model.head_dim * kBf16Bytes;
  memory.activations = kActivationCopies * tokens_in_flight(s, m) * h * kBf16Bytes;
  return memory;
}

std::uint64_t check_memory(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  check_weights(s, m, machine);
  const std::uint64_t reserve = machine.hbm.reserve_per_core.count() + machine.hbm.reserve_other_per_core.count();
  const std::uint64_t ranks_per_stack = machine.cores_per_stack() / m.lnc;
  const std::uint64_t ranks_used = std::min<std::uint64_t>(ranks_per_stack, std::uint64_t{m.groups} * m.group_ranks);
  const std::uint64_t per_stack = ranks_used * rank_memory(s, m).total() + machine.cores_per_stack() * reserve;
  const std::uint64_t capacity = machine.hbm.capacity.count();
  if (per_stack > capacity) {
    throw InfeasibleError("weights, KV cache and reserve need " + gib(static_cast<double>(per_stack)) +
                          " GiB per HBM stack, has " + gib(static_cast<double>(capacity)));
  }
  return per_stack * machine.hbm.stacks;
}

}  // namespace trnsim
