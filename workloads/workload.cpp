// Reads workload CSVs: `parameter,value,unit,source`, with `inherits,<file>` and `model,<file>` rows; a model's
// config.json is a job too, mapped as workloads/parts/model.csv says.
#include "workloads/workload.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "platforms/table/inherited.h"
#include "platforms/table/nearest.h"
#include "workloads/models/dimensions.h"
#include "workloads/models/hf_config.h"
#include "workloads/parameters.h"
#include "workloads/routing/counts_path.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;
using Parameters = std::map<std::string, WorkloadParameter>;

enum Column : std::size_t { kName, kValue, kUnit, kSource };

std::string unknown_name(const std::string& name) {
  std::vector<std::string_view> names;
  for (const WorkloadParameterRow& row : workload_parameter_table()) names.push_back(row.name);
  const std::string near = nearest(name, names);
  return "unknown workload parameter '" + name + "'; " +
         (near.empty() ? "see `trnsim list parameters`" : "did you mean " + near + "?");
}

// What is wrong with setting `row` in a workload of `phase`; empty if nothing.
std::string without_effect(const WorkloadParameterRow& row, const std::string& phase) {
  if (row.is_read_by(phase)) return "";
  std::vector<std::string_view> names;
  for (const WorkloadParameterRow& other : workload_parameter_table()) {
    if (other.is_read_by(phase)) names.push_back(other.name);
  }
  const std::string near = nearest(row.name, names);
  return "'" + std::string(row.name) + "' is not a parameter of " + phase + " workloads; " +
         (near.empty() ? "remove it" : "did you mean " + near + "?") + " (it belongs to " +
         either(split_words(row.phases)) + ")";
}

// Throws std::invalid_argument without a place.
void check_value(const WorkloadParameterRow& row, const std::string& value, const std::string* unit) {
  std::vector<std::string_view> words = split_words(row.words);
  const bool is_word = (row.accepts_auto && value == "auto") || (row.dimension == Dimension::kWord && words.empty());
  if (is_word) {
    if (value.empty()) throw std::invalid_argument("empty value; a name is needed");
    if (unit != nullptr && !unit->empty()) throw std::invalid_argument("a word has no unit; leave the unit empty");
    return;
  }
  if (row.accepts_auto) words.push_back("auto");
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

/// Where a parameter stands that may name a file.
struct Origin {
  std::string folder, data_folder, place;
};

// The path of the file that `value` names; empty if it names none. Throws InputError if there is no such file.
std::string counts_file_of(const std::string& name, const std::string& value, const Origin& origin) {
  if (name != "counts" || !names_counts_file(value)) return "";
  return counts_path(value, origin.folder, origin.data_folder, origin.place);
}

/// Reads one file and what it builds on; its own rows replace theirs.
class Reader {
 public:
  explicit Reader(std::string data_folder)
      : data_folder_(std::move(data_folder)), models_((fs::path(data_folder_) / "workloads" / "models").string()) {}

  const Parameters& read(const std::string& path, const std::string& place = "") {
    return files_.at(path, place, [this](const std::string& file) {
      if (is_model_config(file)) return read_config(file);
      return read_rows(read_csv(file, {"parameter", "value", "unit", "source"}));
    });
  }

 private:
  static Parameters read_config(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    Parameters parameters;
    for (const ConfigRow& row : read_model_config(path).rows) {
      put(parameters, {row.parameter, row.value, row.is_count ? "count" : "", "the model's configuration",
                       name + ":" + std::to_string(row.line), row.place});
    }
    return parameters;
  }

  // A model lies beside the file that names it, or with those that are shipped.
  [[nodiscard]] std::string folder_of(const CsvFile& file, const CsvRow& row) const {
    const fs::path own = fs::path(file.path).parent_path();
    const std::string& name = row.fields[kValue].text;
    std::error_code error;
    const bool is_beside = row.fields[kName].text == "inherits" || fs::is_regular_file(own / name, error);
    return is_beside ? own.string() : models_;
  }

  Parameters read_rows(const CsvFile& file) {
    if (file.rows.empty()) throw InputError(file.path + ":1:1: no rows; at least one parameter is needed");
    Parameters parameters;
    for (const CsvRow& row : file.rows) {
      if (row.fields[kName].text == "inherits") merge(file, row, parameters);
    }
    for (const CsvRow& row : file.rows) {
      if (row.fields[kName].text != "model") continue;
      for (const WorkloadParameterRow& dimension : model_dimensions()) parameters.erase(std::string(dimension.name));
      merge(file, row, parameters);
    }
    std::set<std::string> seen;
    for (const CsvRow& row : file.rows) {
      if (row.fields[kName].text != "inherits") read_row(file, row, seen, parameters);
    }
    check_effect(file, parameters);
    return parameters;
  }

  void merge(const CsvFile& file, const CsvRow& row, Parameters& parameters) {
    for (const auto& [name, parameter] : read(named_file(file, row, folder_of(file, row)), file.place(row, kValue)))
      put(parameters, parameter);
  }

  void read_row(const CsvFile& file, const CsvRow& row, std::set<std::string>& seen, Parameters& parameters) const {
    const std::string& name = row.fields[kName].text;
    const WorkloadParameterRow* known = find_workload_parameter(name);
    if (known == nullptr) throw InputError(file.at(row, kName, unknown_name(name)));
    if (!seen.insert(name).second) throw InputError(file.at(row, kName, "duplicate row '" + name + "'; keep one"));
    if (const std::string_view other = other_batch(name); seen.contains(std::string(other))) {
      throw InputError(file.at(row, kName, "'batch' and 'batch_per_replica' are both set; keep one"));
    }
    try {
      check_value(*known, row.fields[kValue].text, &row.fields[kUnit].text);
    } catch (const std::invalid_argument& error) {
      throw InputError(file.at(row, kValue, error.what()));
    }
    if (row.fields[kSource].text.empty() && name != "model") {
      throw InputError(file.at(row, kSource, "the source is missing; say where the value comes from, or 'choice'"));
    }
    put(parameters,
        {name, row.fields[kValue].text, row.fields[kUnit].text, row.fields[kSource].text,
         fs::path(file.path).filename().string() + ":" + std::to_string(row.line), file.place(row, kValue), false,
         counts_file_of(name, row.fields[kValue].text,
                        {fs::path(file.path).parent_path().string(), data_folder_, file.place(row, kValue)})});
  }

  // A file's own rows must mean something in the phase that it sets or inherits. What it inherits beyond that belongs
  // to another phase; fragments without a phase say nothing.
  static void check_effect(const CsvFile& file, const Parameters& parameters) {
    const auto phase = parameters.find("phase");
    if (phase == parameters.end()) return;
    for (const CsvRow& row : file.rows) {
      if (row.fields[kName].text == "inherits") continue;
      const std::string wrong = without_effect(*find_workload_parameter(row.fields[kName].text), phase->second.value);
      if (!wrong.empty()) throw InputError(file.at(row, kName, wrong));
    }
  }

  std::string data_folder_;
  std::string models_;
  InheritedFiles<Parameters> files_;
};

void apply_override(const WorkloadOverride& override, const std::string& data_folder, Parameters& parameters) {
  const WorkloadParameterRow* known = find_workload_parameter(override.name);
  if (known == nullptr) throw InputError(override.place + ": " + unknown_name(override.name));
  if (override.name == "model") throw InputError(override.place + ": 'model' is set in a workload file only");
  try {
    check_value(*known, override.value, nullptr);
  } catch (const std::invalid_argument& error) {
    throw InputError(override.place + ": " + override.name + ": " + error.what());
  }
  const std::string place = override.place + ": " + override.name;
  put(parameters, {override.name, override.value, "", "", override.place, place, true,
                   counts_file_of(override.name, override.value, {"", data_folder, place})});
}

// Later than all overrides, because one of them may set the phase.
void check_effect(const std::vector<WorkloadOverride>& overrides, Parameters& parameters) {
  const auto phase = parameters.find("phase");
  if (phase == parameters.end()) return;
  for (const WorkloadOverride& override : overrides) {
    const std::string wrong = without_effect(*find_workload_parameter(override.name), phase->second.value);
    if (!wrong.empty()) throw InputError(override.place + ": " + wrong);
  }
  std::erase_if(parameters, [&](const auto& entry) {
    return !find_workload_parameter(entry.first)->is_read_by(phase->second.value);
  });
}

// How a model runs that comes without a workload of its own, with its configuration on top.
Parameters read_model_job(Reader& reader, const std::string& path, const std::string& data_folder) {
  Parameters parameters = reader.read((fs::path(data_folder) / "workloads" / "parts" / "model.csv").string());
  for (const auto& [name, parameter] : reader.read(path)) put(parameters, parameter);
  return parameters;
}

std::string place_of_end(const std::string& path) {
  if (is_model_config(path)) return read_model_config(path).end;
  const CsvFile file = read_csv(path);
  return file.path + ":" + std::to_string(file.rows.back().line) + ":1";
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

std::string workload_path(const std::string& name_or_path, const std::string& data_folder) {
  std::error_code error;
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".csv") || is_model_config(name_or_path)) {
    if (!fs::exists(name_or_path, error)) throw InputError(name_or_path + ": no such file; check the path");
    return name_or_path;
  }
  const fs::path path = fs::path(data_folder) / "workloads" / (name_or_path + ".csv");
  if (fs::exists(path, error)) return path.string();
  const std::vector<std::string> names = workload_names(data_folder);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string near = nearest(name_or_path, views);
  throw InputError("unknown workload '" + name_or_path + "'; " +
                   (near.empty() ? "use " + either(views) : "did you mean " + near + "?"));
}

Workload load_workload(const std::string& name_or_path, const std::vector<WorkloadOverride>& overrides,
                       const std::string& data_folder) {
  const std::string path = workload_path(name_or_path, data_folder);
  Reader reader(data_folder);
  Parameters parameters = is_model_config(path) ? read_model_job(reader, path, data_folder) : reader.read(path);
  std::map<std::string, std::string> set_batch;
  for (const WorkloadOverride& override : overrides) {
    if (const std::string_view other = other_batch(override.name); !other.empty()) {
      if (set_batch.contains(std::string(other))) {
        throw InputError(override.place + ": 'batch' and 'batch_per_replica' are both set; keep one");
      }
      set_batch[override.name] = override.place;
    }
    apply_override(override, data_folder, parameters);
  }
  check_effect(overrides, parameters);
  Workload workload;
  workload.name = is_model_config(path) ? name_of_config(path) : fs::path(path).stem().string();
  workload.end = place_of_end(path);
  for (auto& [name, parameter] : parameters) workload.parameters.push_back(std::move(parameter));
  return workload;
}

}  // namespace trnsim
