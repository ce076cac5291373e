#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/layer_writer.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/attention_steps.h"
#include "workloads/single_kernels/attention_balance.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kSmallTensors = 8192;  // per partition

/// One attention call on one logical core.
struct AttentionShape {
  std::uint64_t batch = 0, q_heads = 0, kv_heads = 0, head_dim = 0, queries = 0, keys = 0;
  bool causal = true;
  std::uint64_t window = 0;  ///< 0 = all keys

  [[nodiscard]] std::uint64_t q_width() const { return q_heads * head_dim; }
  [[nodiscard]] std::uint64_t kv_width() const { return kv_heads * head_dim; }
};

AttentionShape shape_of(const SettingReader& read) {
  AttentionShape a;
  a.batch = read.count("batch");
  a.q_heads = read.count("q_heads");
  a.kv_heads = read.count("kv_heads");
  a.head_dim = read.count("head_dim");
  a.queries = read.count("query_tokens");
  a.keys = read.count("context");
  a.causal = read.yes("causal");
  a.window = read.count("window");
  if (a.window >= a.keys) a.window = 0;  // it leaves nothing out
  check_heads(read, a.q_heads, a.kv_heads);
  if (a.queries > a.keys) {
    throw InputError(read.need("query_tokens").place + ": query_tokens are part of context; at most " +
                     std::to_string(a.keys) + " here");
  }
  return a;
}

Wide pairs_of(const AttentionShape& s) {
  PrefillAttention a;
  a.keys = s.keys;
  a.causal = s.causal;
  a.window = s.window;
  std::uint64_t pairs = 0;
  for (std::uint64_t p = s.keys - s.queries; p < s.keys; ++p) pairs += a.end_seen(p + 1) - a.first_seen(p);
  return static_cast<Wide>(s.batch) * pairs;
}

DecodeAttention decode_of(const KernelWriter& w, const AttentionShape& s) {
  const bool by_batch = w.lnc() > 1 && s.batch >= 2 && s.batch % w.lnc() == 0;
  const std::uint64_t keys = s.window > 0 ? std::min(s.window, s.keys) : s.keys;
  DecodeAttention a;
  a.sequences = by_batch ? s.batch / w.lnc() : s.batch;
  a.q_heads = s.q_heads;
  a.kv_heads = s.kv_heads;
  a.head_dim = s.head_dim;
  a.keys = by_batch ? keys : w.share(keys);
  return a;
}

PrefillAttention prefill_of(const KernelWriter& w, const AttentionShape& s) {
  const bool triangle = s.causal && s.window == 0 && s.queries == s.keys;
  const QueryRange range = prefill_queries(s.queries, triangle, w.lnc(), w.lane(), w.tile_width());
  PrefillAttention a;
  a.sequences = s.batch;
  a.q_heads = s.q_heads;
  a.kv_heads = s.kv_heads;
  a.head_dim = s.head_dim;
  a.first_query = s.keys - s.queries + range.first;
  a.queries = range.count;
  a.keys = s.keys;
  a.causal = s.causal;
  a.window = s.window;
  return a;
}

// Decode reads each key once; in prefill every core reads the keys that its queries see, once per pass of queries.
std::uint64_t kv_bytes(const KernelWriter& w, const AttentionShape& s) {
  const std::uint64_t key = 2 * s.head_dim * kBf16Bytes * s.batch * s.kv_heads;
  if (s.queries != 1) {
    const PrefillAttention a = prefill_of(w, s);
    return key * keys_read(a, queries_per_pass(w, a));
  }
  const DecodeAttention a = decode_of(w, s);
  return key * a.keys * a.sequences / std::max<std::uint64_t>(1, s.batch);
}

// The kernels of whole models compute in BF16 and hold a head on the partitions.
void check_automatic(const SettingReader& read, const AttentionShape& s, const MachineSpec& machine) {
  if (plain_dtype_of(read) != Dtype::kBf16) {
    throw InputError(read.need("dtype").place + ": schedule=auto computes in bf16; set another schedule");
  }
  if (s.head_dim > features_per_tile(machine.core)) {
    throw InfeasibleError("head_dim=" + std::to_string(s.head_dim) + ": schedule=auto holds a head on " +
                          std::to_string(features_per_tile(machine.core)) + " partitions; use schedule=flash");
  }
}

void lower_automatic(const Placement& placement, const AttentionShape& s, const MachineSpec& machine,
                     LoweredWorkload& lowered) {
  const std::uint64_t width = s.q_width() + 2 * s.kv_width();
  const std::uint64_t rows =
      std::min<std::uint64_t>(s.queries == 1 ? s.batch : machine.core.moving_columns(), s.batch * s.queries);
  const std::uint64_t resident =
      kSmallTensors + 2 * ceil_div(width, features_per_tile(machine.core)) * rows * kBf16Bytes;
  lowered.job = job_of(placement, machine, resident, [&](KernelWriter& w) {
    lowered.facts.kv_read_bytes += placement.cores * kv_bytes(w, s);
    if (s.queries == 1) {
      attention_decode(w, decode_of(w, s), {});
    } else {
      attention_prefill(w, prefill_of(w, s), {});
    }
  });
}

/// Whether softmax weights have a format of their own.
bool has_softmax_dtype(AttentionSchedule schedule) {
  switch (schedule) {
    case AttentionSchedule::kRowwise:
    case AttentionSchedule::kRowwiseFusedSum:
    case AttentionSchedule::kRowwiseDelayedDivision:
    case AttentionSchedule::kFusedBlock:
      return false;
    default:
      return true;
  }
}

AttentionCall call_of(const SettingReader& read, AttentionSchedule schedule, const AttentionShape& s,
                      const MachineSpec& machine) {
  AttentionCall call;
  call.schedule = schedule;
  if (schedule == AttentionSchedule::kFusedBlock) call.hidden = read.count("hidden");
  call.shape.head_dim = s.head_dim;
  call.shape.first_query = s.keys - s.queries;
  call.shape.queries = s.queries;
  call.shape.keys = s.keys;
  call.shape.causal = s.causal;
  call.shape.window = s.window;
  call.dtype = plain_dtype_of(read);
  if (has_softmax_dtype(schedule)) call.softmax_dtype = read.dtype_or("softmax_dtype", Dtype::kBf16);
  if (schedule == AttentionSchedule::kFlash) call.balance = flash_balance(read, machine);
  return call;
}

/// Query heads and KV heads of one core. The cores share the KV heads, and with each its query heads; where there are
/// too few, they share the query heads, and each reads the KV heads of its own.
struct HeadShare {
  HeadShare(const TileWriter& w, const AttentionShape& s, AttentionSchedule schedule) {
    const std::uint64_t all = s.batch * s.kv_heads, group = s.q_heads / s.kv_heads;
    kv_heads = w.share(all);
    heads = kv_heads * group;
    if (schedule == AttentionSchedule::kFusedBlock || all % w.lnc() == 0 || group % w.lnc() != 0) return;
    kv_heads = all;
    heads = all * (group / w.lnc());
  }
  std::uint64_t heads = 0, kv_heads = 0;
};

void lower_by_schedule(const Placement& placement, const AttentionCall& whole, const AttentionShape& s,
                       const MachineSpec& machine, LoweredWorkload& lowered) {
  lowered.job = tile_job_of(placement, machine, [&](TileWriter& w) {
    AttentionCall call = whole;
    const HeadShare own(w, s, call.schedule);
    call.kv_heads = own.kv_heads;
    call.heads = own.heads;
    lowered.facts.kv_read_bytes += placement.cores * attention_kv_bytes(call);
    write_attention(w, call);
  });
}

/// What must move: Q, the keys that are seen and their values, the result; of a decode step the keys and values, for
/// its queries are in SBUF.
Wide operand_bytes(const AttentionShape& s, AttentionSchedule schedule, Dtype dtype) {
  if (s.batch == 0 || s.queries == 0) return 0;
  PrefillAttention a;
  a.keys = s.keys;
  a.causal = s.causal;
  a.window = s.window;
  const Wide keys = s.keys - a.first_seen(s.keys - s.queries);
  const bool is_block = schedule == AttentionSchedule::kFusedBlock;
  const bool keeps_q = is_block || (schedule == AttentionSchedule::kAuto && s.queries == 1);
  const Wide rows = 2 * (keys - (is_block ? 1 : 0)) * s.kv_width() + (keeps_q ? 0 : 2 * Wide(s.queries) * s.q_width());
  return bytes_of(s.batch * rows, dtype);
}

// Projections of the one new token.
void count_projections(const Placement& placement, const AttentionCall& call, const AttentionShape& s,
                       WorkloadFacts& facts) {
  const std::uint64_t element = storage_bytes(1, call.dtype);
  facts.weight_bytes += std::uint64_t{2} * placement.cores * (s.q_width() + s.kv_width()) * call.hidden * element;
  facts.kv_write_bytes += std::uint64_t{2} * placement.cores * s.kv_width() * element;
}

}  // namespace

LoweredWorkload lower_attention(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const AttentionShape s = shape_of(read);
  const auto schedule = read.choice<AttentionSchedule>("schedule", kAttentionSchedules);
  const Dtype dtype = read.dtype("dtype");
  const Wide sequences = s.batch, queries = s.queries, keys = s.keys;
  check_operands(2 * sequences * (queries * s.q_width() + keys * s.kv_width()) * storage_bytes(1, dtype), machine);
  LoweredWorkload lowered;
  Wide operands = operand_bytes(s, schedule, dtype);
  Wide useful = pairs_of(s) * 4 * s.q_width();
  static_cast<void>(countable(useful));  // before anything is written for a job that cannot be counted
  if (schedule == AttentionSchedule::kAuto) {
    check_automatic(read, s, machine);
    lower_automatic(placement, s, machine, lowered);
  } else {
    const AttentionCall call = call_of(read, schedule, s, machine);
    lower_by_schedule(placement, call, s, machine, lowered);
    if (schedule == AttentionSchedule::kFusedBlock) {
      count_projections(placement, call, s, lowered.facts);
      const Wide weights = Wide(2) * call.hidden * (s.q_width() + s.kv_width());
      useful += 2 * weights;
      operands += bytes_of(weights, dtype);
    }
  }
  lowered.facts.operand_bytes = countable(operands * placement.cores);
  lowered.facts.peak_dtype = std::string(name(dtype));
  finish_facts(lowered, placement, machine, dtype, countable(useful));
  return lowered;
}

}  // namespace trnsim
