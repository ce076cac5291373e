#include <array>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/attention_steps.h"
#include "workloads/single_kernels/attention_balance.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

FusedAttention shape_of(const SettingReader& read, const MachineSpec& machine) {
  FusedAttention shape;
  shape.hidden = read.count("hidden");
  shape.projections = read.dtype("projection_dtype");
  check_multiplies(machine, shape.projections);
  AttentionCall& call = shape.attention;
  call.schedule = AttentionSchedule::kFlash;
  call.heads = read.count("q_heads");
  call.kv_heads = read.count("kv_heads");
  check_heads(read, call.heads, call.kv_heads);
  call.shape.head_dim = read.count("head_dim");
  call.shape.queries = call.shape.keys = read.count("query_tokens");
  call.shape.causal = read.yes("causal");
  call.balance = flash_balance(read, machine, true);
  if (call.kv_heads * call.shape.head_dim > machine.core.moving_columns()) {
    throw InfeasibleError("fused_attention holds the values of all KV heads of a token in one PSUM bank of " +
                          std::to_string(machine.core.moving_columns()) + "; use fewer kv_heads");
  }
  return shape;
}

}  // namespace

LoweredWorkload lower_fused_attention(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  if (placement.lnc != 1) throw InfeasibleError("fused_attention runs on one physical core; use lnc=1");
  const FusedAttention shape = shape_of(read, machine);
  const Wide tokens = shape.attention.shape.queries;
  const Wide width = shape.qkv_width() + shape.q_width();
  check_operands(tokens * (2 * Wide(shape.hidden) + width) * kBf16Bytes + shape.hidden * width * kBf16Bytes, machine);
  LoweredWorkload lowered;
  lowered.job = tile_job_of(placement, machine, [&](TileWriter& w) {
    lowered.facts.kv_read_bytes += placement.cores * attention_kv_bytes(shape.attention);
    lowered.facts.weight_bytes += placement.cores * fused_attention_weight_bytes(w, shape);
    if (tokens > 0) fused_attention(w, shape);
  });
  const Wide weights = tokens > 0 ? shape.hidden * width : 0;  // and the stream in and out
  lowered.facts.operand_bytes =
      countable((bytes_of(weights, shape.projections) + kBf16Bytes * 2 * tokens * shape.hidden) * placement.cores);
  lowered.facts.peak_dtype = std::string(name(shape.projections));
  const Wide pairs = shape.attention.shape.causal ? causal_pairs(tokens, 0) : tokens * tokens;
  const Wide projected = 2 * tokens * shape.hidden * width;
  finish_facts(lowered, placement, machine, Dtype::kBf16, countable(projected + pairs * 4 * shape.q_width()));
  set_roofline(lowered, machine, shape.projections, countable(projected * placement.cores));
  return lowered;
}

}  // namespace trnsim
