// What mistyped names may have meant.
#include "platforms/table/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace trnsim {
namespace {

TEST(Nearest, IsByCaseThenSpellingThenWords) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"core.tensor.clock", "core.vector.clock", "core.scalar.clock", "core.gpsimd.clock", "link.clock", "dma.engines",
       "chip.hbm.stack_bandwidth", "chip.hbm.stacks", "tp", "ep", "batch", "context", "k", "trn2-48xlarge",
       "trn2-ultraserver", "trn3-ultraserver-gen1"});
  struct Case {
    const char* word;
    const char* near;
  };
  constexpr std::array kCases = std::to_array<Case>({
      {"core.tensr.clock", "core.tensor.clock"},
      {"dma.engine", "dma.engines"},
      {"TP", "tp"},
      {"Context", "context"},
      {"cotnext", "context"},
      {"xp", "tp or ep"},
      {"hbm_bandwidth", "chip.hbm.stack_bandwidth"},
      {"batch_size", "batch"},
      {"trn2", "trn2-48xlarge or trn2-ultraserver"},
      {"trn", "trn2-48xlarge, trn2-ultraserver or trn3-ultraserver-gen1"},
      {"vector clock", "core.vector.clock"},
      {"clock", ""},  // five have that word
      {"price", ""},
      {"n", ""},  // one letter away from k, and from nothing else
      {"", ""},
  });
  for (const Case& c : kCases) EXPECT_EQ(nearest(c.word, kNames), c.near) << c.word;
}

}  // namespace
}  // namespace trnsim
