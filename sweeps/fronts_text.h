// Pareto fronts as a table for people: tokens per second per megawatt at each interactivity.
#pragma once

#include <string>
#include <vector>

#include "results/row.h"

namespace trnsim {

/// For each scenario of `rows`, the value of every series' front at each corner of any of them, the id of the point
/// that has it, and its ratio to the first series; then what was set for these points. A cell is empty where a front
/// has no point. Empty if no point has tokens per second.
[[nodiscard]] std::string fronts_text(const std::vector<PointRow>& rows);

}  // namespace trnsim
