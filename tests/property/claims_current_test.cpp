// The committed points of the claims are what the model says now. After a change of the model:
//   trnsim sweep sweeps/claims.csv --out results/published/claims
//   trnsim claims results/published/claims > docs/claims.md
#include <filesystem>
#include <map>

#include "results/writer.h"
#include "sweeps/sweep_file.h"
#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

TEST(Claims, CommittedPointsAreCurrent) {
  std::map<std::string, PointRow> committed;
  for (PointRow& row : read_results(TRNSIM_ROOT "/results/published/claims", {})) committed[row.id] = row;
  std::filesystem::current_path(TRNSIM_ROOT);  // the sweep names its workloads by path
  const Sweep sweep = read_sweep(TRNSIM_ROOT "/sweeps/claims.csv", {});
  EXPECT_EQ(committed.size(), sweep.points.size());
  launch(sweep.points, {.jobs = 2, .limit = {}}, [&](std::size_t, const PointRow& row, std::size_t) {
    EXPECT_EQ(row.metrics, committed[row.id].metrics) << row.id;
  });
}

}  // namespace
}  // namespace trnsim
