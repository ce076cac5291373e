// The formulas behind the metrics: from counts, once, in a fixed order, so that equal counts give equal text.
#pragma once

#include "results/row.h"
#include "sweeps/evaluate.h"

namespace trnsim {

/// Fills every metric that `evaluation` has a value for.
void fill_metrics(PointRow& row, const Evaluation& evaluation);

/// Holds the counters against the laws and the workload's closed forms: time adds up, bytes sent are bytes received,
/// weight, bias and KV bytes are those of the model, nothing is faster than the roofline. Throws InvariantError.
void check_conservation(const Evaluation& evaluation);

}  // namespace trnsim
