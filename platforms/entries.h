// The rows of a platform after inheritance and overrides, and what must hold of them together.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "platforms/parameters.h"
#include "platforms/platform.h"

namespace trnsim {

/// A row that holds, after inheritance: where its cells stand and what it says.
struct Entry {
  std::string place_of_value, place_of_low, place_of_high;
  std::string folder;  ///< that names of files start from
  ResolvedParameter parameter;
};
using Entries = std::map<std::string, Entry>;

/// What the table says of a name, with an index or without.
struct Definition {
  const Parameter* plain = nullptr;
  const IndexedParameter* indexed = nullptr;
  std::uint32_t index = 0;
  Dimension dimension = Dimension::kCount;
  double low = 0, high = 0;
  std::span<const std::string_view> words = {};
};

/// Neither plain nor indexed if there is no such parameter.
[[nodiscard]] Definition definition_of(std::string_view name);

/// Throws InputError with `message` at `place`.
[[noreturn]] void refuse(const std::string& place, const std::string& message);

/// Throws InputError if a row is missing that has an effect on `machine`, or one is there that has none.
void check_complete(const std::string& path, const Entries& entries, const MachineSpec& machine);

/// Throws InputError where values contradict each other.
void check_machine(const Entries& entries, const MachineSpec& machine);

}  // namespace trnsim
