// What `trnsim` does, apart from reading its command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/point.h"
#include "sweeps/trace_request.h"

namespace trnsim {

/// Exit statuses, a contract with scripts.
enum ExitStatus : int { kGood = 0, kCheckFailed = 1, kBadInput = 2, kSimulationFailed = 3, kInterrupted = 130 };

struct RunCommand {
  std::string platform, workload;
  std::vector<Setting> settings;
  std::string out;                  ///< results folder, or empty
  bool csv = false;                 ///< a header and a row on standard output instead of a table
  std::chrono::milliseconds limit;  ///< wall time, zero = none
  std::optional<TraceRequest> trace;
};
int run(const RunCommand& command);

struct SweepCommand {
  std::string file;
  std::vector<Setting> settings;
  std::string out;
  std::size_t jobs = 1;
  bool dry_run = false;
  bool csv = false;
  std::chrono::milliseconds limit;  ///< wall time of one point, zero = none
};
int sweep(const SweepCommand& command);

struct ValidateCommand {
  std::vector<std::string> files;  ///< empty: the published measurements
  std::vector<Setting> settings;
  std::string filter;  ///< only ids that begin with this
  std::string out;     ///< results folder, or empty
  std::string docs;    ///< folder for the page and its plot, or empty
  bool record_first = false;
  bool shrink_misses = false;
  std::size_t jobs = 1;
  bool csv = false;
  std::chrono::milliseconds limit;  ///< wall time of one point, zero = none
};
int validate(const ValidateCommand& command);

/// `what`: platforms, workloads, models, parameters, metrics, kernels, collectives or topologies; those alone whose
/// name contains `text`.
int list(const std::string& what, const std::string& text);

/// Every resolved parameter of a platform or workload; for a platform its totals, computed and published.
int show(const std::string& name, const std::vector<Setting>& settings);

/// Writes the page about the results in `folder` and prints its path.
int report(const std::string& folder, const std::string& out_file);

/// Prints docs/claims.md from the results of sweeps/claims.csv in `folder`.
int claims(const std::string& folder);

}  // namespace trnsim
