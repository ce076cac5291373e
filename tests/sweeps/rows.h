// Points evaluated in a child, as a sweep does, for tests that look at their rows.
#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sweeps/launch.h"
#include "sweeps/point.h"

namespace trnsim {

using Assignments = std::vector<std::pair<std::string, std::string>>;

/// The row of one point, whatever its status.
inline PointRow evaluated(const std::string& platform, const std::string& workload, const Assignments& settings) {
  Point point;
  point.id = "1";
  point.platform = platform;
  point.workload = workload;
  for (const auto& [name, value] : settings) add_setting(point, {name, value, "test"});
  PointRow row;
  launch({point}, {.jobs = 1, .limit = {}}, [&](std::size_t, const PointRow& result, std::size_t) { row = result; });
  return row;
}

/// A metric as a number; NaN if the row has none.
inline double number_of(const PointRow& row, const std::string& name) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto found = row.metrics.find(name);
  if (found == row.metrics.end()) return value;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

}  // namespace trnsim
