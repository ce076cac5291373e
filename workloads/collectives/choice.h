// Which algorithm the runtime takes for a collective.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/system/machine_spec.h"
#include "workloads/collectives/algorithms/algorithm.h"
#include "workloads/collectives/rules.h"
#include "workloads/setting_reader.h"

namespace trnsim {

/// By the documented size ranges: mesh for small vectors, recursive halving and doubling for middle ones, then
/// KangaRing or ring; hierarchical over several instances; where the group does not fit an algorithm, or a rule of the
/// machine about it, the next one. `bytes` of the vector. Source: Intra-node and Inter-node Collective Communications
/// with AWS Neuron.
/// `forced` if it is not null, whatever rules say. Throws InfeasibleError if the group or task is not for that.
[[nodiscard]] const collective::Algorithm& algorithm_for(const collective::Place& place,
                                                         const collective::GroupShape& shape,
                                                         const collective::Task& task, std::uint64_t bytes,
                                                         const MachineSpec& machine,
                                                         const collective::Algorithm* forced);

/// What a hierarchical algorithm runs within an instance where rules forbid the KangaRing that it would take; null: as
/// it likes.
[[nodiscard]] const collective::Algorithm* inner_for(const collective::GroupShape& shape, const collective::Task& task,
                                                     const CollectiveRulesSpec& rules);

/// The algorithm that the parameter `name` asks for; null for `auto`. Throws InputError if there is none of that name.
[[nodiscard]] const collective::Algorithm* forced_algorithm(const SettingReader& read, std::string_view name);

}  // namespace trnsim
