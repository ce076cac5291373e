// The local launcher: points in forked children, rows in the order of the points.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <vector>

#include "results/row.h"
#include "sweeps/point.h"
#include "sweeps/trace_file.h"

namespace trnsim {

/// Called in the parent with each finished row; `done` counts those so far.
using RowDone = std::function<void(std::size_t index, const PointRow& row, std::size_t done)>;

/// Set by a signal handler when the user wants to stop.
extern volatile std::sig_atomic_t stop_requested;

/// Called in the parent with what a child found wrong with the input of a point.
using InputRefused = std::function<void(std::size_t index, const std::string& error, std::size_t done)>;

struct LaunchOptions {
  std::size_t jobs = 1;             ///< points at a time
  std::chrono::milliseconds limit;  ///< for one point; zero = none
  InputRefused refused = {};        ///< unset: wrong input ends the launch with an InputError
  TraceFile* trace = nullptr;       ///< where the timeline goes. REQUIRES: there is one point
};

/// Evaluates `points`, each in its own child. A child that dies gives a row with status crashed, timeout or
/// host_memory. Returns false if stopped by stop_requested: finished rows have been reported then, all children are
/// gone. Throws InputError if a child found the input wrong and nobody is told of that.
bool launch(const std::vector<Point>& points, const LaunchOptions& options, const RowDone& row_done);

/// `text` on one line, cut to what a field of a CSV file may hold.
[[nodiscard]] std::string as_field(const std::string& text);

}  // namespace trnsim
