// Which ranks a collective runs over.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/collectives/place.h"
#include "workloads/setting_reader.h"

namespace trnsim {

/// The groups that `ranks` and `groups` ask for, on a machine of `logical_cores`. Throws InputError (bad text, a core
/// twice) or InfeasibleError (the machine has not as many).
[[nodiscard]] std::vector<RankGroup> groups_of(const SettingReader& read, std::uint32_t logical_cores);

}  // namespace trnsim
