// One point from settings to a row: load, lower, simulate, account.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/observe/run_record.h"
#include "platforms/platform.h"
#include "results/row.h"
#include "sweeps/point.h"
#include "sweeps/trace_file.h"
#include "workloads/workload.h"

namespace trnsim {

/// Everything that a row is computed from.
struct Evaluation {
  Platform platform;
  Workload workload;
  LoweredWorkload lowered;
  RunRecord record;
};

/// Finds bad input before anything runs: loads the platform and the workload of a point with its overrides, each
/// combination once.
class InputCheck {
 public:
  /// Throws InputError.
  void add(const Point& point);

 private:
  std::set<std::string> platforms_;  ///< with their overrides; those that are right
  std::set<std::string> workloads_;
};

/// Throws InputError.
void check_input(const std::vector<Point>& points);

/// Evaluates `point` in this process; the laws of conservation are held after the run. With a `trace`, its timeline is
/// written there, to be committed.
/// REQUIRES: called at most once per process (see simulate()). Throws InputError, InfeasibleError, DeadlockError and
/// InvariantError; run_isolated() tells them apart for the launcher.
[[nodiscard]] PointRow evaluate(const Point& point, TraceFile* trace = nullptr);

/// The row of a point that got no further than `status`.
[[nodiscard]] PointRow failed_row(const Point& point, Status status, const std::string& error);

}  // namespace trnsim
