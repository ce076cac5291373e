// Reads workload CSVs: `parameter,value,unit,source`, with `inherits,<file>` and `model,<file>` rows.
#include "workloads/workload.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "workloads/parameters.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;
using Parameters = std::map<std::string, WorkloadParameter>;

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> list;
  while (!words.empty()) {
    const std::size_t bar = words.find('|');
    list.push_back(words.substr(0, bar));
    words = bar == std::string_view::npos ? std::string_view() : words.substr(bar + 1);
  }
  return list;
}

std::string unknown_name(const std::string& name) {
  std::vector<std::string_view> names;
  for (const WorkloadParameterRow& row : workload_parameter_table()) names.push_back(row.name);
  const std::string near = nearest(name, names);
  return "unknown workload parameter '" + name + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?");
}

// Throws std::invalid_argument without a place.
void check_value(const WorkloadParameterRow& row, const std::string& value, const std::string* unit) {
  if (row.accepts_auto && value == "auto") return;
  const std::vector<std::string_view> words = split_words(row.words);
  if (row.dimension == Dimension::kWord && words.empty()) {
    if (value.empty()) throw std::invalid_argument("empty value; a name is needed");
    return;
  }
  const Value parsed = unit != nullptr ? parse_value(row.dimension, value, *unit, words)
                                       : parse_value_with_unit(row.dimension, value, words);
  if (row.dimension == Dimension::kWord) return;
  const double number = row.dimension == Dimension::kCount ? static_cast<double>(parsed.integer) : parsed.real;
  if (number < row.low || number > row.high) {
    throw std::invalid_argument("'" + value + "' is out of range for " + std::string(row.name) + "; " +
                                std::to_string(static_cast<long long>(row.low)) + " to " +
                                std::to_string(static_cast<long long>(row.high)) + " is accepted");
  }
}

std::string_view other_batch(std::string_view name) {
  if (name == "batch") return "batch_per_replica";
  if (name == "batch_per_replica") return "batch";
  return {};
}

// A later level (a file over what it inherits, --set over the file) replaces; `batch` replaces `batch_per_replica`.
void put(Parameters& parameters, WorkloadParameter parameter) {
  if (const std::string_view other = other_batch(parameter.name); !other.empty()) parameters.erase(std::string(other));
  parameters[parameter.name] = std::move(parameter);
}

void read_file(const fs::path& path, const std::string& models, std::vector<fs::path>& chain, Parameters& parameters);

void read_row(const CsvFile& file, const CsvRow& row, std::set<std::string>& seen, Parameters& parameters) {
  const std::string& name = row.fields[0].text;
  const WorkloadParameterRow* known = find_workload_parameter(name);
  if (known == nullptr) throw InputError(file.at(row, 0, unknown_name(name)));
  if (!seen.insert(name).second) throw InputError(file.at(row, 0, "duplicate row '" + name + "'; keep one"));
  if (const std::string_view other = other_batch(name); seen.contains(std::string(other))) {
    throw InputError(file.at(row, 0, "'batch' and 'batch_per_replica' are both set; keep one"));
  }
  try {
    check_value(*known, row.fields[1].text, &row.fields[2].text);
  } catch (const std::invalid_argument& error) {
    throw InputError(file.at(row, 1, error.what()));
  }
  put(parameters, {name, row.fields[1].text, row.fields[2].text, row.fields[3].text,
                   fs::path(file.path).filename().string() + ":" + std::to_string(row.line)});
}

void read_file(const fs::path& path, const std::string& models, std::vector<fs::path>& chain, Parameters& parameters) {
  const CsvFile file = read_csv(path.string(), {"parameter", "value", "unit", "source"});
  if (file.rows.empty()) throw InputError(path.string() + ":1:1: no rows; at least one parameter is needed");
  chain.push_back(fs::weakly_canonical(path));
  std::set<std::string> seen;
  for (const CsvRow& row : file.rows) {
    if (row.fields[0].text != "inherits" && row.fields[0].text != "model") continue;
    const bool inherits = row.fields[0].text == "inherits";
    const fs::path next = inherits ? path.parent_path() / row.fields[1].text : fs::path(models) / row.fields[1].text;
    if (!fs::exists(next)) throw InputError(file.at(row, 1, "no file '" + next.string() + "'"));
    if (std::find(chain.begin(), chain.end(), fs::weakly_canonical(next)) != chain.end()) {
      throw InputError(file.at(row, 1, "'" + row.fields[1].text + "' inherits itself; the chain must end"));
    }
    read_file(next, models, chain, parameters);
  }
  for (const CsvRow& row : file.rows) {
    if (row.fields[0].text != "inherits") read_row(file, row, seen, parameters);
  }
  chain.pop_back();
}

void apply_override(const WorkloadOverride& override, Parameters& parameters) {
  const WorkloadParameterRow* known = find_workload_parameter(override.name);
  if (known == nullptr) throw InputError(override.place + ": " + unknown_name(override.name));
  if (override.name == "model") throw InputError(override.place + ": 'model' is set in a workload file only");
  try {
    check_value(*known, override.value, nullptr);
  } catch (const std::invalid_argument& error) {
    throw InputError(override.place + ": " + override.name + ": " + error.what());
  }
  put(parameters, {override.name, override.value, "", "", override.place});
}

}  // namespace

std::vector<std::string> workload_names(const std::string& data_folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(data_folder) / "workloads")) {
    if (entry.path().extension() == ".csv") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Workload load_workload(const std::string& name_or_path, const std::vector<WorkloadOverride>& overrides,
                       const std::string& data_folder) {
  const fs::path folder = fs::path(data_folder) / "workloads";
  fs::path path = name_or_path;
  if (name_or_path.find('/') == std::string::npos && path.extension() != ".csv") {
    path = folder / (name_or_path + ".csv");
    if (!fs::exists(path)) {
      const std::vector<std::string> names = workload_names(data_folder);
      const std::vector<std::string_view> views(names.begin(), names.end());
      const std::string near = nearest(name_or_path, views);
      throw InputError("no workload '" + name_or_path + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  }
  Parameters parameters;
  std::vector<fs::path> chain;
  read_file(path, (folder / "models").string(), chain, parameters);
  std::map<std::string, std::string> set_batch;
  for (const WorkloadOverride& override : overrides) {
    if (const std::string_view other = other_batch(override.name); !other.empty()) {
      if (set_batch.contains(std::string(other))) {
        throw InputError(override.place + ": 'batch' and 'batch_per_replica' are both set; keep one");
      }
      set_batch[override.name] = override.place;
    }
    apply_override(override, parameters);
  }
  Workload workload;
  workload.name = path.stem().string();
  for (auto& [name, parameter] : parameters) workload.parameters.push_back(std::move(parameter));
  return workload;
}

}  // namespace trnsim
