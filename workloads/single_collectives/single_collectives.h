// Workloads that are one collective over some ranks, to look at it alone.
#pragma once

#include "models/system/machine_spec.h"
#include "workloads/setting_reader.h"
#include "workloads/workload.h"

namespace trnsim {

/// The parameter `phase` names the collective. Throws InputError or InfeasibleError.
[[nodiscard]] LoweredWorkload lower_collective(const SettingReader& read, const MachineSpec& machine);

}  // namespace trnsim
