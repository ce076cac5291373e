#include "platforms/platform.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>

#include "models/mechanism/error.h"
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

/// Bounds of the multiples that make one part slower or faster on purpose.
constexpr double kSmallestScale = 0.001;
constexpr double kLargestScale = 1000;
std::string scale_range() {
  return with_unit(Dimension::kFraction, kSmallestScale) + " to " + with_unit(Dimension::kFraction, kLargestScale);
}

/// A row that holds, after inheritance: where its cells stand and what it says.
struct Entry {
  std::string place_of_value, place_of_low, place_of_high;
  ResolvedParameter parameter;
};
using Entries = std::map<std::string, Entry>;

[[noreturn]] void refuse(const std::string& place, const std::string& message) {
  throw InputError(place + ": " + message);
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
    entry.parameter = {text(kName),           text(kValue),
                       text(kUnit),           text(kLow),
                       text(kHigh),           text(kConfidence),
                       text(kSource),         fs::path(file.path).filename().string() + ":" + std::to_string(row.line),
                       file.place(row, kName)};
    return entry;
  }

  InheritedFiles<Entries> files_;
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

void check_bounds(const Entry& entry, Dimension dimension, const Value& value) {
  const ResolvedParameter& p = entry.parameter;
  if (dimension == Dimension::kWord) {
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

void apply(MachineSpec& machine, const Entry& entry) {
  const ResolvedParameter& p = entry.parameter;
  std::uint32_t index = 0;
  if (const IndexedParameter* indexed = find_indexed(p.name, index)) {
    const Value value = parsed(entry.place_of_value, Dimension::kFraction, p.value, p.unit, {});
    if (value.real < kSmallestScale || value.real > kLargestScale) {
      refuse(entry.place_of_value, p.value + " is out of range; use " + scale_range() + ", 1 leaves the part as it is");
    }
    check_bounds(entry, Dimension::kFraction, value);
    indexed->set(machine, index, value.real);
    return;
  }
  const Parameter* parameter = find_parameter(p.name);
  if (parameter == nullptr) refuse_parameter(p.place, p.name);
  const Value value = parsed(entry.place_of_value, parameter->dimension, p.value, p.unit, parameter->words);
  check_range(entry, *parameter, value);
  check_bounds(entry, parameter->dimension, value);
  parameter->set(machine, value);
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
    std::uint32_t index = 0;
    const Parameter* parameter = find_parameter(change.name);
    if (parameter == nullptr && find_indexed(change.name, index) == nullptr)
      refuse_parameter(change.place, change.name);
    Entry entry;
    entry.place_of_value = change.place + ": " + change.name;
    entry.parameter.name = change.name;
    entry.parameter.confidence = "set";
    entry.parameter.source = entry.parameter.origin = entry.parameter.place = change.place;
    if (parameter != nullptr && parameter->dimension == Dimension::kWord) {
      entry.parameter.value = change.value;
    } else {
      const auto [number, unit] = split_unit(change.value);
      entry.parameter.value = number;
      entry.parameter.unit = unit;
      const Dimension dimension = parameter == nullptr ? Dimension::kFraction : parameter->dimension;
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

void check_complete(const std::string& path, const Entries& entries, const MachineSpec& machine) {
  for (const Parameter& parameter : parameter_table()) {
    const auto found = entries.find(std::string(parameter.name));
    const bool needed = applies_to(parameter, machine.fabric.kind);
    if (needed && found == entries.end()) {
      refuse(path + ":1:1", "missing parameter " + std::string(parameter.name) + " (" + std::string(parameter.meaning) +
                                "); add a row, or inherit one");
    }
    if (!needed && found != entries.end()) {
      refuse(found->second.parameter.place,
             std::string(parameter.name) + " has no effect on this machine's fabric; remove the row");
    }
  }
}

/// Where to point when parameters contradict each other: at one that the user set, else at the first.
std::string place_of(const Entries& entries, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = entries.find(name);
    if (found != entries.end() && found->second.parameter.confidence == "set") return found->second.place_of_value;
  }
  return entries.at(*names.begin()).place_of_value;
}

// A matmul puts one FP32 per partition into a bank at least, and an engine empties a bank into SBUF.
void check_core(const Entries& entries, const CoreSpec& core) {
  const std::uint64_t least = std::uint64_t{core.psum_banks} * sizeof(float);
  if (core.psum_per_partition.count() < least) {
    refuse(place_of(entries, {"core.psum.per_partition", "core.psum.banks"}),
           "core.psum.per_partition leaves a bank no room for one FP32; " + std::to_string(core.psum_banks) +
               " banks need " + std::to_string(least) + "B or more");
  }
  if (core.sbuf_per_partition < core.psum_bank()) {
    refuse(place_of(entries, {"core.sbuf.per_partition", "core.psum.per_partition", "core.psum.banks"}),
           "core.sbuf.per_partition holds less than one PSUM bank; use " + std::to_string(core.psum_bank().count()) +
               "B or more");
  }
}

void check_machine(const Entries& entries, const MachineSpec& machine) {
  check_core(entries, machine.core);
  if (machine.cores_per_chip % machine.hbm.stacks != 0) {
    refuse(place_of(entries, {"chip.hbm.stacks", "chip.cores"}),
           "chip.cores must be a multiple of chip.hbm.stacks; each stack serves equally many cores");
  }
  if (machine.cores_per_chip % machine.default_lnc != 0) {
    refuse(place_of(entries, {"machine.lnc", "chip.cores"}),
           "chip.cores must be a multiple of machine.lnc; use 1, or an even number of cores");
  }
  const FabricSpec& f = machine.fabric;
  const std::uint64_t shape = f.kind == FabricKind::kTorus ? std::uint64_t{f.torus_x} * f.torus_y * f.torus_z
                              : f.kind == FabricKind::kSwitched
                                  ? std::uint64_t{f.racks} * f.sleds_per_rack * f.chips_per_sled
                                  : 1;
  if (shape != machine.chips) {
    refuse(place_of(entries, {"machine.chips", "fabric.kind", "fabric.torus.x", "fabric.torus.y", "fabric.torus.z",
                              "fabric.racks", "fabric.sleds_per_rack", "fabric.chips_per_sled"}),
           "the fabric joins " + std::to_string(shape) + " chips, machine.chips says " + std::to_string(machine.chips) +
               "; they must be equal");
  }
  if (f.kind == FabricKind::kSwitched && f.chips_per_sled % f.planes != 0) {
    refuse(place_of(entries, {"fabric.planes", "fabric.chips_per_sled"}),
           "fabric.planes must divide fabric.chips_per_sled, which is " + std::to_string(f.chips_per_sled) +
               "; each plane serves equally many chips of a sled");
  }
  for (const auto& [core, scale] : machine.core_clock_scale) {
    if (core < machine.cores()) continue;
    const std::string name = "core[" + std::to_string(core) + "].clock_scale";
    refuse(entries.at(name).parameter.place,
           name + " names no core; this machine has cores 0 to " + std::to_string(machine.cores() - 1));
  }
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
