#include "workloads/graph/memory.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "models/mechanism/error.h"
#include "workloads/graph/flop.h"
#include "workloads/graph/layer_writer.h"
#include "workloads/models/parameter_count.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
// Residual stream, its copy, and the two buffers of a collective.
constexpr std::uint64_t kActivationCopies = 4;
constexpr double kMostParameters = 1e17;

std::string gib(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", bytes / 1073741824.0);
  return text;
}

std::string whole(Wide bytes) {
  constexpr int kBase = 10;
  std::string digits;
  for (; bytes > 0; bytes /= kBase)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(bytes % kBase)));
  return digits;
}

// Weights of one chip if nothing but the mapping's own split existed: no copies.
double weights_per_chip(const Settings& s, std::uint32_t tp, std::uint32_t ep, const MachineSpec& machine) {
  const ParameterCount count = count_parameters(s.model);
  const double ranks_per_chip = static_cast<double>(machine.cores_per_chip) / s.lnc;
  const double experts = static_cast<double>(storage_bytes(count.expert_matrices, s.expert_dtype));
  const double other = static_cast<double>(count.other * kBf16Bytes);
  return (experts / std::max(tp, ep) + other / tp) * ranks_per_chip;
}

double capacity_of_chip(const MachineSpec& machine) {
  return static_cast<double>(machine.hbm.capacity.count() * machine.hbm.stacks);
}

/// How much of a layer one rank holds.
struct Split {
  std::uint64_t q_heads = 0, kv_heads = 0;
  std::uint64_t ranks = 1;    ///< that the inner widths of feed-forward parts are dealt over
  std::uint64_t experts = 0;  ///< whose biases are here
  std::uint64_t expert_split = 1;
};

/// Elements of latent attention before the output projection, with its norms and indexer.
std::uint64_t latent_attention_elements(const ModelShape& model, std::uint64_t heads) {
  const LatentShape& latent = model.latent;
  const std::uint64_t norms = latent.q_rank + latent.kv_rank + (model.indexer.top_k > 0 ? 2 * model.indexer.dim : 0);
  return latent_elements(model, heads) + indexer_elements(model) + norms +
         latent.kv_rank * heads * (latent.nope_dim + model.value_dim);
}

/// Bytes that a token leaves in the cache of a layer.
std::uint64_t cached_bytes(const ModelShape& model, std::uint64_t kv_heads) {
  if (model.latent.kv_rank == 0) return 2 * kv_heads * model.head_dim * kBf16Bytes;
  const std::uint64_t key = IndexerDecode{.dim = model.indexer.dim}.key_bytes();
  return model.latent.row() * kBf16Bytes + (model.indexer.top_k > 0 ? key : 0);
}

/// Elements of a layer with biases, norms and sinks, but for the matrices of routed experts.
std::uint64_t dense_elements(const ModelShape& model, FfnKind kind, const Split& split) {
  const std::uint64_t h = model.hidden;
  const std::uint64_t qkv = (split.q_heads + 2 * split.kv_heads) * model.head_dim;
  const std::uint64_t norm = model.norm_bias ? 2 * h : h;
  std::uint64_t elements = split.q_heads * model.value_dim * h + 2 * norm;
  elements += model.latent.kv_rank > 0 ? latent_attention_elements(model, split.q_heads) : h * qkv;
  if (model.attention_bias != AttentionBias::kNone) elements += qkv;
  if (model.attention_bias == AttentionBias::kQkvo) elements += h;
  if (model.attention_sink) elements += split.q_heads;
  if (model.qk_norm) elements += 2 * model.head_dim;
  const bool experts = kind == FfnKind::kExperts;
  const std::uint64_t inner = ceil_div(experts ? model.shared_experts * model.ffn : model.dense_ffn, split.ranks);
  elements += model.ffn_matrices * h * inner;
  if (model.ffn_bias && inner > 0) elements += (model.ffn_matrices - 1) * inner + h;
  if (!experts) return elements;
  elements += h * model.experts + (model.router_correction ? model.experts : 0);
  const std::uint64_t biases = (model.ffn_matrices - 1) * ceil_div(model.ffn, split.expert_split) + h;
  return model.ffn_bias ? elements + model.experts + split.experts * biases : elements;
}

/// Elements of embedding, output matrix and last norm in one of `ranks` ranks.
std::uint64_t ends(const ModelShape& model, std::uint64_t ranks) {
  const std::uint64_t matrices = model.tied_embedding ? 1 : 2;
  const std::uint64_t norm = model.norm_bias ? 2 * model.hidden : model.hidden;
  return matrices * ceil_div(model.vocabulary, ranks) * model.hidden + norm;
}

std::uint64_t reserve_of_stack(const MachineSpec& machine) {
  return machine.cores_per_stack() *
         (machine.hbm.reserve_per_core.count() + machine.hbm.reserve_other_per_core.count());
}

std::uint64_t ranks_of_stack(const Mapping& m, const MachineSpec& machine) {
  const std::uint64_t room = machine.cores_per_stack() / m.lnc;
  return std::min<std::uint64_t>(room, std::uint64_t{m.groups} * m.group_ranks);
}

/// Exact: a batch and a context that no machine holds pass 2^64 bytes.
Wide bytes_of_stack(const RankMemory& memory, std::uint64_t sequences, const Mapping& m, const MachineSpec& machine) {
  const Wide rank = static_cast<Wide>(memory.weights) + static_cast<Wide>(sequences) * memory.sequence();
  return static_cast<Wide>(ranks_of_stack(m, machine)) * rank + reserve_of_stack(machine);
}

/// Whether a model mapped so passes everything that is checked before its programs are written.
bool fits(const Settings& s, const MachineSpec& machine) {
  try {
    const Mapping m = map_onto(s, machine);
    const std::uint64_t resident =
        s.phase == Phase::kPrefill ? prefill_resident_bytes(s, m, machine) : decode_resident_bytes(s, m, machine);
    return weights_per_chip(s, m.tp, m.ep, machine) <= capacity_of_chip(machine) &&
           bytes_of_stack(rank_memory(s, m), m.batch_per_replica, m, machine) <= machine.hbm.capacity.count() &&
           resident < machine.core.sbuf_per_partition.count();
  } catch (const InfeasibleError&) {
    return false;
  }
}

/// The largest value of `parameter`, below what is asked for, that fits with all else as it is; 0 if none does.
std::uint64_t most(Settings s, std::uint64_t Settings::*parameter, const MachineSpec& machine) {
  std::uint64_t low = 0;
  std::uint64_t high = s.*parameter;  // does not fit
  while (high - low > 1) {
    s.*parameter = low + (high - low) / 2;
    (fits(s, machine) ? low : high) = s.*parameter;
  }
  return low;
}

/// What would fit instead, one change at a time.
std::string remedies(const Settings& s, const MachineSpec& machine) {
  std::string text;
  if (const std::uint64_t batch = most(s, &Settings::batch, machine); batch > 0)
    text +=
        "; at most " + std::to_string(batch) + " sequences" + (s.batch_is_per_replica ? " per replica" : "") + " fit";
  const bool prefills = s.phase == Phase::kPrefill;
  if (const std::uint64_t tokens = most(s, prefills ? &Settings::prompt_tokens : &Settings::context, machine);
      tokens > 0)
    text += std::string("; ") + (prefills ? "prompt_tokens" : "context") + " up to " + std::to_string(tokens) + " fits";
  Settings narrow = s;
  narrow.expert_dtype = Dtype::kFp8;
  if (s.expert_dtype == Dtype::kBf16 && fits(narrow, machine)) text += "; precision=fp8_experts fits";
  for (const std::uint32_t tp : valid_tp(s.model)) {
    Settings wide = s;
    wide.tp = tp;
    if (fits(wide, machine)) return text + "; smallest tp that fits: " + std::to_string(tp);
  }
  return text + "; no tp fits";
}

/// Counts of parameters are 64 bits wide.
void check_countable(const ModelShape& model) {
  const double inner = static_cast<double>(model.experts) * static_cast<double>(model.ffn) +
                       static_cast<double>(model.shared_experts) * static_cast<double>(model.ffn) +
                       static_cast<double>(model.dense_ffn);
  const double parameters = static_cast<double>(model.ffn_matrices) * static_cast<double>(model.layers) *
                            static_cast<double>(model.hidden) * inner;
  if (parameters > kMostParameters)
    throw InfeasibleError("the model has more than 10^17 parameters; none is that large");
}

void check_weights(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  const double capacity = capacity_of_chip(machine);
  const double need = weights_per_chip(s, m.tp, m.ep, machine);
  if (need <= capacity) return;
  throw InfeasibleError("weights need " + gib(need) + " GiB per chip, has " + gib(capacity) + remedies(s, machine));
}

}  // namespace

ParameterCount count_parameters(const ModelShape& model) {
  const ModelCounts counts = model_counts(model);
  const auto experts = static_cast<std::uint64_t>(counts.routed_expert_matrices);
  return {experts, static_cast<std::uint64_t>(counts.total) - experts};
}

RankMemory rank_memory(const Settings& s, const Mapping& m) {
  const ModelShape& model = s.model;
  const Split split{.q_heads = m.q_heads,
                    .kv_heads = m.kv_heads,
                    .ranks = m.tp,
                    .experts = m.local_experts,
                    .expert_split = m.expert_split};
  const std::uint64_t seen = s.phase == Phase::kPrefill ? s.prompt_tokens : s.context;
  const std::uint64_t expert = model.ffn_matrices * model.hidden * ceil_div(model.ffn, m.expert_split);
  RankMemory memory;
  memory.weights = kBf16Bytes * ends(model, m.tp);
  std::uint64_t positions = 0;
  for (const LayersOfKind& layers : model.kinds()) {
    memory.weights += layers.count * kBf16Bytes * dense_elements(model, layers.kind.ffn, split);
    if (layers.kind.ffn == FfnKind::kExperts)
      memory.weights += layers.count * storage_bytes(m.local_experts * expert, s.expert_dtype);
    positions += layers.count * model.cached(layers.kind.attention, seen);
  }
  memory.kv_cache = positions * cached_bytes(model, m.kv_heads);
  const std::uint64_t tokens = s.phase == Phase::kPrefill ? s.prompt_tokens : 1;
  memory.activations = kActivationCopies * tokens * model.hidden * kBf16Bytes;
  if (model.latent.kv_rank > 0 && s.phase == Phase::kPrefill)  // keys and values of one layer
    memory.activations += tokens * m.q_heads * (model.latent.nope_dim + model.value_dim) * kBf16Bytes;
  return memory;
}

void check_operands(Wide bytes, const MachineSpec& machine) {
  const Wide need = bytes + reserve_of_stack(machine);
  const std::uint64_t capacity = machine.hbm.capacity.count();
  if (need <= capacity) return;
  throw InfeasibleError("operands and reserve need " + gib(static_cast<double>(need)) + " GiB per HBM stack, has " +
                        gib(static_cast<double>(capacity)) + ": short by " + whole(need - capacity) + " bytes");
}

Wide check_memory(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  check_countable(s.model);
  if (!s.may_exceed_memory) check_weights(s, m, machine);
  const RankMemory memory = rank_memory(s, m);
  const Wide need = bytes_of_stack(memory, m.batch_per_replica, m, machine);
  const std::uint64_t capacity = machine.hbm.capacity.count();
  if (need > capacity && !s.may_exceed_memory) {
    throw InfeasibleError("weights, KV cache and reserve need " + gib(static_cast<double>(need)) +
                          " GiB per HBM stack, has " + gib(static_cast<double>(capacity)) + ": short by " +
                          whole(need - capacity) + " bytes" + remedies(s, machine));
  }
  return need * machine.hbm.stacks;
}

}  // namespace trnsim
