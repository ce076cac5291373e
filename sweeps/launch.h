// The local launcher: points in forked children, rows in the order of the points.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "results/row.h"
#include "sweeps/point.h"

namespace trnsim {

/// Called in the parent with each finished row; `done` counts those so far.
using RowDone = std::function<void(std::size_t index, const PointRow& row, std::size_t done)>;

/// Set by a signal handler when the user wants to stop.
extern volatile int stop_requested;

/// Evaluates `points`, `jobs` at a time, each in its own child. A child that dies gives a row with status crashed or
/// host_memory. Returns false if stopped by stop_requested; finished rows have been reported then.
/// Throws InputError if a child found the input wrong.
bool launch(const std::vector<Point>& points, std::size_t jobs, const RowDone& row_done);

/// One point in its own child.
[[nodiscard]] PointRow evaluate_isolated(const Point& point);

}  // namespace trnsim
