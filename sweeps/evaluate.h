// One point from settings to a row: load, lower, simulate, account.
#pragma once

#include "models/observe/run_record.h"
#include "platforms/platform.h"
#include "results/row.h"
#include "sweeps/point.h"
#include "workloads/workload.h"

namespace trnsim {

/// Everything that a row is computed from.
struct Evaluation {
  Platform platform;
  Workload workload;
  LoweredWorkload lowered;
  RunRecord record;
};

/// Loads platform and workload with their overrides, so that bad input is found before anything runs. Throws InputError.
void check_input(const Point& point);

/// Evaluates `point` in this process. A point that does not fit, or deadlocks, is a row with that status.
/// REQUIRES: called at most once per process (see simulate()). Throws InputError and InvariantError.
[[nodiscard]] PointRow evaluate(const Point& point);

/// The row of a point that got no further than `status`.
[[nodiscard]] PointRow failed_row(const Point& point, Status status, const std::string& error);

}  // namespace trnsim
