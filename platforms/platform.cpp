#include "platforms/platform.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/parameters.h"
#include "platforms/table/csv.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kColumns = {"parameter", "value", "unit", "low", "high", "confidence", "source"};
enum Column : std::size_t { kName, kValue, kUnit, kLow, kHigh, kConfidence, kSource };
constexpr std::array<std::string_view, 6> kConfidences = {"documented",  "measured",  "derived",
                                                          "third-party", "estimated", "calibrated"};
constexpr std::string_view kPublished = "published.";

/// Deeper chains are no platform that a person wrote.
constexpr std::size_t kDeepestInheritance = 64;

/// Bounds of the multiples that make one part slower or faster on purpose.
constexpr double kSmallestScale = 0.001;
constexpr double kLargestScale = 1000;
std::string scale_range() {
  return with_unit(Dimension::kFraction, kSmallestScale) + " to " + with_unit(Dimension::kFraction, kLargestScale);
}

/// A row that holds, after inheritance: where it stands and what it says.
struct Entry {
  std::string place_of_name, place_of_value, place_of_low, place_of_high;
  ResolvedParameter parameter;
};
using Entries = std::map<std::string, Entry>;

[[noreturn]] void refuse(const std::string& place, const std::string& message) {
  throw InputError(place + ": " + message);
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameter_table()) names.push_back(parameter.name);
  return names;
}

[[noreturn]] void refuse_name(const std::string& place, const std::string& name) {
  const std::string near = nearest(name, all_names());
  refuse(place, "unknown parameter '" + name + "'; " +
                    (near.empty() ? "see `trnsim list parameters`" : "did you mean " + near + "?"));
}

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
  Entries read(const std::string& path) {
    const std::string canonical = fs::weakly_canonical(path).string();
    const auto again = std::find(chain_.begin(), chain_.end(), canonical);
    if (again != chain_.end()) {
      std::string cycle;
      for (auto it = again; it != chain_.end(); ++it) cycle += fs::path(*it).filename().string() + " -> ";
      refuse(inherits_place_, "the files inherit in a cycle: " + cycle + fs::path(canonical).filename().string() +
                                  "; remove one `inherits` row");
    }
    const auto known = read_.find(canonical);
    if (known != read_.end()) return known->second;
    if (chain_.size() == kDeepestInheritance) {
      refuse(inherits_place_, "more than " + std::to_string(kDeepestInheritance) +
                                  " files inherit from each other in a chain; join some");
    }
    chain_.push_back(canonical);
    Entries entries = read_rows(read_csv(path, kColumns));
    chain_.pop_back();
    return read_.emplace(canonical, std::move(entries)).first->second;
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
        inherits_place_ = file.place(row, kValue);
        const fs::path parent = fs::path(file.path).parent_path() / row.fields[kValue].text;
        if (!fs::exists(parent)) refuse(inherits_place_, "no file " + parent.string() + " to inherit; check its name");
        for (auto& [key, entry] : read(parent.string())) inherited.insert_or_assign(key, std::move(entry));
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
    entry.place_of_name = file.place(row, kName);
    entry.place_of_value = file.place(row, kValue);
    entry.place_of_low = file.place(row, kLow);
    entry.place_of_high = file.place(row, kHigh);
    entry.parameter = {text(kName),   text(kValue),
                       text(kUnit),   text(kLow),
                       text(kHigh),   text(kConfidence),
                       text(kSource), fs::path(file.path).filename().string() + ":" + std::to_string(row.line)};
    return entry;
  }

  std::vector<std::string> chain_;       ///< files being read, outermost first
  std::map<std::string, Entries> read_;  ///< files that several others inherit are read once
  std::string inherits_place_;
};

std::string range_of(const Parameter& parameter) {
  std::string words;
  for (std::string_view word : parameter.words) words += (words.empty() ? "" : "|") + std::string(word);
  return words.empty()
             ? with_unit(parameter.dimension, parameter.low) + " to " + with_unit(parameter.dimension, parameter.high)
             : words;
}

void check_range(const Entry& entry, const Parameter& parameter, const Value& value) {
  if (parameter.dimension == Dimension::kWord) return;
  if (value.real >= parameter.low && value.real <= parameter.high) return;
  const std::string unit = entry.parameter.unit == "1" ? "" : " " + entry.parameter.unit;
  refuse(entry.place_of_value, entry.parameter.value + unit + " is out of range; use " + range_of(parameter));
}

void check_bounds(const Entry& entry, const Parameter& parameter, const Value& value) {
  const ResolvedParameter& p = entry.parameter;
  if (!p.low.empty() &&
      parsed(entry.place_of_low, parameter.dimension, p.low, p.unit, parameter.words).real > value.real) {
    refuse(entry.place_of_low, "low " + p.low + " is above the value " + p.value + "; low <= value <= high must hold");
  }
  if (!p.high.empty() &&
      parsed(entry.place_of_high, parameter.dimension, p.high, p.unit, parameter.words).real < value.real) {
    refuse(entry.place_of_high,
           "high " + p.high + " is below the value " + p.value + "; low <= value <= high must hold");
  }
}

void apply(MachineSpec& machine, const Entry& entry) {
  const ResolvedParameter& p = entry.parameter;
  std::uint32_t index = 0;
  if (const IndexedParameter* indexed = find_indexed(p.name, index)) {
    const Value value = parsed(entry.place_of_value, Dimension::kFraction, p.value, p.unit, {});
    if (value.real < kSmallestScale || value.real > kLargestScale) {
      refuse(entry.place_of_value, p.value + " is out of range; use " + scale_range() + ", 1 leaves the part as it is");
    }
    indexed->set(machine, index, value.real);
    return;
  }
  const Parameter* parameter = find_parameter(p.name);
  if (parameter == nullptr) refuse_name(entry.place_of_name, p.name);
  const Value value = parsed(entry.place_of_value, parameter->dimension, p.value, p.unit, parameter->words);
  check_range(entry, *parameter, value);
  check_bounds(entry, *parameter, value);
  parameter->set(machine, value);
}

void override_entries(Entries& entries, const std::vector<Override>& overrides) {
  for (const Override& change : overrides) {
    std::uint32_t index = 0;
    const Parameter* parameter = find_parameter(change.name);
    if (parameter == nullptr && find_indexed(change.name, index) == nullptr) refuse_name(change.place, change.name);
    Entry entry;
    entry.place_of_name = change.place;
    entry.place_of_value = change.place + ": " + change.name;
    entry.parameter.name = change.name;
    entry.parameter.confidence = "set";
    entry.parameter.source = entry.parameter.origin = change.place;
    if (parameter != nullptr && parameter->dimension == Dimension::kWord) {
      entry.parameter.value = change.value;
    } else {
      const auto [number, unit] = split_unit(change.value);
      entry.parameter.value = number;
      entry.parameter.unit = unit;
      const Dimension dimension = parameter == nullptr ? Dimension::kFraction : parameter->dimension;
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
  for (const Dimension dimension :
       {Dimension::kCompute, Dimension::kCapacity, Dimension::kBandwidth, Dimension::kFraction}) {
    try {
      total.value = parse_value(dimension, entry.parameter.value, entry.parameter.unit).real;
      return total;
    } catch (const std::invalid_argument&) {
      continue;  // another dimension may know the unit
    }
  }
  refuse(entry.place_of_value, "a published total is in FLOPS, bytes, bytes per second or 1; check number and unit");
}

void check_complete(const std::string& path, const Entries& entries, const MachineSpec& machine) {
  for (const Parameter& parameter : parameter_table()) {
    const auto found = entries.find(std::string(parameter.name));
    const bool needed = applies_to(parameter, machine.fabric.kind);
    if (needed && found == entries.end()) {
      refuse(path, "missing parameter " + std::string(parameter.name) + " (" + std::string(parameter.meaning) +
                       "); add a row, or inherit one");
    }
    if (!needed && found != entries.end()) {
      refuse(found->second.place_of_name,
             std::string(parameter.name) + " has no effect on this machine's fabric; remove the row");
    }
  }
}

void check_machine(const std::string& path, const MachineSpec& machine) {
  if (machine.cores_per_chip % machine.hbm.stacks != 0) {
    refuse(path, "chip.cores must be a multiple of chip.hbm.stacks; each stack serves equally many cores");
  }
  if (machine.cores_per_chip % machine.default_lnc != 0) {
    refuse(path, "chip.cores must be a multiple of machine.lnc");
  }
  const FabricSpec& f = machine.fabric;
  const std::uint64_t shape = f.kind == FabricKind::kTorus ? std::uint64_t{f.torus_x} * f.torus_y * f.torus_z
                              : f.kind == FabricKind::kSwitched
                                  ? std::uint64_t{f.racks} * f.sleds_per_rack * f.chips_per_sled
                                  : 1;
  if (shape != machine.chips) {
    refuse(path, "the fabric joins " + std::to_string(shape) + " chips, machine.chips says " +
                     std::to_string(machine.chips) + "; they must be equal");
  }
  for (const auto& [core, scale] : machine.core_clock_scale) {
    if (core >= machine.cores()) {
      refuse(path, "core[" + std::to_string(core) + "].clock_scale names no core; this machine has cores 0 to " +
                       std::to_string(machine.cores() - 1));
    }
  }
}

std::string find_file(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".csv")) return name_or_path;
  const fs::path path = fs::path(data_folder()) / "platforms" / (name_or_path + ".csv");
  if (fs::exists(path)) return path.string();
  const std::vector<std::string> names = platform_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string near = nearest(name_or_path, views);
  throw InputError("unknown platform '" + name_or_path + "'; " +
                   (near.empty() ? "see `trnsim list platforms`" : "did you mean " + near + "?"));
}

}  // namespace

Platform load_platform(const std::string& name_or_path, const std::vector<Override>& overrides) {
  const std::string path = find_file(name_or_path);
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
  check_machine(path, platform.machine);
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
    list.push_back({std::string(p.prefix) + "[i]." + std::string(p.suffix), Dimension::kFraction, scale_range(),
                    std::string(p.meaning)});
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
