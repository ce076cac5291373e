// Which ranks a collective runs over, and where they are.
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/machine_spec.h"
#include "models/topology/topology.h"
#include "workloads/collectives/schedule.h"
#include "workloads/setting_reader.h"

namespace trnsim {

/// Logical cores in order of their rank in the group.
using RankGroup = std::vector<std::uint32_t>;

/// The groups that `ranks` and `groups` ask for, on a machine of `logical_cores`. Throws InputError (bad text, a core
/// twice) or InfeasibleError (the machine has not as many).
[[nodiscard]] std::vector<RankGroup> groups_of(const SettingReader& read, std::uint32_t logical_cores);

/// Chips, instances, rings and cube of a group whose ranks are `lnc` physical cores each.
[[nodiscard]] collective::Place place_of(const RankGroup& group, std::uint32_t lnc, const MachineSpec& machine,
                                         const Topology& topology);

}  // namespace trnsim
