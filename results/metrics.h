// The table of metrics as documentation.
#pragma once

#include <string>
#include <string_view>

#include "results/row.h"

namespace trnsim {

/// The metric named `name`, or null.
[[nodiscard]] const MetricInfo* find_metric(std::string_view name);

/// docs/metrics.md, from the table.
[[nodiscard]] std::string render_metrics_markdown();

}  // namespace trnsim
