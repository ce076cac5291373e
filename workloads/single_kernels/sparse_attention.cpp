#include <algorithm>

#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/single_kernels/latent_operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

IndexerDecode indexer_of(const SettingReader& read, const LatentDecode& attention) {
  IndexerDecode a;
  a.sequences = attention.sequences;
  a.hidden = read.count("hidden");
  a.q_rank = read.count("q_lora_rank");
  a.heads = read.count("index_heads");
  a.dim = read.count("index_dim");
  a.keys = attention.keys;
  a.written = attention.written;
  a.top_k = read.count("index_topk");
  return a;
}

}  // namespace

// One decode step: hidden state, query latent and queries are in SBUF.
LoweredWorkload lower_sparse_attention(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  check_multiplies(machine, Dtype::kFp8);
  const LatentDecode attention = latent_decode_of(read);
  const IndexerDecode indexer = indexer_of(read, attention);
  LatentDecode picked = attention;
  picked.keys = indexer.kept();
  const LatentCount count = count_of(picked);
  const IndexerCount index = count_of(indexer);
  const Wide weights = count.weight_bytes + index.weight_bytes;
  check_operands(weights + count_of(attention).kv_read_bytes + index.kv_read_bytes, machine);
  const Wide useful = count.flop() + index.flop();
  static_cast<void>(countable(useful));  // before anything is written for a job that cannot be counted
  const std::uint64_t inputs = indexer.hidden + indexer.q_rank + indexer.heads * indexer.dim + indexer.dim;
  const std::uint64_t input_bytes = ceil_div(inputs, features_per_tile(machine.core)) * storage_bytes(1, Dtype::kBf16);
  const std::uint64_t resident = kSmallLatentTensors + latent_resident_bytes(machine.core, attention, placement.lnc) +
                                 attention.sequences * input_bytes;
  LoweredWorkload lowered;
  lowered.job = job_of(placement, machine, resident, [&](KernelWriter& w) {
    sparse_attention_shared(w, indexer, attention, LatentArrivals::reserve(w), {});
  });
  WorkloadFacts& facts = lowered.facts;
  add_facts(facts, count, placement);
  facts.weight_bytes += countable(index.weight_bytes * placement.cores);
  facts.kv_read_bytes += countable(index.kv_read_bytes * placement.cores);
  facts.kv_write_bytes += countable(index.kv_write_bytes * placement.cores);
  facts.operand_bytes = countable((weights + count.kv_read_bytes + index.kv_read_bytes) * placement.cores);
  facts.peak_dtype = std::string(name(Dtype::kBf16));
  finish_facts(lowered, placement, machine, Dtype::kBf16, countable(useful));
  set_roofline(lowered, machine, Dtype::kFp8, countable(index.score_flop * placement.cores));
  return lowered;
}

}  // namespace trnsim
