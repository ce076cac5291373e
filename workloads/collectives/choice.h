// Which algorithm the runtime takes for a collective.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/neuroncore/core_spec.h"
#include "workloads/collectives/algorithms/algorithm.h"
#include "workloads/setting_reader.h"

namespace trnsim {

/// By the documented size ranges: mesh for small vectors, recursive halving and doubling for middle ones, then
/// KangaRing or ring; hierarchical over several instances; where the group does not fit an algorithm, the next one.
/// `bytes` of the vector. Source: Intra-node and Inter-node Collective Communications with AWS Neuron.
/// `forced` if it is not null. Throws InfeasibleError if the group or task is not for that.
[[nodiscard]] const collective::Algorithm& algorithm_for(const collective::Place& place, const collective::Task& task,
                                                         std::uint64_t bytes, const CollectiveCoreSpec& spec,
                                                         const collective::Algorithm* forced);

/// The algorithm that the parameter `name` asks for; null for `auto`. Throws InputError if there is none of that name.
[[nodiscard]] const collective::Algorithm* forced_algorithm(const SettingReader& read, std::string_view name);

}  // namespace trnsim
