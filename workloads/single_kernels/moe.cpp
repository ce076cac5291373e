#include "models/mechanism/error.h"
#include "workloads/kernels/layer_kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

LoweredWorkload lower_moe(const SettingReader& read, const MachineSpec& machine) {
  enum class Schedule { kFusedSelective };
  if (!read.is_auto("schedule")) (void)read.choice<Schedule, 1>("schedule", {"fused_selective"});
  const Placement placement = placement_of(read, machine);
  SelectiveMoe m;
  m.tokens = read.count("tokens");
  m.hidden = read.count("hidden");
  m.experts = read.count("experts");
  m.top_k = read.count("experts_per_token");
  m.inner = read.count("expert_ffn");
  m.dtype = plain_dtype_of(read);
  if (m.top_k > m.experts) {
    throw InputError(read.need("experts_per_token").place + ": a token takes at most all experts; use " +
                     std::to_string(m.experts) + " or less");
  }
  const Wide weights = Wide(3) * m.hidden * m.inner;
  check_operands(bytes_of(weights * m.experts, m.dtype) + Wide(2) * m.hidden * (m.experts + 2 * m.tokens), machine);
  const std::uint64_t useful =
      countable(Wide(m.tokens) * (Wide(2) * m.hidden * m.experts + Wide(2) * m.top_k * weights));
  LoweredWorkload lowered;
  lowered.job = tile_job_of(placement, machine, [&](TileWriter& w) {
    lowered.facts.weight_bytes += placement.cores * selective_weight_bytes(w, m);
    moe_selective(w, m);
  });
  // At least the experts of one token, the router, the norm's gain, and the stream in and out.
  const Wide once = bytes_of(weights * m.top_k, m.dtype) + Wide(2) * m.hidden * (m.experts + 1 + 2 * m.tokens);
  lowered.facts.operand_bytes = m.tokens > 0 ? countable(once * placement.cores) : 0;
  lowered.facts.peak_dtype = std::string(name(m.dtype));
  finish_facts(lowered, placement, machine, m.dtype, useful);
  return lowered;
}

}  // namespace trnsim
