// Which algorithm the runtime takes for a collective.
#pragma once

#include <string>

#include "models/neuroncore/core_spec.h"
#include "workloads/collectives/algorithms/algorithm.h"

namespace trnsim {

/// By the documented size ranges: mesh for small vectors, recursive halving and doubling for middle ones, then
/// KangaRing or ring; hierarchical over several instances; where the group does not fit an algorithm, the next one.
/// `bytes` of the vector. Source: Intra-node and Inter-node Collective Communications with AWS Neuron.
[[nodiscard]] const collective::Algorithm& algorithm_for(const collective::Place& place, const collective::Task& task,
                                                         std::uint64_t bytes, const CollectiveCoreSpec& spec);

}  // namespace trnsim
