// The committed points of the claims are what the model says now. After a change of the model:
//   trnsim sweep sweeps/claims.csv --out results/published/claims
//   trnsim claims results/published/claims > docs/claims.md
#include "tests/property/current.h"

namespace trnsim {
namespace {

TEST(Claims, CommittedPointsAreCurrent) {
  test::expect_current("claims", "claims");
}

}  // namespace
}  // namespace trnsim
