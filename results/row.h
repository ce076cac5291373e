// The row schema: every metric with its unit, boundary and formula, and the row that holds them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trnsim {

struct MetricInfo {
  std::string_view name;  ///< unit in the name
  std::string_view unit;
  std::string_view boundary;  ///< chip, platform, IT, utility, core...
  std::string_view formula;
};

/// The one list of metrics, in column order.
[[nodiscard]] std::span<const MetricInfo> metrics();

enum class Status : std::uint8_t { kOk, kInfeasible, kSaturated, kDeadlock, kTimeout, kCrashed, kHostMemory };
[[nodiscard]] std::string_view name(Status status);

/// A rectangular companion table: engines.csv, operators.csv, links.csv, parameters.csv, run.csv.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

/// One evaluated point.
struct PointRow {
  std::string id;
  std::vector<std::pair<std::string, std::string>> swept;  ///< name and value, in sweep-column order
  Status status = Status::kOk;
  std::string error;
  std::map<std::string, std::string, std::less<>> metrics;  ///< by name; absent = empty cell
  std::string fold;                                         ///< "none", or "72 replica groups as 1"
  std::string detail;                                       ///< "tile" or "instruction"
  std::string version;
  std::string input_hash;
  Table engines, operators, links, parameters, run;  ///< without the id column; parameters: every resolved one
};

/// A real number as the shortest text that reads back equal; locale-free. Empty for nan and infinities.
[[nodiscard]] std::string format_number(double value);

}  // namespace trnsim
