// Sweep CSV files: each row is a set of points.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/point.h"

namespace trnsim {

/// A metric that a row expects to lie within bounds, or, where the metric is a word, to be that word.
struct Check {
  std::string id;  ///< of the point
  std::string metric;
  double low = 0, high = 0;
  std::string word;
  std::string place;               ///< file:line:column of the expectation
  std::optional<double> expected;  ///< of a column `expect.<metric>` that is a number
  double tolerance = 0;            ///< of the row, a fraction
  std::string place_of_tolerance;  ///< empty if the row gives none
};

/// A row that cannot become points, and why.
struct RefusedRow {
  std::string id;
  std::string error;  ///< "file:line:column: what is wrong; what would be right"
};

struct Sweep {
  std::vector<Point> points;
  std::vector<Check> checks;
  std::vector<RefusedRow> refused;             ///< with WrongRows::kKept alone
  std::map<std::string, std::string> groups;   ///< by id of point or refused row: its cell `group`, if not empty
  std::map<std::string, std::string> classes;  ///< the same of `class`
};

/// What becomes of a row that sets an unknown parameter or metric, or an unknown platform, workload or option.
enum class WrongRows : std::uint8_t {
  kThrown,  ///< the sweep is refused
  kKept,    ///< that row is refused, its checks are kept
};

/// The values that one cell stands for: a list `8|16|32`, ranges `1:16:+1` and `1:256:*2` (units on the bounds:
/// `1GHz:2GHz:+0.2GHz`), or one value. Throws std::invalid_argument with what is wrong; what would be right.
[[nodiscard]] std::vector<std::string> expand_cell(const std::string& cell);

/// Reads `path`; `common` settings hold for every point and are replaced by a row's own. Throws InputError.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<Setting>& common,
                               WrongRows wrong = WrongRows::kThrown);

}  // namespace trnsim
