// Why a collective takes as long as it does: what its bytes cross, and what limits them.
#pragma once

#include "results/row.h"
#include "sweeps/evaluate.h"

namespace trnsim {

/// Fills the metrics of the fabric, from the links' counters and the workload's bisection. Of collectives alone.
void fill_fabric_metrics(PointRow& row, const Evaluation& evaluation);

}  // namespace trnsim
