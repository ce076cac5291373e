#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <utility>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "platforms/table/nearest.h"
#include "results/claims.h"
#include "results/metrics.h"
#include "results/report.h"
#include "results/writer.h"
#include "sweeps/commands.h"
#include "sweeps/text_table.h"
#include "workloads/collectives/algorithms/list.h"
#include "workloads/kernels/list.h"
#include "workloads/models/catalogue.h"
#include "workloads/models/hf_config.h"
#include "workloads/models/parameter_count.h"

namespace trnsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kListWidth = 120;  // characters that fit a terminal

Rows names_of(const char* header, const std::vector<std::string>& names) {
  Rows rows = {{header}};
  for (const std::string& name : names) rows.push_back({name});
  return rows;
}

Rows parameter_rows() {
  Rows rows = {{"parameter", "values or units", "workloads", "meaning"}};
  for (const ParameterInfo& p : platform_parameters()) rows.push_back({p.name, p.range, "", p.meaning});
  for (const WorkloadParameterInfo& p : workload_parameters()) rows.push_back({p.name, p.range, p.phases, p.meaning});
  rows.push_back({"run.detail", "tile|instruction", "", "runs of equal instructions as one step, or one by one"});
  rows.push_back(
      {"run.fold", "auto|bounded|none|replicas", "",
       "auto: equal replicas once, of equal layers the first where that is exact; bounded: or within a bound"});
  rows.push_back({"run.seed", "count", "", "seed of every random draw"});
  return rows;
}

Rows metric_rows() {
  Rows rows = {{"metric", "unit", "boundary", "formula"}};
  for (const MetricInfo& m : metrics()) {
    rows.push_back({std::string(m.name), std::string(m.unit), std::string(m.boundary), std::string(m.formula)});
  }
  return rows;
}

Rows kernel_rows() {
  Rows rows = {{"kernel", "meaning"}};
  for (const KernelInfo& k : kernels()) rows.push_back({std::string(k.name), std::string(k.meaning)});
  return rows;
}

/// n = ranks, S = bytes of the whole vector, c = chips, r = ranks of a chip, B = rate at which a rank can send.
Rows collective_rows() {
  Rows rows = {{"algorithm", "collective", "steps of n ranks", "bytes that a rank sends of S", "time on ideal hardware",
                "meaning"}};
  for (const collective::Algorithm* algorithm : collective::algorithms()) {
    for (const collective::Form& form : algorithm->forms) {
      rows.push_back({std::string(algorithm->name), std::string(collective::name_of(form.collective)),
                      std::string(form.steps), std::string(form.bytes), std::string(form.time),
                      std::string(algorithm->meaning)});
    }
  }
  return rows;
}

Rows topology_rows() {
  std::array<std::string, kFabricKinds.size()> machines;
  for (const std::string& name : platform_names()) {
    std::string& list = machines[static_cast<std::size_t>(load_platform(name).machine.fabric.kind)];
    list += (list.empty() ? "" : ", ") + name;
  }
  Rows rows = {{"topology", "machines", "meaning"}};
  for (std::size_t k = 0; k < kFabricKinds.size(); ++k) {
    rows.push_back({std::string(kFabricKinds[k].name), machines[k], std::string(kFabricKinds[k].meaning)});
  }
  return rows;
}

std::string number(double value, const char* format = "%.4g") {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// `active` leaves the input embedding out; the cache is that of keys and values, or of latent rows, in BF16.
Rows model_rows() {
  Rows rows = {{"model", "10^9 parameters", "active per token", "cached bytes per token"}};
  for (const NamedModel& model : shipped_models(data_folder())) {
    const ModelCounts counts = model_counts(model.shape);
    rows.push_back({model.name, number(static_cast<double>(counts.total) / 1e9, "%.2f"),
                    number(static_cast<double>(counts.active_without_embedding) / 1e9, "%.2f"),
                    std::to_string(counts.cached_bytes)});
  }
  return rows;
}

const PublishedTotal* published(const Platform& platform, const std::string& name) {
  const auto found = std::find_if(platform.published.begin(), platform.published.end(),
                                  [&](const PublishedTotal& total) { return total.name == name; });
  return found == platform.published.end() ? nullptr : &*found;
}

double total_of(const MachineSpec& m, const std::string& what) {
  const double stacks = static_cast<double>(m.chips) * m.hbm.stacks;
  if (what == "capacity") return stacks * static_cast<double>(m.hbm.capacity.count());
  if (what == "bandwidth") return stacks * static_cast<double>(m.hbm.bandwidth.count());
  const auto dtype = std::find(kDtypeNames.begin(), kDtypeNames.end(), what);
  return dtype == kDtypeNames.end() ? 0 : m.array_peak(static_cast<Dtype>(dtype - kDtypeNames.begin()));
}

std::vector<std::string> total_row(const Platform& platform, const std::string& what, double unit,
                                   const char* unit_name) {
  const double computed = total_of(platform.machine, what);
  const PublishedTotal* printed = published(platform, what);
  if (printed != nullptr && printed->value <= 0) printed = nullptr;  // nothing to hold the model against
  return {what, number(computed / unit, "%.6g") + " " + unit_name,
          printed == nullptr ? "" : number(printed->value / unit, "%.6g") + " " + unit_name,
          printed == nullptr ? "" : number(computed / printed->value)};
}

std::string totals_text(const Platform& platform) {
  Rows rows = {{"total", "from the model", "published", "model / published"}};
  for (std::size_t d = 0; d < kDtypeCount; ++d) {
    const std::string dtype(kDtypeNames[d]);
    if (total_of(platform.machine, dtype) <= 0) continue;
    rows.push_back(total_row(platform, dtype, 1e15, "PFLOPS"));
    rows.back()[0] = "array peak " + dtype;
  }
  rows.push_back(total_row(platform, "capacity", 1024.0 * 1024 * 1024, "GiB"));
  rows.push_back(total_row(platform, "bandwidth", 1e12, "TB/s"));
  return aligned(rows, true);
}

/// The vendor's ratios against the UltraServer before, beside what the published and the modelled totals give; those
/// alone that both machines have published totals for.
std::string claims_text(const Platform& platform) {
  const bool claims = std::any_of(platform.published.begin(), platform.published.end(),
                                  [](const PublishedTotal& total) { return total.name.starts_with("talk_"); });
  if (!claims) return "";
  const Platform base = load_platform("trn2-ultraserver");
  Rows rows = {{"against trn2-ultraserver", "said", "published totals", "model", "verdict"}};
  const auto add = [&](const char* what, const char* claim, const char* own, const char* other) {
    const PublishedTotal* const claimed = published(platform, claim);
    const PublishedTotal* const own_total = published(platform, own);
    const PublishedTotal* const other_total = published(base, other);
    if (claimed == nullptr || own_total == nullptr || other_total == nullptr) return;
    const double said = claimed->value;
    const double printed = own_total->value / other_total->value;
    const double model = total_of(platform.machine, own) / total_of(base.machine, other);
    // A claim is reproduced if it is the model's ratio rounded to the claim's one decimal, up or down.
    const bool agrees = std::min(std::abs(model - said), std::abs(printed - said)) < 0.05 + 1e-9;
    rows.push_back({what, number(said), number(printed), number(model), agrees ? "reproduced" : "not reproduced"});
  };
  add("compute, fastest 8-bit format", "talk_compute_over_trn2", "mxfp8", "fp8");
  add("HBM capacity", "talk_capacity_over_trn2", "capacity", "capacity");
  add("HBM bandwidth", "talk_bandwidth_over_trn2", "bandwidth", "bandwidth");
  return rows.size() == 1 ? "" : "\n" + aligned(rows, true);
}

int show_platform(const std::string& name, const std::vector<Setting>& settings) {
  std::vector<Override> overrides;
  overrides.reserve(settings.size());
  for (const Setting& s : settings) overrides.push_back({s.name, s.value, s.place});
  const Platform platform = load_platform(name, overrides);
  Rows rows = {{"parameter", "value", "unit", "low", "high", "confidence", "source"}};
  for (const ResolvedParameter& p : platform.parameters) {
    rows.push_back({p.name, p.value, p.unit, p.low, p.high, p.confidence, p.source + " [" + p.origin + "]"});
  }
  print(aligned(rows, true) + "\n" + totals_text(platform) + claims_text(platform));
  return kGood;
}

int show_workload(const std::string& name, const std::vector<Setting>& settings) {
  std::vector<WorkloadOverride> overrides;
  overrides.reserve(settings.size());
  for (const Setting& s : settings) overrides.push_back({s.name, s.value, s.place});
  Rows rows = {{"parameter", "value", "unit", "source"}};
  for (const WorkloadParameter& p : load_workload(name, overrides, data_folder()).parameters) {
    rows.push_back({p.name, p.value, p.unit, p.source + " [" + p.origin + "]"});
  }
  print(aligned(rows, true));
  return kGood;
}

bool is_there(const std::string& path) {
  std::error_code error;  // a name too long or a circle of links is not there
  return std::filesystem::exists(path, error);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// By the header: platform files say how sure each value is. The reader of the kind then reports what is wrong.
bool is_workload_file(const std::string& path) {
  if (is_model_config(path)) return true;
  const std::vector<Field> header = read_csv(path).header.fields;
  return std::none_of(header.begin(), header.end(), [](const Field& field) { return field.text == "confidence"; });
}

/// `rows` whose name contains `text`, under the header. Throws InputError if there is none.
Rows named_like(Rows rows, const std::string& what, const std::string& text) {
  const auto differs = [&text](const auto& row) { return row.front().find(text) == std::string::npos; };
  rows.erase(std::remove_if(rows.begin() + 1, rows.end(), differs), rows.end());
  if (rows.size() == 1) {
    throw InputError("list " + what + ": no name contains '" + text + "'; see `trnsim list " + what + "`");
  }
  return rows;
}

}  // namespace

int list(const std::string& what, const std::string& text) {
  const std::vector<std::pair<std::string_view, std::function<Rows()>>> kinds = {
      {"platforms", [] { return names_of("platform", platform_names()); }},
      {"models", model_rows},
      {"workloads", [] { return names_of("workload", workload_names(data_folder())); }},
      {"parameters", parameter_rows},
      {"metrics", metric_rows},
      {"kernels", kernel_rows},
      {"collectives", collective_rows},
      {"topologies", topology_rows},
  };
  std::vector<std::string_view> names;
  for (const auto& [name, rows] : kinds) {
    if (name == what) {
      print(wrapped(named_like(rows(), what, text), kListWidth));
      return kGood;
    }
    names.push_back(name);
  }
  const std::string near = nearest(what, names);
  throw InputError("list: nothing is called '" + what + "'; " +
                   (near.empty() ? "see `trnsim list --help`" : "did you mean " + near + "?"));
}

int show(const std::string& name, const std::vector<Setting>& settings) {
  const std::vector<std::string> workloads = workload_names(data_folder());
  if (contains(workloads, name) || (!contains(platform_names(), name) && is_there(name) && is_workload_file(name))) {
    return show_workload(name, settings);
  }
  if (!contains(platform_names(), name) && !is_there(name)) {
    std::vector<std::string> all = platform_names();
    all.insert(all.end(), workloads.begin(), workloads.end());
    const std::vector<std::string_view> views(all.begin(), all.end());
    const std::string near = nearest(name, views);
    throw InputError(
        "unknown platform or workload '" + name + "'; " +
        (near.empty() ? "see `trnsim list platforms` and `trnsim list workloads`" : "did you mean " + near + "?"));
  }
  return show_platform(name, settings);
}

int report(const std::string& folder, const std::string& out_file) {
  print("report: " + write_report(folder, out_file).string() + "\n");
  return kGood;
}

int claims(const std::string& folder) {
  print(claims_page(read_results(folder), folder));
  return kGood;
}

}  // namespace trnsim
