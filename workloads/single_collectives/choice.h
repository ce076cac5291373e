// Which algorithm the runtime takes for a collective.
#pragma once

#include <cstdint>

#include "models/system/machine_spec.h"
#include "workloads/collectives/algorithms/algorithm.h"
#include "workloads/collectives/rules.h"

namespace trnsim {

/// By the documented size ranges: mesh for small vectors, recursive halving and doubling for middle ones, then
/// KangaRing or ring; hierarchical over several instances; where the group does not fit an algorithm, or a rule of the
/// machine about it, the next one. `bytes` of the vector. Source: Intra-node and Inter-node Collective Communications
/// with AWS Neuron.
[[nodiscard]] const collective::Algorithm& algorithm_for(const collective::Place& place,
                                                         const collective::GroupShape& shape,
                                                         const collective::Task& task, std::uint64_t bytes,
                                                         const MachineSpec& machine);

/// What a hierarchical algorithm runs within an instance where rules forbid the KangaRing that it would take; null: as
/// it likes.
[[nodiscard]] const collective::Algorithm* inner_for(const collective::GroupShape& shape, const collective::Task& task,
                                                     const CollectiveRulesSpec& rules);

}  // namespace trnsim
