// Closed forms of a job: FLOPs and bytes from model dimensions and mapping, and the bound they put on its time.
#pragma once

#include <vector>

#include "models/system/machine_spec.h"
#include "workloads/graph/program_set.h"
#include "workloads/mapping/mapping.h"
#include "workloads/routing/routing.h"
#include "workloads/settings.h"
#include "workloads/workload.h"

namespace trnsim {

/// Matmul FLOPs of one layer, or of the head, for some tokens: 2 per multiply-add, nothing padded.
struct LayerFlop {
  std::uint64_t qkv = 0, scores = 0, values = 0, output = 0, router = 0, experts = 0;
  [[nodiscard]] std::uint64_t sum() const { return qkv + scores + values + output + router + experts; }
};
/// `pairs` = (query, key) pairs of one head, all sequences together.
[[nodiscard]] LayerFlop layer_flop(const ModelShape& model, std::uint64_t tokens, std::uint64_t pairs);
/// Pairs of a causal prefill of `tokens`, with a window or without (0).
[[nodiscard]] std::uint64_t causal_pairs(std::uint64_t tokens, std::uint64_t window);

/// FLOPs of all routed experts of the job.
[[nodiscard]] std::uint64_t expert_flop(const Settings& settings, const Mapping& mapping);

/// `padding_flop` alone comes from counting the programs: what they issue beyond the useful.
[[nodiscard]] WorkloadFacts model_facts(const Settings& settings, const Mapping& mapping, const MachineSpec& machine,
                                        const std::vector<LayerRouting>& routing, const GroupPrograms& programs);

/// Fills roofline_ps and roofline_limit from the facts; `fast_flop` of useful_flop run at `fastest`, the rest in BF16.
void set_roofline(LoweredWorkload& lowered, const MachineSpec& machine, Dtype fastest, std::uint64_t fast_flop);

}  // namespace trnsim
