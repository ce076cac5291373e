// Published measurements as points: read as a sweep, run as a sweep, held against what was measured.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/row.h"
#include "results/validation/notes.h"
#include "results/validation/score.h"
#include "sweeps/launch.h"
#include "sweeps/point.h"

namespace trnsim {

/// Measurements in the order of their files, and the points that predict them.
struct Validation {
  std::vector<Measurement> measurements;
  std::vector<Point> points;
  std::vector<std::vector<std::size_t>> measurements_of;  ///< by point: indices into measurements
  std::vector<Calibration> calibrations;                  ///< of all platforms
};

/// The folder with the published measurements and the notes beside them.
[[nodiscard]] std::string validation_folder();

/// Its instruction.csv, memory.csv, kernel.csv, layer.csv and collective.csv.
[[nodiscard]] std::vector<std::string> validation_files();

/// Reads the rows of `files` whose id begins with `filter`. A row that the simulator does not understand is a
/// measurement with status `refused` and no point. Throws InputError: no file, a row that expects nothing, or two
/// tolerances in one class.
[[nodiscard]] Validation read_validation(const std::vector<std::string>& files, const std::string& filter,
                                         const std::vector<Setting>& common);

/// Runs all points and fills in what they predict. `row_done` also hears of points whose input a child refused, with an
/// empty id. Returns false if stopped.
bool run_validation(Validation& validation, const LaunchOptions& options, const RowDone& row_done);

/// Runs each group of left_out.csv with the values there instead of what was fitted on its points.
[[nodiscard]] std::vector<LeftOut> leave_groups_out(const LaunchOptions& options);

}  // namespace trnsim
