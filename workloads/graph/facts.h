// Closed forms of a job: bytes from model dimensions and mapping, and the bound that work and bytes put on its time.
#pragma once

#include <vector>

#include "models/mechanism/units.h"
#include "models/system/machine_spec.h"
#include "workloads/graph/flop.h"
#include "workloads/graph/program_set.h"
#include "workloads/mapping/mapping.h"
#include "workloads/routing/routing.h"
#include "workloads/settings.h"
#include "workloads/workload.h"

namespace trnsim {

/// `padding_flop` alone comes from counting the programs: what they issue beyond the useful.
[[nodiscard]] WorkloadFacts model_facts(const Settings& settings, const Mapping& mapping, const MachineSpec& machine,
                                        const std::vector<LayerRouting>& routing, const GroupPrograms& programs);

/// Fills roofline_ps and roofline_limit from the facts; `fast_flop` of useful_flop run at `fastest`, the rest in BF16.
void set_roofline(LoweredWorkload& lowered, const MachineSpec& machine, Dtype fastest, std::uint64_t fast_flop);

}  // namespace trnsim
