#include "workloads/kernels/transformer_block.h"

#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/graph/layer_writer.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

BlockShape shape_of(const SettingReader& read) {
  BlockShape s;
  s.batch = read.count("batch");
  s.tokens = read.count("tokens");
  s.hidden = read.count("hidden");
  s.q_heads = read.count("q_heads");
  s.kv_heads = read.count("kv_heads");
  s.head_dim = read.count("head_dim");
  s.ffn = read.count("ffn");
  s.causal = read.yes("causal");
  enum class Activation { kGelu, kSilu, kSwiglu };
  const auto activation = read.choice<Activation, 3>("activation", {"gelu", "silu", "swiglu"});
  s.gated = activation == Activation::kSwiglu;
  s.activation = activation == Activation::kGelu ? Function::kGelu : Function::kSilu;
  enum class Multiplied { kBf16 };
  (void)read.choice<Multiplied, 1>("dtype", {"bf16"});
  check_heads(read, s.q_heads, s.kv_heads);
  return s;
}

Wide matrix_elements(const BlockShape& s) {
  return Wide(s.hidden) * (2 * s.q_width() + 2 * s.kv_width() + (s.gated ? 3 : 2) * s.ffn);
}

// Queries are dealt so that the cores have equal pairs of them and keys; all else has as much to do for every token.
BlockShape part_of(const BlockShape& whole, std::uint32_t lnc, std::uint32_t lane, std::uint64_t multiple) {
  const QueryRange range = prefill_queries(whole.tokens, whole.causal, lnc, lane, multiple);
  BlockShape part = whole;
  part.first_query = range.first;
  part.queries = range.count;
  part.own_tokens = prefill_queries(whole.tokens, false, lnc, lane, multiple).count;
  return part;
}

/// What one core moves, in closed form.
void add_bytes(WorkloadFacts& facts, const KernelWriter& w, const BlockShape& s, std::uint64_t cores) {
  const std::uint64_t tokens = s.batch * s.own_tokens;
  const std::uint64_t tiles = ceil_div(tokens, block_tile_tokens(w.core(), s));
  const std::uint64_t gains = 2 * s.hidden;
  facts.weight_bytes += cores * tiles * countable(kBf16Bytes * (matrix_elements(s) + gains));
  facts.kv_write_bytes += cores * 2 * tokens * s.kv_width() * kBf16Bytes;
  PrefillAttention a;
  a.head_dim = s.head_dim;
  a.first_query = s.first_query;
  a.queries = s.queries;
  a.keys = s.tokens;
  a.causal = s.causal;
  facts.kv_read_bytes += cores * 2 * s.kv_width() * kBf16Bytes * s.batch * keys_read(a, queries_per_pass(w, a));
}

}  // namespace

LoweredWorkload lower_transformer_block(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const BlockShape s = shape_of(read);
  if (s.head_dim > features_per_tile(machine.core)) {
    throw InfeasibleError("head_dim=" + std::to_string(s.head_dim) + ": attention holds a head on " +
                          std::to_string(features_per_tile(machine.core)) + " partitions of this machine");
  }
  const Wide tokens = Wide(s.batch) * s.tokens;
  check_operands(kBf16Bytes * (matrix_elements(s) + tokens * (2 * s.hidden + s.q_width() + 2 * s.kv_width())), machine);
  const Wide pairs = Wide(s.batch) * (s.causal ? causal_pairs(s.tokens, 0) : Wide(s.tokens) * s.tokens);
  const std::uint64_t useful = countable(2 * tokens * matrix_elements(s) + 4 * pairs * s.q_width());
  LoweredWorkload lowered;
  std::uint64_t resident = 0;
  for (std::uint32_t lane = 0; lane < placement.lnc; ++lane) {
    const BlockShape part = part_of(s, placement.lnc, lane, features_per_tile(machine.core));
    resident = std::max(resident, block_resident_bytes(machine.core, part));
  }
  lowered.job = job_of(placement, machine, resident, [&](KernelWriter& w) {
    const BlockShape part = part_of(s, w.lnc(), w.lane(), w.tile_width());
    if (tokens > 0) add_bytes(lowered.facts, w, part, placement.cores);
    transformer_block(w, part);
  });
  const Wide once = tokens > 0 ? matrix_elements(s) + 2 * s.hidden : 0;  // and the stream in and out
  lowered.facts.operand_bytes = countable((once + 2 * tokens * s.hidden) * kBf16Bytes * placement.cores);
  lowered.facts.peak_dtype = std::string(name(Dtype::kBf16));
  finish_facts(lowered, placement, machine, Dtype::kBf16, useful);
  return lowered;
}

}  // namespace trnsim
