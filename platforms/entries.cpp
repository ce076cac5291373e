#include "platforms/entries.h"

#include <algorithm>
#include <vector>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kMostChips = 1U << 20;  ///< of all instances: what a core number and an address hold

[[noreturn]] void refuse_missing(const std::string& place, const std::string& name, std::string_view meaning) {
  refuse(place, "missing parameter " + name + " (" + std::string(meaning) + "); add a row, or inherit one");
}

[[noreturn]] void refuse_idle(const Entry& entry) {
  refuse(entry.parameter.place, entry.parameter.name + " has no effect on this machine's fabric; remove the row");
}

/// Largest index of the rows with a prefix, plus one.
std::map<std::string_view, std::uint32_t> indices_of(const Entries& entries) {
  std::map<std::string_view, std::uint32_t> indices;
  for (const auto& [name, entry] : entries) {
    const Definition definition = definition_of(name);
    if (definition.indexed == nullptr) continue;
    std::uint32_t& count = indices[definition.indexed->prefix];
    count = std::max(count, definition.index + 1);
  }
  return indices;
}

/// "0, 1 and 2" for 3.
std::string numbers_below(std::uint32_t count) {
  std::string list;
  for (std::uint32_t i = 0; i < count; ++i) {
    list += (i == 0 ? "" : i + 1 == count ? " and " : ", ") + std::to_string(i);
  }
  return list;
}

/// The first row about prefix[index]; null if there is none.
const Entry* row_of(const Entries& entries, std::string_view prefix, std::uint32_t index) {
  const std::string begin = std::string(prefix) + "[" + std::to_string(index) + "].";
  const auto found = entries.lower_bound(begin);
  return found != entries.end() && found->first.starts_with(begin) ? &found->second : nullptr;
}

/// Throws InputError if no row is about prefix[index] although one is about a larger index below `count`.
void check_no_gap(const Entries& entries, std::string_view prefix, std::uint32_t index, std::uint32_t count,
                  FabricKind kind) {
  if (row_of(entries, prefix, index) != nullptr) return;
  std::uint32_t beyond = index + 1;
  while (beyond < count && row_of(entries, prefix, beyond) == nullptr) ++beyond;
  if (beyond >= count) return;
  const std::string noun(prefix.substr(prefix.rfind('.') + 1));
  const auto numbered = [&noun](std::uint32_t i) { return noun + "[" + std::to_string(i) + "]"; };
  const std::string has = index == 0 ? "no " + noun : noun + (index == 1 ? " " : "s ") + numbers_below(index);
  refuse(row_of(entries, prefix, beyond)->place_of_value,
         numbered(beyond) + " leaves a gap, the " + std::string(kFabricKinds[static_cast<std::size_t>(kind)].name) +
             " has " + has + "; use " + numbered(index) + " for the next, with all its rows");
}

/// Where to point when parameters contradict each other: at one that the user set, else at the first.
std::string place_of(const Entries& entries, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = entries.find(name);
    if (found != entries.end() && found->second.parameter.confidence == "set") return found->second.place_of_value;
  }
  return entries.at(names.front()).place_of_value;
}

/// Throws InputError if `scales` names a part that does not exist: `part`[i].`suffix`, i below `count`.
void check_parts(const Entries& entries, const std::map<std::uint32_t, double>& scales, const std::string& part,
                 const std::string& suffix, std::uint32_t count) {
  for (const auto& [index, scale] : scales) {
    if (index < count) continue;
    const std::string name = part + "[" + std::to_string(index) + "]." + suffix;
    refuse(entries.at(name).parameter.place,
           name + " names no " + part + "; this machine has " + part + "s 0 to " + std::to_string(count - 1));
  }
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

}  // namespace

void refuse(const std::string& place, const std::string& message) {
  throw InputError(place + ": " + message);
}

Definition definition_of(std::string_view name) {
  Definition d;
  if ((d.plain = find_parameter(name)) != nullptr) {
    d.dimension = d.plain->dimension, d.low = d.plain->low, d.high = d.plain->high, d.words = d.plain->words;
  } else if ((d.indexed = find_indexed(name, d.index)) != nullptr) {
    d.dimension = d.indexed->dimension, d.low = d.indexed->low, d.high = d.indexed->high, d.words = d.indexed->words;
  }
  return d;
}

void check_complete(const std::string& path, const Entries& entries, const MachineSpec& machine) {
  for (const Parameter& parameter : parameter_table()) {
    const auto found = entries.find(std::string(parameter.name));
    const bool needed = applies_to(parameter.applies, machine);
    const bool idle = !needed && parameter.applies != Applies::kInstances;
    if (needed && found == entries.end()) refuse_missing(path + ":1:1", std::string(parameter.name), parameter.meaning);
    if (idle && found != entries.end()) refuse_idle(found->second);
  }
  const std::map<std::string_view, std::uint32_t> indices = indices_of(entries);
  for (const IndexedParameter& parameter : indexed_parameters()) {
    const auto found = indices.find(parameter.prefix);
    const std::uint32_t count = found == indices.end() ? 1 : found->second;
    const bool applies = applies_to(parameter.applies, machine);
    for (std::uint32_t i = 0; i < count && (parameter.needed || !applies); ++i) {
      const std::string name =
          std::string(parameter.prefix) + "[" + std::to_string(i) + "]." + std::string(parameter.suffix);
      const auto entry = entries.find(name);
      if (!applies && entry != entries.end()) refuse_idle(entry->second);
      if (!applies || entry != entries.end()) continue;
      check_no_gap(entries, parameter.prefix, i, count, machine.fabric.kind);
      const Entry* const other = row_of(entries, parameter.prefix, i);
      const bool set = other != nullptr && other->parameter.confidence == "set";
      refuse_missing(set ? other->place_of_value : path + ":1:1", name, parameter.meaning);
    }
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
  const std::uint32_t shape = machine.fabric.shape_chips();
  if (shape != machine.chips) {
    std::vector<std::string> names = {"machine.chips",         "fabric.kind",           "fabric.racks",
                                      "fabric.sleds_per_rack", "fabric.chips_per_sled", "fabric.edges"};
    for (const auto& [name, entry] : entries) {
      if (name.starts_with("fabric.") && name.ends_with("].size")) names.push_back(name);
    }
    refuse(place_of(entries, names), "the fabric joins " + std::to_string(shape) + " chips, machine.chips says " +
                                         std::to_string(machine.chips) + "; they must be equal");
  }
  if (machine.fabric.kind == FabricKind::kSwitched && machine.fabric.chips_per_sled % machine.fabric.planes != 0) {
    refuse(place_of(entries, {"fabric.planes", "fabric.chips_per_sled"}),
           "fabric.planes must divide fabric.chips_per_sled, which is " +
               std::to_string(machine.fabric.chips_per_sled) + "; each plane serves equally many chips of a sled");
  }
  if (std::uint64_t{machine.chips} * machine.instances > kMostChips) {
    refuse(place_of(entries, {"machine.chips", "machine.instances"}),
           "the instances have more than " + std::to_string(kMostChips) + " chips together; use fewer");
  }
  const std::uint32_t chips = machine.chips * machine.instances;
  check_parts(entries, machine.core_clock_scale, "core", "clock_scale", chips * machine.cores_per_chip);
  check_parts(entries, machine.chip_hbm_scale, "chip", "hbm_scale", chips);
  check_parts(entries, machine.chip_dma_scale, "chip", "dma_scale", chips);
}

}  // namespace trnsim
