// Committed results against what the model says now.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "sweeps/sweep_file.h"
#include "tests/results/published.h"
#include "tests/sweeps/rows.h"

namespace trnsim::test {

/// Every point of sweeps/<sweep>.csv has the metrics of results/published/<folder>, and there are no others.
inline void expect_current(const std::string& sweep, const std::string& folder) {
  std::map<std::string, PointRow> committed = published(folder);
  std::filesystem::current_path(TRNSIM_ROOT);  // sweeps name files by path
  const Sweep points = read_sweep(TRNSIM_ROOT "/sweeps/" + sweep + ".csv", {});
  EXPECT_EQ(committed.size(), points.points.size());
  launch(points.points, {.jobs = 2, .limit = {}}, [&](std::size_t, const PointRow& row, std::size_t) {
    EXPECT_EQ(row.metrics, committed[row.id].metrics) << row.id;
  });
}

}  // namespace trnsim::test
