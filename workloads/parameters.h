// The table of workload parameters: the one list of names, dimensions, ranges and meanings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "platforms/table/quantity.h"

namespace trnsim {

/// One row of the table. Workload names have no dots; platform names have.
struct WorkloadParameterRow {
  std::string_view name;
  Dimension dimension;
  double low = 0, high = 0;   ///< bounds of numbers, inclusive
  std::string_view words;     ///< kWord: accepted words, separated by '|'; empty = any word
  bool accepts_auto = false;  ///< `auto` lets the mapping choose
  std::string_view meaning;
  std::string_view phases = {};  ///< phases that read it, separated by '|'; empty = all

  [[nodiscard]] bool is_read_by(std::string_view phase) const;
};

[[nodiscard]] std::span<const WorkloadParameterRow> workload_parameter_table();

/// What stands between the bars of `words`.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view words);

/// The row of `name`, or null.
[[nodiscard]] const WorkloadParameterRow* find_workload_parameter(std::string_view name);

}  // namespace trnsim
