// Predicted against measured on logarithmic axes, as an SVG that stands alone.
#pragma once

#include <string>
#include <vector>

#include "results/validation/score.h"

namespace trnsim {

/// Two panels, times and rates; one colour and one shape of mark per class; the identity and the bounds of the classes
/// as lines. Measurements that were not predicted are counted in the subtitle. Equal input gives equal bytes.
[[nodiscard]] std::string validation_plot(const std::vector<Measurement>& measurements);

}  // namespace trnsim
