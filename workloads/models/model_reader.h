// Reads a model's dimensions from the parameters of a workload.
#pragma once

#include "workloads/models/model_shape.h"
#include "workloads/setting_reader.h"

namespace trnsim {

/// Dimensions that are not given are what a model without the feature has. Throws InputError if one is missing that
/// the others ask for, or if they contradict each other.
[[nodiscard]] ModelShape model_of(const SettingReader& read);

}  // namespace trnsim
