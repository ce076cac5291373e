#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/single_kernels/latent_operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

/// One decode step, queries in SBUF.
LoweredWorkload absorbed(const SettingReader& read, const MachineSpec& machine, const Placement& placement) {
  const LatentDecode whole = latent_decode_of(read);
  const LatentCount count = count_of(whole);
  const Wide operands = count.weight_bytes + count.kv_read_bytes;
  check_operands(operands, machine);
  const std::uint64_t resident = kSmallLatentTensors + latent_resident_bytes(machine.core, whole, placement.lnc);
  LoweredWorkload lowered;
  lowered.job = job_of(placement, machine, resident,
                       [&](KernelWriter& w) { latent_attention_shared(w, whole, LatentArrivals::reserve(w), {}); });
  add_facts(lowered.facts, count, placement);
  lowered.facts.operand_bytes = countable(operands * placement.cores);
  finish_facts(lowered, placement, machine, Dtype::kBf16, countable(count.flop()));
  return lowered;
}

/// Queries and results in HBM. The cores share heads.
LoweredWorkload expanded(const SettingReader& read, const MachineSpec& machine, const Placement& placement) {
  const LatentDecode widths = latent_decode_of(read);
  LatentPrefill whole;
  whole.sequences = widths.sequences;
  whole.heads = widths.heads;
  whole.queries = read.count("query_tokens");
  whole.keys = widths.keys;
  whole.first_query = whole.keys - whole.queries;
  whole.kv_rank = widths.kv_rank;
  whole.rope_dim = widths.rope_dim;
  whole.nope_dim = widths.nope_dim;
  whole.value_dim = widths.value_dim;
  if (whole.queries == 0) whole.sequences = 0;
  const LatentCount count = count_of(whole);
  const Wide queries = bytes_of(
      Wide(whole.sequences) * whole.queries * whole.heads * (whole.nope_dim + whole.rope_dim + whole.value_dim),
      Dtype::kBf16);
  const Wide rows = bytes_of(Wide(whole.sequences) * whole.keys * widths.row(), Dtype::kBf16);
  check_operands(queries + rows + count.weight_bytes + count.kv_write_bytes, machine);
  static_cast<void>(countable(count.flop()));  // before anything is written for a job that cannot be counted
  // Two tiles of queries and outputs of one head; what is cached and expanded passes through the rings.
  const std::uint64_t head =
      ceil_div(whole.nope_dim + whole.rope_dim + whole.value_dim, features_per_tile(machine.core));
  const std::uint64_t tile = std::min<std::uint64_t>(whole.queries, machine.core.moving_columns());
  const std::uint64_t resident = kSmallLatentTensors + 2 * head * tile * storage_bytes(1, Dtype::kBf16);
  LoweredWorkload lowered;
  WorkloadFacts& facts = lowered.facts;
  lowered.job = job_of(placement, machine, resident, [&](KernelWriter& w) {
    LatentPrefill own = whole;
    own.heads = w.share(whole.heads);
    const LatentCount part = count_of(own);
    facts.weight_bytes += countable(part.weight_bytes * placement.cores);
    facts.kv_write_bytes += countable(part.kv_write_bytes * placement.cores);
    facts.kv_read_bytes += placement.cores * latent_prefill_kv_bytes(w, own);
    latent_attention_prefill(w, own, {});
  });
  facts.operand_bytes = countable((queries + rows + count.weight_bytes) * placement.cores);
  finish_facts(lowered, placement, machine, Dtype::kBf16, countable(count.flop()));
  return lowered;
}

bool is_absorbed(const SettingReader& read) {
  enum class Form { kAbsorbed, kExpanded };
  const std::uint64_t queries = read.count("query_tokens");
  if (read.is_auto("form")) return queries == 1;
  const bool chosen = read.choice<Form, 2>("form", {"absorbed", "expanded"}) == Form::kAbsorbed;
  if (chosen && queries != 1) {
    throw InputError(read.need("form").place + ": form=absorbed takes one query token; use form=expanded");
  }
  return chosen;
}

}  // namespace

LoweredWorkload lower_latent_attention(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  if (read.count("query_tokens") > read.count("context")) {
    throw InputError(read.need("query_tokens").place + ": query_tokens are part of context; at most " +
                     std::to_string(read.count("context")) + " here");
  }
  LoweredWorkload lowered = is_absorbed(read) ? absorbed(read, machine, placement) : expanded(read, machine, placement);
  lowered.facts.peak_dtype = std::string(name(Dtype::kBf16));
  return lowered;
}

}  // namespace trnsim
