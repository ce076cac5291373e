// Where the ranks of a group are.
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/machine_spec.h"
#include "models/topology/topology.h"
#include "workloads/collectives/schedule.h"

namespace trnsim {

/// Logical cores in order of their rank in the group.
using RankGroup = std::vector<std::uint32_t>;

/// Chips, instances, rings and cube of a group whose ranks are `lnc` physical cores each.
[[nodiscard]] collective::Place place_of(const RankGroup& group, std::uint32_t lnc, const MachineSpec& machine,
                                         const Topology& topology);

/// Physical core of `member` of `group`.
[[nodiscard]] inline CoreId core_of(const RankGroup& group, std::uint32_t lnc, std::uint32_t member) {
  return CoreId(group[member / lnc] * lnc + member % lnc);
}

}  // namespace trnsim
