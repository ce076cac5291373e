// The committed points of the sweeps on collectives are what the model says now. After a change of the model:
//   trnsim sweep sweeps/NAME.csv --out results/published/NAME
// and only points.csv is committed; the tests of the documents print the lines of their tables.
#include "tests/property/current.h"

namespace trnsim {
namespace {

TEST(CommittedPoints, OfAllToAllAreCurrent) {
  const std::string name = "all-to-all-switch-against-torus";
  test::expect_current(name, name);
}

TEST(CommittedPoints, OfDecodeFromSbufAreCurrent) {
  const std::string name = "decode-collectives-from-sbuf";
  test::expect_current(name, name);
}

}  // namespace
}  // namespace trnsim
