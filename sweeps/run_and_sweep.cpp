#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "models/mechanism/error.h"
#include "results/metrics.h"
#include "results/writer.h"
#include "sweeps/commands.h"
#include "sweeps/evaluate.h"
#include "sweeps/launch.h"
#include "sweeps/progress.h"
#include "sweeps/sweep_file.h"
#include "sweeps/text_table.h"

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

std::string rounded(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return text;
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), value >= 1e6 || value == static_cast<double>(static_cast<long long>(value)) ? "%.0f" : "%.5g", value);
  return digits.data();
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

/// Metrics that are out of their row's bounds, one line each on standard error.
bool checks_hold(const std::vector<Check>& checks, const std::vector<PointRow>& rows) {
  bool hold = true;
  for (const Check& check : checks) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const PointRow& r) { return r.id == check.id; });
    if (row == rows.end() || row->metrics.count(check.metric) == 0) {
      std::fprintf(stderr, "%s: %s has no %s to check\n", check.place.c_str(), check.id.c_str(), check.metric.c_str());
      hold = false;
      continue;
    }
    const double value = number_of(*row, check.metric);
    if (value >= check.low && value <= check.high) continue;
    std::fprintf(stderr, "%s: %s: %s is %g, not within %g to %g\n", check.place.c_str(), check.id.c_str(),
                 check.metric.c_str(), value, check.low, check.high);
    hold = false;
  }
  return hold;
}

std::string sweep_text(const std::vector<PointRow>& rows) {
  std::vector<std::vector<std::string>> table = {{"id", "status", "tokens/s/user", "tokens/s/MW", "latency us", "bottleneck"}};
  const auto cell = [](const PointRow& row, const char* metric) {
    const auto found = row.metrics.find(metric);
    return found == row.metrics.end() ? std::string() : rounded(found->second);
  };
  std::size_t infeasible = 0;
  for (const PointRow& row : rows) {
    if (row.status == Status::kInfeasible) {
      ++infeasible;
      continue;
    }
    table.push_back({row.id, std::string(name(row.status)), cell(row, "tokens_per_s_per_user"),
                     cell(row, "tokens_per_s_per_mw"), cell(row, "latency_us"), cell(row, "bottleneck")});
  }
  std::string text = aligned(table, true);
  if (infeasible > 0) text += std::to_string(infeasible) + " points do not fit their machine (status infeasible)\n";
  return text;
}

void announce(const Sweep& sweep) {
  for (const Point& point : sweep.points) {
    std::string line = point.id + ": " + point.workload + " on " + point.platform;
    for (const auto& [name, value] : point.swept) {
      if (name != "platform" && name != "workload") line += " " + name + "=" + value;
    }
    print(line + "\n");
  }
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
  point.platform = command.platform;
  point.workload = command.workload;
  point.swept = {{"platform", command.platform}, {"workload", command.workload}};
  for (const Setting& setting : command.settings) {
    add_setting(point, setting);
    point.swept.emplace_back(setting.name, setting.value);
  }
  check_input(point);
  std::optional<PointStore> store;
  if (!command.out.empty()) store.emplace(command.out);
  const PointRow row = evaluate_isolated(point);
  if (store) {
    store->append(0, row);
    store->finish({point.id});
  }
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
  for (const Point& point : sweep.points) check_input(point);
  if (command.dry_run) {
    announce(sweep);
    return kGood;
  }
  PointStore store(command.out);
  std::vector<std::string> order;
  for (const Point& point : sweep.points) order.push_back(point.id);
  bool complete = false;
  {
    Progress progress(sweep.points.size());
    complete = launch(sweep.points, command.jobs, [&](std::size_t index, const PointRow& row, std::size_t done) {
      store.append(index, row);
      progress.show(done);
    });
  }
  const std::vector<PointRow> rows = store.finish(order);
  print(command.csv ? points_csv(rows) : sweep_text(rows));
  if (!complete) {
    std::fprintf(stderr, "stopped: %zu of %zu points are finished and kept in %s\n", rows.size(), order.size(),
                 command.out.c_str());
    return kInterrupted;
  }
  const int worst = worst_status(rows);
  if (worst != kGood) return worst;
  return checks_hold(sweep.checks, rows) ? kGood : kCheckFailed;
}

}  // namespace trnsim
