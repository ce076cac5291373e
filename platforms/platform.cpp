#include "platforms/platform.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/entries.h"
#include "platforms/parameters.h"
#include "platforms/table/csv.h"
#include "platforms/table/inherited.h"
#include "platforms/table/nearest.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kColumns = {"parameter", "value", "unit", "low", "high", "confidence", "source"};
enum Column : std::size_t { kName, kValue, kUnit, kLow, kHigh, kConfidence, kSource };
constexpr std::array<std::string_view, 6> kConfidences = {"documented",  "measured",  "derived",
                                                          "third-party", "estimated", "calibrated"};
constexpr std::string_view kPublished = "published.";

Value parsed(const std::string& place, Dimension dimension, const std::string& number, const std::string& unit,
             std::span<const std::string_view> words) {
  try {
    return parse_value(dimension, number, unit, words);
  } catch (const std::invalid_argument& error) {
    refuse(place, error.what());
  }
}

/// Reads one file and what it inherits; a child's row replaces its parent's.
class Reader {
 public:
  const Entries& read(const std::string& path, const std::string& place = "") {
    return files_.at(path, place, [this](const std::string& file) { return read_rows(read_csv(file, kColumns)); });
  }

 private:
  Entries read_rows(const CsvFile& file) {
    Entries inherited;
    Entries own;
    std::map<std::string, std::size_t> lines;
    for (const CsvRow& row : file.rows) {
      const std::string& name = row.fields[kName].text;
      if (name.empty()) refuse(file.place(row, kName), "the parameter has no name; see `trnsim list parameters`");
      if (name == "inherits") {
        const std::string parent = named_file(file, row, fs::path(file.path).parent_path().string());
        for (const auto& [key, entry] : read(parent, file.place(row, kValue))) inherited.insert_or_assign(key, entry);
        continue;
      }
      const auto [line, fresh] = lines.try_emplace(name, row.line);
      if (!fresh) {
        refuse(file.place(row, kName),
               "duplicate row for '" + name + "', first in line " + std::to_string(line->second) + "; keep one");
      }
      own.emplace(name, entry_of(file, row));
    }
    own.merge(inherited);
    return own;
  }

  static Entry entry_of(const CsvFile& file, const CsvRow& row) {
    const auto text = [&](Column column) { return row.fields[column].text; };
    if (std::find(kConfidences.begin(), kConfidences.end(), text(kConfidence)) == kConfidences.end()) {
      const std::string near = nearest(text(kConfidence), kConfidences);
      refuse(file.place(row, kConfidence),
             "unknown confidence '" + text(kConfidence) + "'; " +
                 (near.empty() ? "use documented, measured, derived, third-party, estimated or calibrated"
                               : "did you mean " + near + "?"));
    }
    if (text(kSource).empty())
      refuse(file.place(row, kSource), "the source is missing; say where the value comes from");
    Entry entry;
    entry.place_of_value = file.place(row, kValue);
    entry.place_of_low = file.place(row, kLow);
    entry.place_of_high = file.place(row, kHigh);
    entry.folder = fs::path(file.path).parent_path().string();
    entry.parameter = {text(kName),           text(kValue),
                       text(kUnit),           text(kLow),
                       text(kHigh),           text(kConfidence),
                       text(kSource),         fs::path(file.path).filename().string() + ":" + std::to_string(row.line),
                       file.place(row, kName)};
    return entry;
  }

  InheritedFiles<Entries> files_;
};

template <class AnyParameter>
std::string range_of(const AnyParameter& parameter) {
  if (parameter.dimension == Dimension::kFile) return "path of a file";
  std::string words;
  for (std::string_view word : parameter.words) words += (words.empty() ? "" : "|") + std::string(word);
  return words.empty()
             ? with_unit(parameter.dimension, parameter.low) + " to " + with_unit(parameter.dimension, parameter.high)
             : words;
}

void check_range(const Entry& entry, const Definition& definition, const Value& value) {
  if (is_text(definition.dimension)) return;
  if (value.real >= definition.low && value.real <= definition.high) return;
  const std::string unit = entry.parameter.unit == "1" ? "" : " " + entry.parameter.unit;
  const bool scale = definition.indexed != nullptr && definition.dimension == Dimension::kFraction;
  refuse(entry.place_of_value, entry.parameter.value + unit + " is out of range; use " + range_of(definition) +
                                   (scale ? ", 1 leaves the part as it is" : ""));
}

void check_bounds(const Entry& entry, Dimension dimension, const Value& value) {
  const ResolvedParameter& p = entry.parameter;
  if (is_text(dimension)) {
    if (!p.low.empty()) refuse(entry.place_of_low, "a word has no bounds; leave low empty");
    if (!p.high.empty()) refuse(entry.place_of_high, "a word has no bounds; leave high empty");
    return;
  }
  if (!p.low.empty() && parsed(entry.place_of_low, dimension, p.low, p.unit, {}).real > value.real) {
    refuse(entry.place_of_low, "low " + p.low + " is above the value " + p.value + "; low <= value <= high must hold");
  }
  if (!p.high.empty() && parsed(entry.place_of_high, dimension, p.high, p.unit, {}).real < value.real) {
    refuse(entry.place_of_high,
           "high " + p.high + " is below the value " + p.value + "; low <= value <= high must hold");
  }
}

/// The file that `entry` names, which must be there.
std::string file_of(const Entry& entry) {
  const fs::path path = fs::path(entry.folder) / entry.parameter.value;
  std::error_code error;
  if (!fs::exists(path, error)) refuse(entry.place_of_value, path.string() + ": no such file; check the path");
  return path.string();
}

void apply(MachineSpec& machine, const Entry& entry) {
  const ResolvedParameter& p = entry.parameter;
  const Definition definition = definition_of(p.name);
  if (definition.plain == nullptr && definition.indexed == nullptr) refuse_parameter(p.place, p.name);
  Value value = parsed(entry.place_of_value, definition.dimension, p.value, p.unit, definition.words);
  check_range(entry, definition, value);
  check_bounds(entry, definition.dimension, value);
  if (definition.dimension == Dimension::kFile) value.word = file_of(entry);
  if (definition.plain != nullptr) {
    definition.plain->set(machine, value);
    return;
  }
  if (definition.index >= definition.indexed->most) {
    refuse(p.place,
           p.name + " is beyond the last; use numbers from 0 to " + std::to_string(definition.indexed->most - 1));
  }
  definition.indexed->set(machine, definition.index, value);
}

void check_count(const std::string& place, const std::string& text) {
  try {
    static_cast<void>(parse_value_with_unit(Dimension::kCount, text));
  } catch (const std::invalid_argument& error) {
    refuse(place, error.what());
  }
}

void override_entries(Entries& entries, const std::vector<Override>& overrides) {
  for (const Override& change : overrides) {
    const Definition definition = definition_of(change.name);
    if (definition.plain == nullptr && definition.indexed == nullptr) refuse_parameter(change.place, change.name);
    Entry entry;
    entry.place_of_value = change.place + ": " + change.name;
    entry.parameter.name = change.name;
    entry.parameter.confidence = "set";
    entry.parameter.source = entry.parameter.origin = entry.parameter.place = change.place;
    const Dimension dimension = definition.dimension;
    if (is_text(dimension)) {
      entry.parameter.value = change.value;
    } else {
      const auto [number, unit] = split_unit(change.value);
      entry.parameter.value = number;
      entry.parameter.unit = unit;
      if (dimension == Dimension::kCount) check_count(entry.place_of_value, change.value);
      if (entry.parameter.unit.empty() && dimension == Dimension::kCount) entry.parameter.unit = "count";
      if (entry.parameter.unit.empty() && dimension == Dimension::kFraction) entry.parameter.unit = "1";
    }
    entries.insert_or_assign(change.name, entry);
  }
}

PublishedTotal published_total(const Entry& entry) {
  PublishedTotal total;
  total.name = entry.parameter.name.substr(kPublished.size());
  total.parameter = entry.parameter;
  std::string units;
  for (const Dimension dimension :
       {Dimension::kCompute, Dimension::kCapacity, Dimension::kBandwidth, Dimension::kFraction}) {
    const std::string accepted = accepted_units(dimension);
    if ((", " + accepted + ",").find(", " + total.parameter.unit + ",") != std::string::npos) {
      const Value value = parsed(entry.place_of_value, dimension, total.parameter.value, total.parameter.unit, {});
      check_bounds(entry, dimension, value);
      total.value = value.real;
      return total;
    }
    units += (units.empty() ? "" : ", ") + accepted;
  }
  refuse(entry.place_of_value,
         "a published total has one of the units " + units + ", not '" + total.parameter.unit + "'; correct the unit");
}

}  // namespace

std::string platform_path(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".csv")) {
    std::error_code error;
    if (!fs::exists(name_or_path, error)) throw InputError(name_or_path + ": no such file; check the path");
    return name_or_path;
  }
  const fs::path path = fs::path(data_folder()) / "platforms" / (name_or_path + ".csv");
  if (fs::exists(path)) return path.string();
  const std::vector<std::string> names = platform_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string near = nearest(name_or_path, views);
  throw InputError("unknown platform '" + name_or_path + "'; " +
                   (near.empty() ? "use " + either(views) : "did you mean " + near + "?"));
}

void refuse_parameter(const std::string& place, const std::string& name, const std::vector<std::string>& others) {
  std::vector<std::string_view> names(others.begin(), others.end());
  for (const Parameter& parameter : parameter_table()) names.push_back(parameter.name);
  const std::string indexed = indexed_form(name);
  const std::string near = nearest(name, names);
  refuse(place, "unknown parameter '" + name + "'; " +
                    (!indexed.empty() ? "write a number, e.g. " + indexed
                     : near.empty()   ? "see `trnsim list parameters`"
                                      : "did you mean " + near + "?"));
}

Platform load_platform(const std::string& name_or_path, const std::vector<Override>& overrides) {
  const std::string path = platform_path(name_or_path);
  Entries entries = Reader().read(path);
  override_entries(entries, overrides);
  Platform platform;
  platform.machine.name = fs::path(path).stem().string();
  for (auto it = entries.begin(); it != entries.end();) {
    if (it->first.starts_with(kPublished)) {
      platform.published.push_back(published_total(it->second));
      it = entries.erase(it);
      continue;
    }
    apply(platform.machine, it->second);
    platform.parameters.push_back(it->second.parameter);
    ++it;
  }
  check_complete(path, entries, platform.machine);
  check_machine(entries, platform.machine);
  return platform;
}

bool is_platform_parameter(std::string_view name) {
  std::uint32_t index = 0;
  return find_parameter(name) != nullptr || find_indexed(name, index) != nullptr;
}

std::vector<ParameterInfo> platform_parameters() {
  std::vector<ParameterInfo> list;
  for (const Parameter& p : parameter_table()) {
    list.push_back({std::string(p.name), p.dimension, range_of(p), std::string(p.meaning)});
  }
  for (const IndexedParameter& p : indexed_parameters()) {
    list.push_back(
        {std::string(p.prefix) + "[i]." + std::string(p.suffix), p.dimension, range_of(p), std::string(p.meaning)});
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return list;
}

std::vector<std::string> platform_names() {
  const fs::path folder = fs::path(data_folder()) / "platforms";
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() == ".csv") names.push_back(file.path().stem().string());
  }
  if (error)
    refuse(folder.string(), "the folder of platforms cannot be read; set TRNSIM_DATA to the folder that holds it");
  std::sort(names.begin(), names.end());
  return names;
}

std::string data_folder() {
  const char* folder = std::getenv("TRNSIM_DATA");
  if (folder != nullptr && *folder != '\0') return folder;
  // An installed binary stands in <prefix>/bin; beside it lies its own data, wherever the tree was moved to.
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = binary.parent_path().parent_path() / TRNSIM_DATA_FROM_PREFIX;
  if (!error && fs::exists(beside / "platforms", error)) return beside.string();
  return TRNSIM_SOURCE_DATA;
}

}  // namespace trnsim
