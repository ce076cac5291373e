// Pareto fronts as a table for people: tokens per second per megawatt at each interactivity.
#pragma once

#include <string>
#include <vector>

#include "results/row.h"

namespace trnsim {

/// For each scenario of `rows`, the value of every series' front at each corner of any of them, and its ratio to the
/// first series. A cell is empty where a front has no point. Empty if no point has tokens per second.
[[nodiscard]] std::string fronts_text(const std::vector<PointRow>& rows);

}  // namespace trnsim
