#include "sweeps/validation.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "models/mechanism/error.h"
#include "results/metrics.h"
#include "results/series.h"
#include "results/validation/tables.h"
#include "sweeps/evaluate.h"
#include "sweeps/sweep_file.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

constexpr double kNanosecondsPerMicrosecond = 1e3;

constexpr double kSmallestExpected = 1e-12;  ///< below, a relative error says nothing

/// A row may be wrong and count as a miss; what was set for all rows may not.
void throw_common(const std::string& error) {
  if (error.starts_with("--set")) throw InputError(error);
}

/// Generation and experiment: the first three parts of an id.
std::string group_of(const std::string& id) {
  std::size_t end = 0;
  for (int part = 0; part < 3 && end != std::string::npos; ++part) end = id.find('-', end + (part > 0 ? 1 : 0));
  return id.substr(0, end);
}

/// Adds the rows of one file.
class Reader {
 public:
  Reader(Validation& validation, const std::string& filter) : validation_(validation), filter_(filter) {}

  void add(const std::string& file, const std::vector<Setting>& common) {
    const Sweep sweep = read_sweep(file, common, WrongRows::kKept);
    std::map<std::string, std::vector<std::size_t>> by_id;
    for (const Check& check : sweep.checks) {
      if (!check.expected || !check.id.starts_with(filter_)) continue;
      by_id[check.id].push_back(validation_.measurements.size());
      validation_.measurements.push_back(measurement(file, sweep, check));
    }
    const auto measurements_of = [&](const std::string& id) {
      const auto own = by_id.find(id);
      if (own != by_id.end()) return own->second;
      throw InputError(file + ": " + id + ": the row expects no number; fill a column expect.<metric>");
    };
    for (const RefusedRow& row : sweep.refused) {
      throw_common(row.error);
      if (row.id.starts_with(filter_)) refuse(measurements_of(row.id), row.error);
    }
    for (const Point& point : sweep.points) {
      if (point.id.starts_with(filter_)) add_point(measurements_of(point.id), point);
    }
  }

 private:
  Measurement measurement(const std::string& file, const Sweep& sweep, const Check& check) {
    if (!(*check.expected >= kSmallestExpected)) {
      throw InputError(check.place + ": an expected " + short_number(*check.expected) +
                       " has no relative error; expect a number above 0, or leave it out");
    }
    if (!(check.tolerance > 0)) {
      const bool given = !check.place_of_tolerance.empty();
      throw InputError((given ? check.place_of_tolerance : check.place) + ": " +
                       (given ? "the tolerance is not above 0" : std::string("no tolerance")) +
                       "; give the row the bound of its class, such as 5%");
    }
    Measurement m;
    m.id = check.id;
    m.metric = check.metric;
    m.expected = *check.expected;
    m.bound = check.tolerance;
    const auto kind = sweep.classes.find(check.id);
    m.kind = kind != sweep.classes.end() ? kind->second : fs::path(file).stem().string();
    const auto group = sweep.groups.find(check.id);
    m.group = group != sweep.groups.end() ? group->second : group_of(check.id);
    if (!seen_.insert({m.id, m.metric}).second) {
      throw InputError(check.place + ": " + m.id + " expects " + m.metric + " in two files; keep one");
    }
    const auto [bound, fresh] = bounds_.try_emplace(m.kind, check.tolerance);
    if (!fresh && bound->second != check.tolerance) {
      throw InputError(check.place + ": the class '" + m.kind + "' has another tolerance above; use one for all");
    }
    return m;
  }

  void refuse(const std::vector<std::size_t>& own, const std::string& error) {
    for (const std::size_t index : own) {
      validation_.measurements[index].status = "refused";
      validation_.measurements[index].error = error;
    }
  }

  void add_point(const std::vector<std::size_t>& own, const Point& point) {
    try {
      check_.add(point);
    } catch (const InputError& error) {
      throw_common(error.what());
      refuse(own, error.what());
      return;
    }
    validation_.points.push_back(point);
    validation_.measurements_of.push_back(own);
  }

  Validation& validation_;
  const std::string& filter_;
  InputCheck check_;
  std::map<std::string, double> bounds_;
  std::set<std::pair<std::string, std::string>> seen_;
};

std::string raw_value(const Point& point, std::string_view name) {
  for (const auto& [key, value] : point.swept) {
    if (key == name) return value;
  }
  return "";
}

/// What the roofline of the run says of `m`; nothing where it says nothing, or where only a part of the run is timed.
std::optional<double> roofline_of(const Measurement& m, const Point& point, const PointRow& row) {
  const std::string part = raw_value(point, "interval");
  if (!part.empty() && part != "call" && part != "steady") return std::nullopt;
  const double bound_us = metric(row, "roofline_us");
  if (!(bound_us > 0)) return std::nullopt;
  if (m.metric == "latency_us") return bound_us;
  if (m.metric == "duration_ns") return bound_us * kNanosecondsPerMicrosecond;
  if (m.metric == "sustained_pflops" || m.metric == "hbm_gb_per_s") {
    return *m.predicted * metric(row, "latency_us") / bound_us;
  }
  return std::nullopt;
}

void fill(Measurement& m, const Point& point, const PointRow& row) {
  m.status = name(row.status);
  m.error = row.error;
  if (row.status != Status::kOk) return;
  const double value = metric(row, m.metric);
  if (value != value) {
    m.status = "refused";
    m.error = "the run has no " + m.metric + "; see `trnsim list metrics`";
    return;
  }
  m.predicted = value;
  m.roofline = roofline_of(m, point, row);
}

std::vector<Calibration> calibrations() {
  std::vector<Calibration> list;
  std::set<std::string> seen;
  for (const std::string& platform : platform_names()) {
    for (const ResolvedParameter& p : load_platform(platform).parameters) {
      if (p.confidence != "calibrated" || !seen.insert(p.place).second) continue;
      list.push_back({p.name, p.value, p.unit, p.origin, p.source, {}, {}});
    }
  }
  return list;
}

/// Measurements and points alone, without the notes beside them.
Validation read_points(const std::vector<std::string>& files, const std::string& filter,
                       const std::vector<Setting>& common) {
  Validation validation;
  Reader reader(validation, filter);
  for (const std::string& file : files) reader.add(file, common);
  if (validation.measurements.empty()) {
    throw InputError("--filter " + filter + ": no id begins with that; `trnsim validate` prints all ids");
  }
  return validation;
}

}  // namespace

std::string validation_folder() {
  return (fs::path(data_folder()) / "tests/validation").string();
}

std::vector<std::string> validation_files() {
  std::vector<std::string> files;
  for (const char* name : {"instruction.csv", "memory.csv", "kernel.csv", "layer.csv", "collective.csv"}) {
    files.push_back((fs::path(validation_folder()) / name).string());
  }
  return files;
}

Validation read_validation(const std::vector<std::string>& files, const std::string& filter,
                           const std::vector<Setting>& common) {
  Validation validation = read_points(files, filter, common);
  const FirstRun first((fs::path(validation_folder()) / "first_run.csv").string());
  std::vector<std::string> ids;
  for (const Measurement& m : validation.measurements) ids.push_back(m.id);
  validation.calibrations = calibrations();
  for (Calibration& calibration : validation.calibrations) find_points(calibration, ids);
  for (Measurement& m : validation.measurements) {
    m.first = first.predicted(m.id, m.metric);
    m.fitted = std::any_of(validation.calibrations.begin(), validation.calibrations.end(), [&](const Calibration& c) {
      return std::find(c.points.begin(), c.points.end(), m.id) != c.points.end();
    });
  }
  return validation;
}

bool run_validation(Validation& validation, const LaunchOptions& options, const RowDone& row_done) {
  LaunchOptions tolerant = options;
  tolerant.refused = [&](std::size_t index, const std::string& error, std::size_t done) {
    throw_common(error);
    for (const std::size_t m : validation.measurements_of[index]) {
      validation.measurements[m].status = "refused";
      validation.measurements[m].error = error;
    }
    row_done(index, {}, done);
  };
  return launch(validation.points, tolerant, [&](std::size_t index, const PointRow& row, std::size_t done) {
    for (const std::size_t m : validation.measurements_of[index]) {
      fill(validation.measurements[m], validation.points[index], row);
    }
    row_done(index, row, done);
  });
}

std::vector<LeftOut> leave_groups_out(const LaunchOptions& options) {
  std::vector<LeftOut> groups;
  const std::string file = (fs::path(validation_folder()) / "left_out.csv").string();
  for (const Prior& prior : read_priors(file)) {
    if (groups.empty() || groups.back().group != prior.group) groups.push_back({prior.group, 0, {}});
    groups.back().priors.push_back(prior);
  }
  for (LeftOut& group : groups) {
    std::vector<Setting> settings;
    for (const Prior& prior : group.priors) settings.push_back({prior.parameter, prior.value, file});
    Validation validation = read_points(validation_files(), group.group + "-", settings);
    run_validation(validation, options, [](std::size_t, const PointRow&, std::size_t) {});
    group.error = score(validation.measurements, {}).all.error;
  }
  return groups;
}

}  // namespace trnsim
