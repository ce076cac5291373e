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

/// What one group of ranks runs. All groups run the same: each replays the same routing sample.
struct GroupPrograms {
  std::vector<std::shared_ptr<const Program>> by_lane;  ///< program of physical core `lane` of every rank
  std::vector<std::vector<std::uint32_t>> registers;    ///< by rank, then lane: rank * lnc + lane
  std::uint64_t pass_queries = 0;                       ///< prefill: queries per pass over the keys; 0 = all at once
  std::vector<EntryRule> rules;                         ///< by lane: how its experts' tokens were cut
};

/// Peer tables: index 0 is the other core of the logical core (or itself); then the ranks of the tensor-parallel
/// group at distance 1, 2, ...; then, where experts are shared by replicas, those of the expert group.
[[nodiscard]] std::vector<CoreId> peers_of(const Mapping& mapping, std::uint32_t group, std::uint32_t rank,
                                           std::uint32_t lane);

/// One decode step or prefill of the whole model. `routing` has one entry per layer, over the tokens of a group.
[[nodiscard]] GroupPrograms model_programs(const Settings& settings, const Mapping& mapping, const MachineSpec& machine,
                                           const std::vector<LayerRouting>& routing);

}  // namespace trnsim
