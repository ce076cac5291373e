// What the workloads with a flash schedule read alike.
#pragma once

#include "models/system/machine_spec.h"
#include "workloads/kernels/attention_steps.h"
#include "workloads/setting_reader.h"

namespace trnsim {

/// From `exponential_engine`, `scalar_maxima`, `transpose_engine` and, where weights are turned through PSUM or it
/// `always_copies`, `copy_columns`. Throws InfeasibleError if the vector engine is asked for an exponential that it has
/// not.
[[nodiscard]] FlashBalance flash_balance(const SettingReader& read, const MachineSpec& machine,
                                         bool always_copies = false);

}  // namespace trnsim
