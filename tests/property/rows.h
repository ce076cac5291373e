// Rows that must be good, for tests that hold them against each other.
#pragma once

#include <string>

#include "results/series.h"
#include "results/writer.h"
#include "tests/sweeps/rows.h"

namespace trnsim {

inline PointRow row_of(const std::string& platform, const Assignments& settings,
                       const std::string& workload = "gpt-oss-120b-decode") {
  PointRow row = evaluated(platform, workload, settings);
  EXPECT_EQ(row.status, Status::kOk) << row.error;
  return row;
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
  const Assignments small = {{"batch_per_replica", "1"}, {"context", "1024"}, {"tp", tp}};
  Assignments flat = small;
  flat.emplace_back("run.fold", "none");
  const PointRow folded_row = row_of(platform, small);
  const PointRow flat_row = row_of(platform, flat);
  EXPECT_NE(folded_row.fold, "none");
  EXPECT_EQ(flat_row.fold, "none");
  EXPECT_EQ(comparable(folded_row), comparable(flat_row));
}

}  // namespace trnsim
