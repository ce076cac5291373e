// Laws of a matmul: what no schedule may beat, and what more work may not shorten.
#include <array>
#include <random>

#include "tests/property/rows.h"

namespace trnsim {
namespace {

constexpr std::array kSchedules = {"auto", "tiled", "hoisted_loads", "kept_loads", "resident_rhs", "blocked", "strip"};

struct Shape {
  std::array<std::uint64_t, 3> size{};  ///< m, n, k
};

PointRow run_of(const char* schedule, const Shape& shape) {
  return row_of("trn2-3xlarge",
                {{"schedule", schedule},
                 {"lnc", "1"},
                 {"core.tensor.limiter", "no"},
                 {"m", std::to_string(shape.size[0])},
                 {"n", std::to_string(shape.size[1])},
                 {"k", std::to_string(shape.size[2])}},
                "matmul");
}

// Also never below m n k / (rows x columns) cycles of the array, which the roofline contains.
TEST(Matmul, NoScheduleIsFasterThanTheRoofline) {
  std::mt19937 random(3);
  for (const char* schedule : kSchedules) {
    for (int i = 0; i < 4; ++i) {
      const Shape shape{{1 + random() % 1500, 1 + random() % 1500, 1 + random() % 1500}};
      const PointRow row = run_of(schedule, shape);
      const double ideal_us = static_cast<double>(shape.size[0] * shape.size[1] * shape.size[2]) / (128 * 128) / 2400;
      EXPECT_GE(metric(row, "latency_us"), metric(row, "roofline_us")) << schedule;
      EXPECT_GE(metric(row, "latency_us"), ideal_us) << schedule;
    }
  }
}

// Shapes of whole tiles, one dimension longer by whole tiles. Streams that run into each other differently may gain 1
// %.
TEST(Matmul, MoreOfADimensionNeverTakesLess) {
  constexpr std::array<std::uint64_t, 3> kTile = {128, 512, 128};
  std::mt19937 random(5);
  for (const char* schedule : kSchedules) {
    for (std::size_t grown = 0; grown < kTile.size(); ++grown) {
      Shape shape;
      for (std::size_t d = 0; d < kTile.size(); ++d) shape.size[d] = kTile[d] * (1 + random() % 4);
      Shape more = shape;
      more.size[grown] += kTile[grown] * (1 + random() % 3);
      const double before = metric(run_of(schedule, shape), "latency_us");
      EXPECT_GE(metric(run_of(schedule, more), "latency_us"), before * 0.99)
          << schedule << " m=" << shape.size[0] << " n=" << shape.size[1] << " k=" << shape.size[2] << ", longer "
          << grown;
    }
  }
}

}  // namespace
}  // namespace trnsim
