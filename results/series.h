// Rows grouped into the curves that a deployer compares.
//
// A scenario is what is asked of the machine (workload, context, every swept workload parameter that is no mapping or
// batch choice). A series is a machine as run: platform, precision and every swept platform or run option. What
// remains (batch, tensor, expert, data parallel degree) is the deployer's choice, so those points share one front.
#pragma once

#include <string>
#include <vector>

#include "results/pareto.h"
#include "results/row.h"

namespace trnsim {

struct Series {
  std::string label;              ///< "trn2-ultraserver · bf16"
  std::vector<std::size_t> rows;  ///< indices into the rows given
  ParetoFront front;              ///< tokens_per_s_per_mw against tokens_per_s_per_user
};

struct Scenario {
  std::string label;           ///< "gpt-oss-120b-decode · context 8192", empty if there is one only
  std::vector<Series> series;  ///< in order of appearance
};

/// Groups `rows`. Rows that are not ok are in their series but on no front.
[[nodiscard]] std::vector<Scenario> group(const std::vector<PointRow>& rows);

/// The metric as a number, or nan.
[[nodiscard]] double metric(const PointRow& row, std::string_view name);

/// The swept value of `name`, else its resolved value in the row's parameter table, else empty.
[[nodiscard]] std::string parameter(const PointRow& row, std::string_view name);

}  // namespace trnsim
