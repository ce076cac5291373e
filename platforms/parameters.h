// The one parameter table: name, unit, range, meaning and place in the machine's specification.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/system/machine_spec.h"
#include "platforms/table/quantity.h"

namespace trnsim {

/// Machines that a parameter has an effect on. kSwitches: where switches can be; kForwards: where messages pass chips.
enum class Applies : std::uint8_t { kAlways, kTorus, kSwitched, kTree, kEdges, kAnyFabric, kSwitches, kForwards };

struct Parameter {
  std::string_view name;
  Dimension dimension;
  double low;   ///< smallest value allowed, in base units
  double high;  ///< largest value allowed, in base units
  std::string_view meaning;
  Applies applies;
  void (*set)(MachineSpec&, const Value&);
  std::span<const std::string_view> words = {};
};

/// All parameters that have one value per machine, sorted by name.
[[nodiscard]] std::span<const Parameter> parameter_table();

/// Parameters with an index, such as core[3].clock_scale.
struct IndexedParameter {
  std::string_view prefix;  ///< "core"
  std::string_view suffix;  ///< "clock_scale"
  Dimension dimension;
  double low, high;  ///< as of Parameter
  std::string_view meaning;
  Applies applies;
  bool needed;         ///< for every index from 0 up to the largest that any row of the prefix has
  std::uint32_t most;  ///< indices are below this
  void (*set)(MachineSpec&, std::uint32_t index, const Value& value);
  std::span<const std::string_view> words = {};
};
[[nodiscard]] std::span<const IndexedParameter> indexed_parameters();

/// The row of `name`, or null.
[[nodiscard]] const Parameter* find_parameter(std::string_view name);
/// Splits core[3].clock_scale; null if it has not that form or no such parameter exists.
[[nodiscard]] const IndexedParameter* find_indexed(std::string_view name, std::uint32_t& index);
/// core[0].clock_scale for core.clock_scale, core[i].clock_scale and other forms that lack one number; empty if `name`
/// is none of them.
[[nodiscard]] std::string indexed_form(std::string_view name);

/// Whether a parameter that `applies` so has an effect on a machine with `kind`.
[[nodiscard]] bool applies_to(Applies applies, FabricKind kind);

}  // namespace trnsim
