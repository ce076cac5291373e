// The committed points of the all-to-all sweep are what the model says now. After a change of the model:
//   trnsim sweep sweeps/all-to-all-switch-against-torus.csv --out results/published/all-to-all-switch-against-torus
// and only points.csv is committed; the test of docs/all-to-all.md prints the lines of its table.
#include "tests/property/current.h"

namespace trnsim {
namespace {

TEST(AllToAll, CommittedPointsAreCurrent) {
  const std::string name = "all-to-all-switch-against-torus";
  test::expect_current(name, name);
}

}  // namespace
}  // namespace trnsim
