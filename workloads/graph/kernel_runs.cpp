#include "workloads/graph/kernel_runs.h"

#include <algorithm>
#include <functional>

#include "models/mechanism/error.h"
#include "workloads/graph/count.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/layer_writer.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kQuarterBitsPerByte = 32;
constexpr std::uint64_t kSmallTensors = 8192;  // per partition

std::uint64_t share(std::uint64_t count, std::uint32_t lnc, std::uint32_t lane) {
  return count / lnc + static_cast<std::uint64_t>(lane < count % lnc);
}

/// One program per physical core of the first logical core; all other cores stay idle.
Job job_of(const Settings& s, const MachineSpec& machine, std::uint64_t resident,
           const std::function<void(KernelWriter&)>& write) {
  Job job;
  job.cores.resize(machine.cores());
  ReplicaGroup group;
  const std::string kernel(kPhaseNames[static_cast<std::size_t>(s.phase)]);
  for (std::uint32_t lane = 0; lane < s.lnc; ++lane) {
    ProgramBuilder program(kernel);
    KernelWriter w(program, machine, s.lnc, lane, resident, 0);
    const std::uint32_t segment = program.segment("kernel", [&](SegmentBuilder& b) {
      w.write_to(b);
      b.operator_is(kernel);
      write(w);
    });
    program.call(segment);
    job.cores[lane] = {program.finish(), {}, {CoreId(s.lnc == 1 ? lane : 1 - lane)}};
    group.cores.push_back(CoreId(lane));
  }
  job.replicas.push_back(group);
  return job;
}

void finish_facts(LoweredWorkload& lowered, const Settings& s, const MachineSpec& machine, Dtype dtype,
                  std::uint64_t useful) {
  WorkloadFacts& facts = lowered.facts;
  WorkCount count;
  for (const CoreJob& core : lowered.job.cores) count.add(count_work(core), 1);
  std::uint64_t macs = 0;
  for (const std::uint64_t of_dtype : count.macs) macs += of_dtype;
  facts.useful_flop = useful;
  facts.padding_flop = 2 * macs - useful;
  facts.lnc = s.lnc;
  facts.tp = facts.ep = facts.dp = 1;
  facts.idle_cores = machine.cores() - s.lnc;
  set_roofline(lowered, machine, dtype, useful);
}

Wide pairs_of(const Settings& s) {
  PrefillAttention a;
  a.keys = s.context;
  a.causal = s.causal;
  a.window = s.window;
  std::uint64_t pairs = 0;
  for (std::uint64_t p = s.context - s.query_tokens; p < s.context; ++p) pairs += a.end_seen(p + 1) - a.first_seen(p);
  return static_cast<Wide>(s.batch) * pairs;
}

DecodeAttention decode_of(const KernelWriter& w, const Settings& s) {
  const bool by_batch = w.lnc() > 1 && s.batch >= 2 && s.batch % w.lnc() == 0;
  const std::uint64_t keys = s.window > 0 ? std::min(s.window, s.context) : s.context;
  DecodeAttention a;
  a.sequences = by_batch ? s.batch / w.lnc() : s.batch;
  a.q_heads = s.model.q_heads;
  a.kv_heads = s.model.kv_heads;
  a.head_dim = s.model.head_dim;
  a.keys = by_batch ? keys : w.share(keys);
  return a;
}

PrefillAttention prefill_of(const KernelWriter& w, const Settings& s) {
  const bool triangle = s.causal && s.window == 0 && s.query_tokens == s.context;
  const QueryRange range = prefill_queries(s.query_tokens, triangle, w.lnc(), w.lane(), w.tile_width());
  PrefillAttention a;
  a.sequences = s.batch;
  a.q_heads = s.model.q_heads;
  a.kv_heads = s.model.kv_heads;
  a.head_dim = s.model.head_dim;
  a.first_query = s.context - s.query_tokens + range.first;
  a.queries = range.count;
  a.keys = s.context;
  a.causal = s.causal;
  a.window = s.window;
  return a;
}

// Decode reads each key once; in prefill every core reads the keys that its queries see, once per pass of queries.
std::uint64_t kv_bytes(const KernelWriter& w, const Settings& s) {
  const std::uint64_t key = 2 * s.model.head_dim * kBf16Bytes * s.batch * s.model.kv_heads;
  if (s.query_tokens != 1) {
    const PrefillAttention a = prefill_of(w, s);
    return key * keys_read(a, queries_per_pass(w, a));
  }
  const DecodeAttention a = decode_of(w, s);
  return key * a.keys * a.sequences / std::max<std::uint64_t>(1, s.batch);
}

}  // namespace

LoweredWorkload lower_matmul(const Settings& s, const MachineSpec& machine) {
  if (is_microscaled(s.dtype) && machine.core.tensor.mx_rows == 0) {
    throw InfeasibleError("dtype=" + std::string(name(s.dtype)) +
                          " needs a tensor engine that multiplies microscaled " + "formats, which " + machine.name +
                          " has not; use bf16 or fp8");
  }
  const Wide m = s.m, n = s.n, k = s.k;
  check_operands((m * k + k * n) * quarter_bits(s.dtype) / kQuarterBitsPerByte + m * n * kBf16Bytes, machine);
  const std::uint64_t useful = countable(2 * m * n * k);
  LoweredWorkload lowered;
  lowered.job = job_of(s, machine, kSmallTensors, [&](KernelWriter& w) {
    matmul_kernel(w, {s.m, w.share(s.n), s.k, s.dtype});
  });
  for (std::uint32_t lane = 0; lane < s.lnc; ++lane) {
    if (s.m > 0) lowered.facts.weight_bytes += storage_bytes(s.k * share(s.n, s.lnc, lane), s.dtype);
  }
  lowered.facts.peak_dtype = std::string(name(s.dtype));
  finish_facts(lowered, s, machine, s.dtype, useful);
  return lowered;
}

LoweredWorkload lower_attention(const Settings& s, const MachineSpec& machine) {
  const Wide sequences = s.batch, queries = s.query_tokens, keys = s.context;
  check_operands(2 * sequences * (queries * s.model.q_width() + keys * s.model.kv_width()) * kBf16Bytes, machine);
  const std::uint64_t useful = countable(pairs_of(s) * 4 * s.model.q_width());
  LoweredWorkload lowered;
  const std::uint64_t width = s.model.q_width() + 2 * s.model.kv_width();
  const std::uint64_t rows =
      std::min<std::uint64_t>(s.query_tokens == 1 ? s.batch : machine.core.moving_columns(), s.batch * s.query_tokens);
  const std::uint64_t resident =
      kSmallTensors + 2 * ceil_div(width, features_per_tile(machine.core)) * rows * kBf16Bytes;
  lowered.job = job_of(s, machine, resident, [&](KernelWriter& w) {
    lowered.facts.kv_read_bytes += kv_bytes(w, s);
    if (s.query_tokens == 1) {
      attention_decode(w, decode_of(w, s), {});
    } else {
      attention_prefill(w, prefill_of(w, s), {});
    }
  });
  lowered.facts.peak_dtype = std::string(name(Dtype::kBf16));
  finish_facts(lowered, s, machine, Dtype::kBf16, useful);
  return lowered;
}

LoweredWorkload lower_dma_copy(const Settings& s, const MachineSpec& machine) {
  const std::uint64_t ends =
      static_cast<std::uint64_t>(s.source == Space::kHbm) + static_cast<std::uint64_t>(s.destination == Space::kHbm);
  check_operands(Wide(ends) * s.bytes, machine);
  LoweredWorkload lowered;
  lowered.job = job_of(s, machine, 0, [&](KernelWriter& w) {
    dma_copy(w, {.bytes = w.share(s.bytes),
                 .transfers = s.transfers,
                 .descriptor_bytes = s.descriptor_bytes,
                 .queues = s.queues,
                 .generation = s.generation,
                 .source = s.source,
                 .destination = s.destination});
  });
  lowered.facts.copy_bytes = s.bytes;
  lowered.facts.copy_hbm_ends = ends;
  finish_facts(lowered, s, machine, Dtype::kBf16, 0);
  return lowered;
}

LoweredWorkload lower_instruction(const Settings& s, const MachineSpec& machine) {
  LoweredWorkload lowered;
  lowered.facts.timed_engine = s.engine.value_or(engine_of(s.op, machine.core));
  lowered.job = job_of(s, machine, 0, [&](KernelWriter& w) {
    instruction_series(w, {.op = s.op,
                           .engine = *lowered.facts.timed_engine,
                           .partitions = s.partitions,
                           .columns = s.columns,
                           .free = s.free,
                           .dtype = s.dtype,
                           .source = s.source,
                           .destination = s.destination,
                           .count = s.count,
                           .warmup = s.warmup});
  });
  finish_facts(lowered, s, machine, s.dtype, 0);
  return lowered;
}

}  // namespace trnsim
