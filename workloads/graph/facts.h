// Closed forms of a job: FLOPs and bytes from model dimensions and mapping, and the bound they put on its time.
#pragma once

#include <vector>

#include "models/mechanism/units.h"
#include "models/system/machine_spec.h"
#include "workloads/graph/program_set.h"
#include "workloads/mapping/mapping.h"
#include "workloads/routing/routing.h"
#include "workloads/settings.h"
#include "workloads/workload.h"

namespace trnsim {

/// Matmul FLOPs of one layer, or of the head, for some tokens: 2 per multiply-add, nothing padded.
struct LayerFlop {
  Wide qkv = 0, scores = 0, values = 0, output = 0, router = 0, experts = 0;
  [[nodiscard]] Wide sum() const { return qkv + scores + values + output + router + experts; }
};
/// `pairs` = (query, key) pairs of one head, all sequences together.
[[nodiscard]] LayerFlop layer_flop(const ModelShape& model, Wide tokens, Wide pairs);
/// Pairs of a causal prefill of `tokens`, with a window or without (0).
[[nodiscard]] Wide causal_pairs(Wide tokens, Wide window);

/// Matmul FLOPs of the whole job, as WorkloadFacts::useful_flop. Throws InfeasibleError if they are too many to count.
[[nodiscard]] std::uint64_t useful_flop(const Settings& settings, const Mapping& mapping);
/// `flop` in 64 bits. Throws InfeasibleError if it is 2^62 or more.
[[nodiscard]] std::uint64_t countable(Wide flop);

/// FLOPs of all routed experts of the job.
[[nodiscard]] std::uint64_t expert_flop(const Settings& settings, const Mapping& mapping);

/// `padding_flop` alone comes from counting the programs: what they issue beyond the useful.
[[nodiscard]] WorkloadFacts model_facts(const Settings& settings, const Mapping& mapping, const MachineSpec& machine,
                                        const std::vector<LayerRouting>& routing, const GroupPrograms& programs);

/// Fills roofline_ps and roofline_limit from the facts; `fast_flop` of useful_flop run at `fastest`, the rest in BF16.
void set_roofline(LoweredWorkload& lowered, const MachineSpec& machine, Dtype fastest, std::uint64_t fast_flop);

}  // namespace trnsim
