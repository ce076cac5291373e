#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

#include "models/mechanism/error.h"
#include "results/metrics.h"
#include "results/writer.h"
#include "sweeps/commands.h"
#include "sweeps/evaluate.h"
#include "sweeps/fronts_text.h"
#include "sweeps/launch.h"
#include "sweeps/points_text.h"
#include "sweeps/progress.h"
#include "sweeps/sweep_file.h"
#include "sweeps/text_table.h"
#include "sweeps/trace_file.h"

namespace trnsim {
namespace {

int status_of(Status status, bool in_sweep) {
  switch (status) {
    case Status::kOk:
    case Status::kSaturated:
      return kGood;
    case Status::kInfeasible:
      return in_sweep ? kGood : kSimulationFailed;
    default:
      return kSimulationFailed;
  }
}

double number_of(const PointRow& row, std::string_view metric) {
  const auto found = row.metrics.find(metric);
  double value = 0;
  if (found == row.metrics.end()) return value;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::string run_text(const PointRow& row) {
  std::vector<std::vector<std::string>> rows = {{"metric", "value", "unit"}};
  for (const MetricInfo& metric : metrics()) {
    const auto found = row.metrics.find(metric.name);
    if (found == row.metrics.end()) continue;
    rows.push_back({std::string(metric.name), rounded(found->second), std::string(metric.unit)});
  }
  rows.push_back({"fold", row.fold, ""});
  rows.push_back({"detail", row.detail, ""});
  return aligned(rows, true);
}

/// One expectation against its row: empty if it holds, else what is wrong.
std::string broken(const Check& check, const PointRow* row) {
  const auto found = row == nullptr ? decltype(row->metrics.find("")){} : row->metrics.find(check.metric);
  if (row == nullptr || found == row->metrics.end()) return "has no " + check.metric + " to check";
  if (!check.word.empty()) {
    return found->second == check.word ? "" : check.metric + " is " + found->second + ", not " + check.word;
  }
  const double value = number_of(*row, check.metric);
  if (value >= check.low && value <= check.high) return "";
  return check.metric + " is " + found->second + ", not within " + format_number(check.low) + " to " +
         format_number(check.high);
}

/// Whether all metrics are within their row's bounds; each that is not gets a line on standard error.
bool checks_hold(const std::vector<Check>& checks, const std::vector<PointRow>& rows) {
  std::map<std::string_view, const PointRow*> by_id;
  for (const PointRow& row : rows) by_id[row.id] = &row;
  bool hold = true;
  for (const Check& check : checks) {
    const auto row = by_id.find(check.id);
    const std::string wrong = broken(check, row == by_id.end() ? nullptr : row->second);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "%s: %s: %s\n", check.place.c_str(), check.id.c_str(), wrong.c_str());
    hold = false;
  }
  return hold;
}

std::string sweep_text(const std::vector<PointRow>& rows, const std::string& folder) {
  std::string text = fronts_text(rows);
  if (text.empty()) text = points_text(rows) + "\n";
  text += reasons_text(rows);
  std::map<std::string_view, std::size_t> count;
  for (const PointRow& row : rows) ++count[name(row.status)];
  text += std::to_string(rows.size()) + " points:";
  for (const auto& [status, n] : count) text += " " + std::to_string(n) + " " + std::string(status);
  return text + "; results in " + folder + "\n";
}

/// Standard output of a sweep, whose results are in their folder all the same: where it is broken, that is said once
/// and the sweep goes on.
class Output {
 public:
  void print(const std::string& text) {
    if (broken_) return;
    try {
      trnsim::print(text);
    } catch (const InputError& error) {
      broken_ = true;
      std::fprintf(stderr, "%s\n", error.what());
    }
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  bool broken_ = false;
};

std::string points_to_run(const Sweep& sweep) {
  std::string text;
  for (const Point& point : sweep.points) {
    text += point.id + ": " + point.workload + " on " + point.platform;
    for (const auto& [name, value] : point.swept) {
      if (name != "platform" && name != "workload" && !value.empty()) text += " " + name + "=" + value;
    }
    text += "\n";
  }
  return text;
}

int worst_status(const std::vector<PointRow>& rows) {
  int worst = kGood;
  for (const PointRow& row : rows) {
    const int status = status_of(row.status, true);
    if (status != kGood) {
      std::fprintf(stderr, "%s: %s: %s\n", row.id.c_str(), std::string(name(row.status)).c_str(), row.error.c_str());
    }
    worst = std::max(worst, status);
  }
  return worst;
}

}  // namespace

int run(const RunCommand& command) {
  Point point;
  point.id = "1";
  add_setting(point, {"platform", command.platform, "--platform"});
  add_setting(point, {"workload", command.workload, "--workload"});
  point.swept = {{"platform", command.platform}, {"workload", command.workload}};
  for (const Setting& setting : command.settings) {
    if (setting.name == "platform" || setting.name == "workload") {
      throw InputError(setting.place + ": " + setting.name + " is named by --" + setting.name + "; use that alone");
    }
    add_setting(point, setting);
    point.swept.emplace_back(setting.name, setting.value);
  }
  check_input({point});
  std::optional<PointStore> store;
  if (!command.out.empty()) store.emplace(command.out);
  std::optional<TraceFile> trace;
  if (command.trace) trace.emplace(*command.trace);
  PointRow row;
  const LaunchOptions options{.limit = command.limit, .trace = trace ? &*trace : nullptr};
  if (!launch({point}, options, [&row](std::size_t, const PointRow& done, std::size_t) { row = done; })) {
    std::fputs("stopped\n", stderr);
    return kInterrupted;
  }
  if (store) {
    store->append(0, row);
    store->finish({point.id});
  }
  if (trace && row.status == Status::kOk) trace->commit();
  if (command.csv) print(points_csv({row}));
  if (row.status != Status::kOk) {
    std::fprintf(stderr, "%s: %s\n", std::string(name(row.status)).c_str(), row.error.c_str());
  } else if (!command.csv) {
    print(run_text(row));
  }
  return status_of(row.status, false);
}

int sweep(const SweepCommand& command) {
  const Sweep sweep = read_sweep(command.file, command.settings);
  check_input(sweep.points);
  if (command.dry_run) {
    print(points_to_run(sweep));
    return kGood;
  }
  PointStore store(command.out);
  Output output;
  const std::size_t total = sweep.points.size();
  if (!command.csv) {
    output.print(std::to_string(total) + (total == 1 ? " point" : " points") + " to run, " +
                 std::to_string(std::min(command.jobs, total)) + " at a time\n");
  }
  std::vector<std::string> order;
  for (const Point& point : sweep.points) order.push_back(point.id);
  bool complete = false;
  try {
    Progress progress(total);
    const LaunchOptions options{command.jobs, command.limit, nullptr};
    complete = launch(sweep.points, options, [&](std::size_t index, const PointRow& row, std::size_t done) {
      store.append(index, row);
      progress.show(done);
    });
  } catch (...) {
    store.finish(order);  // what is finished stays readable
    throw;
  }
  const std::vector<PointRow> rows = store.finish(order);
  output.print(command.csv ? points_csv(rows) : sweep_text(rows, command.out));
  if (!complete) {
    std::fprintf(stderr, "stopped: %zu of %zu points are finished and kept in %s\n", rows.size(), order.size(),
                 command.out.c_str());
    return kInterrupted;
  }
  const int worst = worst_status(rows);
  const bool hold = checks_hold(sweep.checks, rows);
  if (worst != kGood) return worst;
  if (!hold) return kCheckFailed;
  return output.broken() ? kBadInput : kGood;
}

}  // namespace trnsim
