#include "sweeps/evaluate.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "models/mechanism/error.h"
#include "sweeps/metrics_of.h"

namespace trnsim {
namespace {

/// FNV-1a over all resolved inputs, so that equal hashes mean equal results.
class InputHash {
 public:
  void add(const std::string& text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix(0);
  }
  [[nodiscard]] std::string hex() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash_));
    return text.data();
  }

 private:
  void mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::string detail_name(Detail detail) {
  return detail == Detail::kTile ? "tile" : "instruction";
}

std::string fold_name(Fold fold) {
  if (fold == Fold::kReplicas) return "replicas";
  if (fold == Fold::kBounded) return "bounded";
  return fold == Fold::kAuto ? "auto" : "none";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string hash_of(const Point& point, const Platform& platform, const Workload& workload) {
  InputHash hash;
  hash.add(platform.machine.name);
  for (const ResolvedParameter& p : platform.parameters) hash.add(p.name + "=" + p.value + p.unit);
  hash.add(workload.name);
  for (const WorkloadParameter& p : workload.parameters) {
    hash.add(p.name + "=" + p.value + p.unit);
    if (!p.file.empty()) hash.add(text_of(p.file));
  }
  hash.add(detail_name(point.run.options.detail));
  hash.add(fold_name(point.run.options.fold));
  hash.add(std::to_string(point.run.seed));
  return hash.hex();
}

std::string us(Time time) {
  // Whole picoseconds are at most six decimals of a microsecond: exact and free of rounding.
  const std::int64_t ps = time.count();
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), "%06lld", static_cast<long long>(ps % 1'000'000));
  return std::to_string(ps / 1'000'000) + "." + fraction.data();
}

double ratio(Time part, Time whole) {
  return whole.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0;
}

std::vector<std::string> account_columns() {
  std::vector<std::string> columns = {"engine", "busy_us"};
  for (std::string_view reason : kWaitReasonNames) columns.push_back("stall_" + std::string(reason) + "_us");
  for (const char* column : {"idle_us", "utilization", "busiest_core_us", "instructions"}) columns.emplace_back(column);
  return columns;
}

std::vector<std::string> account_row(const std::string& name, const TimeAccount& account, Time capacity) {
  std::vector<std::string> row = {name, us(account.busy)};
  for (Time stall : account.stall) row.push_back(us(stall));
  row.push_back(us(account.idle));
  row.push_back(format_number(ratio(account.busy, capacity)));
  return row;
}

Table engines_table(const RunRecord& record) {
  Table table{account_columns(), {}};
  const Time in_use = record.elapsed * static_cast<std::int64_t>(record.cores_with_program);
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    std::vector<std::string> row = account_row(std::string(kEngineNames[e]), record.engines[e].sum, in_use);
    row.push_back(us(record.engines[e].busiest));
    row.push_back(std::to_string(record.engines[e].instructions));
    table.rows.push_back(row);
  }
  std::vector<std::string> queues = account_row("dma_queues", record.dma_queues, record.dma_queues.total());
  queues.insert(queues.end(), {"", ""});
  table.rows.push_back(queues);
  return table;
}

Table operators_table(const RunRecord& record) {
  Table table{{"operator"}, {}};
  for (std::string_view engine : kEngineNames) table.columns.push_back(std::string(engine) + "_busy_us");
  for (const char* column : {"instructions", "macs", "dma_bytes"}) table.columns.emplace_back(column);
  for (const OperatorRecord& op : record.operators) {
    std::vector<std::string> row = {op.name};
    std::uint64_t instructions = 0;
    for (std::size_t e = 0; e < kEngineCount; ++e) {
      row.push_back(us(op.busy[e]));
      instructions += op.instructions[e];
    }
    row.insert(row.end(), {std::to_string(instructions), std::to_string(op.macs), std::to_string(op.dma_bytes)});
    table.rows.push_back(row);
  }
  return table;
}

Table links_table(const RunRecord& record) {
  Table table{{"number", "link", "level", "bytes", "messages", "busy_us", "utilization"}, {}};
  for (const LinkRecord& link : record.links) {
    table.rows.push_back({std::to_string(link.number), link.name, link.level, std::to_string(link.bytes),
                          std::to_string(link.messages), us(link.busy),
                          format_number(ratio(link.busy, record.elapsed))});
  }
  return table;
}

Table parameters_table(const Platform& platform, const Workload& workload) {
  Table table{{"parameter", "value", "unit", "low", "high", "confidence", "source", "origin"}, {}};
  for (const ResolvedParameter& p : platform.parameters) {
    table.rows.push_back({p.name, p.value, p.unit, p.low, p.high, p.confidence, p.source, p.origin});
  }
  for (const WorkloadParameter& p : workload.parameters) {
    table.rows.push_back({p.name, p.value, p.unit, "", "", "", p.source, p.origin});
  }
  return table;
}

Table run_table(const RunRecord& record, double wall_s) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {{"wall_s", "host", "peak_rss_mib", "cores_simulated", "instructions_simulated", "instruction_events",
           "transfers_simulated", "transactions", "systemc_processes", "replica_groups", "replica_groups_simulated",
           "layers_repeated", "layers_repeated_simulated"},
          {{format_number(wall_s), host.data(), std::to_string(usage.ru_maxrss / 1024),
            std::to_string(record.simulated_cores), std::to_string(record.simulated_instructions),
            std::to_string(record.simulated_instruction_events), std::to_string(record.simulated_transfers),
            std::to_string(record.simulated_transactions), std::to_string(record.systemc_processes),
            std::to_string(record.replicas), std::to_string(record.replicas_simulated),
            std::to_string(record.repeated_calls), std::to_string(record.repeated_calls_simulated)}}};
}

PointRow empty_row(const Point& point) {
  PointRow row;
  row.id = point.id;
  row.swept = point.swept;
  row.detail = detail_name(point.run.options.detail);
  row.version = TRNSIM_VERSION;
  return row;
}

std::string fold_text(const RunRecord& record) {
  std::string text;
  const auto add = [&text](std::uint64_t all, std::uint64_t simulated, const std::string& what) {
    if (all == simulated) return;
    if (!text.empty()) text += "; ";
    text += std::to_string(all) + " " + what + " as " + std::to_string(simulated);
  };
  add(record.replicas, record.replicas_simulated, "replica groups");
  add(record.repeated_calls, record.repeated_calls_simulated, "layers");
  return text.empty() ? "none" : text;
}

/// What a swept parameter is at a point that does not set it; empty if it means nothing there.
std::string resolved_value(const std::string& name, const Point& point, const Table& parameters) {
  if (name == "run.detail") return detail_name(point.run.options.detail);
  if (name == "run.fold") return fold_name(point.run.options.fold);
  if (name == "run.seed") return std::to_string(point.run.seed);
  for (const auto& cells : parameters.rows) {
    if (cells[0] != name) continue;
    const std::string& unit = cells[2];
    return cells[1] + (unit == "1" || unit == "count" ? "" : unit);
  }
  return "";
}

PointRow with_inputs(PointRow row, const Point& point, const Platform& platform, const Workload& workload) {
  row.input_hash = hash_of(point, platform, workload);
  row.parameters = parameters_table(platform, workload);
  for (auto& [name, value] : row.swept) {
    if (value.empty()) value = resolved_value(name, point, row.parameters);
  }
  return row;
}

TraceArguments trace_facts(const Point& point, const Evaluation& e) {
  TraceArguments facts;
  facts.add("program", "trnsim " TRNSIM_VERSION).add("input_hash", hash_of(point, e.platform, e.workload));
  for (const auto& [name, value] : point.swept) facts.add(name, value);
  facts.add("detail", detail_name(point.run.options.detail)).add("fold", fold_text(e.record));
  facts.add("elapsed_us", us(e.record.elapsed));
  return facts;
}

/// Simulates and writes down what happened.
RunRecord simulate_traced(const Point& point, Evaluation& e, TraceFile& trace) {
  Timeline timeline(trace.filter(e.lowered.facts.lnc));
  SimulationOptions options = point.run.options;
  options.timeline = &timeline;
  try {
    e.record = simulate(e.platform.machine, e.lowered.job, options);
  } catch (const InputError& error) {
    throw InputError("--trace-ranks: " + std::string(error.what()));
  } catch (...) {
    // Out of a process of the kernel, an exception arrives as a report of it.
    if (timeline.full() || timeline.too_much_expected()) throw InputError(trace.too_large(timeline));
    throw;
  }
  trace.write(timeline, e.platform.machine.cores_per_chip, e.record.elapsed, trace_facts(point, e));
  return e.record;
}

/// Throws InputError if a link is scaled that the machine has not, or if links are down that it cannot do without.
void check_links(const Platform& platform) {
  const auto& scales = platform.machine.link_bandwidth_scale;
  if (scales.empty()) return;
  const auto row_of = [&platform](std::uint32_t link, const char* suffix) {
    const std::string name = "link[" + std::to_string(link) + "]." + suffix;
    return std::find_if(platform.parameters.begin(), platform.parameters.end(),
                        [&](const ResolvedParameter& p) { return p.name == name; });
  };
  const auto given = [&](std::uint32_t link) {
    const auto state = row_of(link, "state");
    return state == platform.parameters.end() ? row_of(link, "bandwidth_scale") : state;
  };
  const std::size_t links = link_count(platform.machine);
  for (const auto& [link, scale] : scales) {
    if (link < links) continue;
    const std::string valid = links == 0 ? "has no links" : "has links 0 to " + std::to_string(links - 1);
    throw InputError(given(link)->place + ": " + given(link)->name + " names no link; this machine " + valid);
  }
  try {
    check_ways(platform.machine);
  } catch (const InputError& error) {
    const auto down = std::find_if(scales.begin(), scales.end(), [](const auto& scale) { return scale.second == 0; });
    throw InputError(given(down->first)->place + ": " + error.what());
  }
}

}  // namespace

void InputCheck::add(const Point& point) {
  const auto key = [](std::string text, const auto& overrides) {
    for (const auto& change : overrides) text += '\n' + change.name + '=' + change.value;
    return text;
  };
  const std::string platform = key(point.platform, point.platform_overrides);
  if (!platforms_.contains(platform)) check_links(load_platform(point.platform, point.platform_overrides));
  platforms_.insert(platform);
  const std::string workload = key(point.workload, point.workload_overrides);
  if (!workloads_.contains(workload)) {
    static_cast<void>(load_workload(point.workload, point.workload_overrides, data_folder()));
  }
  workloads_.insert(workload);
}

void check_input(const std::vector<Point>& points) {
  InputCheck check;
  for (const Point& point : points) check.add(point);
}

PointRow failed_row(const Point& point, Status status, const std::string& error) {
  PointRow row = empty_row(point);
  row.status = status;
  row.error = error;
  return with_inputs(row, point, load_platform(point.platform, point.platform_overrides),
                     load_workload(point.workload, point.workload_overrides, data_folder()));
}

PointRow evaluate(const Point& point, TraceFile* trace) {
  const auto start = std::chrono::steady_clock::now();
  Evaluation e;
  e.platform = load_platform(point.platform, point.platform_overrides);
  e.workload = load_workload(point.workload, point.workload_overrides, data_folder());
  PointRow row = with_inputs(empty_row(point), point, e.platform, e.workload);
  e.lowered = lower(e.workload, e.platform.machine, point.run.seed);
  e.record = trace != nullptr ? simulate_traced(point, e, *trace)
                              : simulate(e.platform.machine, e.lowered.job, point.run.options);
  check_conservation(e);
  row.fold = fold_text(e.record);
  fill_metrics(row, e);
  row.engines = engines_table(e.record);
  row.operators = operators_table(e.record);
  row.links = links_table(e.record);
  row.run = run_table(e.record, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return row;
}

}  // namespace trnsim
