// Programs of a mapped model and the registers that tell ranks apart.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/program/program.h"
#include "models/system/machine_spec.h"
#include "workloads/graph/work_list.h"
#include "workloads/mapping/mapping.h"
#include "workloads/routing/routing.h"
#include "workloads/settings.h"

namespace trnsim {

/// What the cores of a mapping run. All groups get the same work: each replays the same routing sample. Their programs
/// are the same as well, unless they stand on chips that are connected in another way.
struct GroupPrograms {
  std::vector<CoreJob> cores;          ///< by physical core, idle ones left out at the end
  std::uint64_t pass_queries = 0;      ///< prefill: queries per pass over the keys; 0 = all at once
  std::vector<EntryRule> rules;        ///< by lane: how its experts' tokens were cut
  std::uint64_t collective_bytes = 0;  ///< sent in collectives of a fixed size, all cores together
};

/// One decode step or prefill of the whole model. `routing` has one entry per layer, over the tokens of a group.
[[nodiscard]] GroupPrograms model_programs(const Settings& settings, const Mapping& mapping, const MachineSpec& machine,
                                           const std::vector<LayerRouting>& routing);

}  // namespace trnsim
