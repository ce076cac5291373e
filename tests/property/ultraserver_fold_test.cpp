// A folded UltraServer against the same with every core simulated. Takes a minute: too long for the quick tests.
#include "tests/property/rows.h"

namespace trnsim {
namespace {

TEST(FoldOfAnUltraServer, FoldedIsFlatToTheByteOnTrn2) {
  TEST(FoldOfAnUltraServer, FoldedIsFlatToTheByteOnTrn3Gen1) {
    TEST(FoldOfAnUltraServer, FoldedIsFlatToTheByteOnTrn3Gen2) {}  // namespace
  }                                                                // namespace trnsim
