// A folded UltraServer against the same with every core simulated. Takes a minute: too long for the quick tests.
#include "tests/property/rows.h"

namespace trnsim {
namespace {

TEST(FoldOfAnUltraServer, FoldedIsFlatToTheByteOnTrn2) {
  folded_is_flat("trn2-ultraserver", "16");
}

TEST(FoldOfAnUltraServer, FoldedIsFlatToTheByteOnTrn3Gen1) {
  folded_is_flat("trn3-ultraserver-gen1", "8");
}

TEST(FoldOfAnUltraServer, FoldedIsFlatToTheByteOnTrn3Gen2) {
  folded_is_flat("trn3-ultraserver-gen2", "8");
}

}  // namespace
}  // namespace trnsim
