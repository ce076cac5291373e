// Rows that must be good, for tests that hold them against each other.
#pragma once

#include <cmath>
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

/// Folded in time against every layer simulated. `exact`: nothing differs; else the time, within the bound.
inline void layers_fold(const std::string& platform, const std::string& workload, Assignments settings, bool exact) {
  settings.emplace_back("routing", "balanced");  // the same in all layers
  const auto row = [&](const char* fold) {
    Assignments all = settings;
    all.emplace_back("run.fold", fold);
    return row_of(platform, all, workload);
  };
  const PointRow folded = row(exact ? "auto" : "bounded");
  const PointRow flat = row("replicas");
  EXPECT_NE(folded.fold.find("36 layers as "), std::string::npos) << folded.fold;
  EXPECT_EQ(flat.fold.find("layers"), std::string::npos) << flat.fold;
  if (exact) {
    EXPECT_EQ(comparable(folded), comparable(flat));
    return;
  }
  const double error = number_of(folded, "latency_us") / number_of(flat, "latency_us") - 1;
  EXPECT_GT(number_of(folded, "fold_error_bound"), 0);
  EXPECT_LT(number_of(folded, "fold_error_bound"), 0.01);
  EXPECT_LE(std::abs(error), number_of(folded, "fold_error_bound"));
  for (const char* count : {"issued_macs", "weight_bytes", "kv_read_bytes", "bytes_sent", "bytes_received",
                            "collective_bytes", "energy_hbm_j", "energy_link_j", "energy_tensor_j", "energy_sbuf_j"}) {
    EXPECT_EQ(folded.metrics.at(count), flat.metrics.at(count)) << count;
  }
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
