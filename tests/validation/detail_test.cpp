// run.detail=tile merges runs of equal instructions: it answers as instruction does, on every published kernel.
#include <gtest/gtest.h>

#include <cmath>

#include "sweeps/validation.h"

namespace trnsim {
namespace {

Validation run_at(const std::string& detail) {
  Validation validation = read_validation({validation_folder() + "/kernel.csv", validation_folder() + "/layer.csv"}, "",
                                          {{"run.detail", detail, "test"}});
  run_validation(validation, {.jobs = 2, .limit = {}}, [](std::size_t, const PointRow&, std::size_t) {});
  return validation;
}

TEST(Detail, TileAgreesWithInstructionOnEveryKernel) {
  const Validation tile = run_at("tile");
  const Validation instruction = run_at("instruction");
  ASSERT_EQ(tile.measurements.size(), instruction.measurements.size());
  double logarithms = 0;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < tile.measurements.size(); ++i) {
    const Measurement& merged = tile.measurements[i];
    const Measurement& single = instruction.measurements[i];
    ASSERT_EQ(merged.status, single.status) << merged.id;
    if (!merged.predicted.has_value() || !single.predicted.has_value()) continue;
    const double ratio = *merged.predicted / *single.predicted;
    EXPECT_NEAR(ratio, 1, 0.03) << merged.id;
    logarithms += std::log(ratio);
    ++ran;
  }
  ASSERT_GT(ran, 100U);
  EXPECT_NEAR(std::exp(logarithms / static_cast<double>(ran)), 1, 0.01);
}

}  // namespace
}  // namespace trnsim
