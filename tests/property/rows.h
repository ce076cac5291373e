// Points evaluated as a sweep would, for tests that hold rows against each other.
#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <string>
#include <vector>

#include "results/row.h"
#include "results/writer.h"
#include "sweeps/launch.h"
#include "sweeps/point.h"

namespace trnsim {
using Settings = std::vector<std::pair<std::string, std::string>>;

inline PointRow row_of(const std::string& platform, const Settings& settings,
                       const std::string& workload = "gpt-oss-120b-decode") {
  Point point;
  point.id = "1";
  point.platform = platform;
  point.workload = workload;
  for (const auto& [name, value] : settings) add_setting(point, {name, value, "test"});
  PointRow row;
  launch({point}, {.jobs = 1, .limit = {}}, [&](std::size_t, const PointRow& result, std::size_t) { row = result; });
  EXPECT_EQ(row.status, Status::kOk) << row.error;
  return row;
}

inline double metric(const PointRow& row, const std::string& name) {
  double value = 0;
  const std::string& text = row.metrics.at(name);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Everything that a folded run must share with a flat one: all but fold, input hash and run.csv.
inline std::string comparable(PointRow row) {
  row.fold.clear();
  row.input_hash.clear();
  row.run = {};
  row.swept.clear();
  row.parameters = {};
  return serialize(row);
}

inline void folded_is_flat(const std::string& platform, const std::string& tp) {
  const Settings small = {{"batch_per_replica", "1"}, {"context", "1024"}, {"tp", tp}};
  Settings flat = small;
  flat.emplace_back("run.fold", "none");
  const PointRow folded_row = row_of(platform, small);
  const PointRow flat_row = row_of(platform, flat);
  EXPECT_NE(folded_row.fold, "none");
  EXPECT_EQ(flat_row.fold, "none");
  EXPECT_EQ(comparable(folded_row), comparable(flat_row));
}

}  // namespace trnsim
