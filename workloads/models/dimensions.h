// The parameters that say what a model is made of.
#pragma once

#include <span>

#include "workloads/parameters.h"

namespace trnsim {

/// Part of workload_parameter_table(). Kernels read some of them too.
[[nodiscard]] std::span<const WorkloadParameterRow> model_dimensions();

}  // namespace trnsim
