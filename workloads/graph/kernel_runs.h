// Single kernels on one logical core, to look at them alone.
#pragma once

#include <cstdint>

#include "models/system/machine_spec.h"
#include "workloads/settings.h"
#include "workloads/workload.h"

namespace trnsim {

/// C = A B on the first logical core of the machine; the columns of B are split over its physical cores.
[[nodiscard]] LoweredWorkload lower_matmul(const Settings& settings, const MachineSpec& machine);

/// Attention of `query_tokens` per sequence over `context` keys on the first logical core: with one query token the
/// decode kernel, else the prefill kernel.
[[nodiscard]] LoweredWorkload lower_attention(const Settings& settings, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_dma_copy(const Settings& settings, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_instruction(const Settings& settings, const MachineSpec& machine);

}  // namespace trnsim
