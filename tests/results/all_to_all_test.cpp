// What docs/all-to-all.md says of switches and torus is what the committed results say.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/series.h"
#include "tests/results/published.h"

namespace trnsim {
namespace {

const std::map<std::string, PointRow>& published() {
  static const std::map<std::string, PointRow> rows = test::published("all-to-all-switch-against-torus");
  return rows;
}

std::string text(const char* format, double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

/// `id` without its machine.
std::string pattern_of(const std::string& id) {
  return id.substr(0, id.rfind('.'));
}

double metric_of(const std::string& id, const char* name) {
  return metric(published().at(id), name);
}

const PointRow& torus_of(const std::string& id) {
  const auto small = published().find(pattern_of(id) + ".trn2");
  return small != published().end() ? small->second : published().at(pattern_of(id) + ".trn2u");
}

std::string line_of(const std::string& id) {
  const PointRow& row = published().at(id);
  return "| `" + id + "` | " + text("%.1f", metric(row, "latency_us")) + " | " +
         text("%.2f", metric(torus_of(id), "latency_us") / metric(row, "latency_us")) + " | " +
         text("%.2f", metric(row, "mean_hops")) + " | " + text("%.1f", metric(row, "busiest_link_us")) + ", " +
         row.metrics.at("busiest_link_level") + " | " + text("%.0f", metric(row, "bisection_gb_per_s")) + " | " +
         text("%.1f", metric(row, "bisection_bound_us")) + " | " + text("%.0f", metric(row, "switches_used")) + " |";
}

TEST(AllToAll, TheTableIsThatOfTheCommittedPoints) {
  std::ifstream file(TRNSIM_ROOT "/docs/all-to-all.md");
  std::set<std::string> seen;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string id = line.substr(3, line.find('`', 3) - 3);
    ASSERT_TRUE(published().contains(id)) << line;
    EXPECT_EQ(line, line_of(id));
    seen.insert(id);
  }
  for (const auto& [id, row] : published()) EXPECT_TRUE(seen.contains(id)) << id << " is missing:\n" << line_of(id);
}

// The sentences below the table, in its order.
TEST(AllToAll, NoMachineIsFasterThanItsBounds) {
  for (const auto& [id, row] : published()) {
    EXPECT_EQ(row.status, Status::kOk) << id;
    EXPECT_GE(metric(row, "latency_us"), metric(row, "busiest_link_us")) << id;
    EXPECT_GE(metric(row, "latency_us"), metric(row, "bisection_bound_us")) << id;
  }
}

TEST(AllToAll, WithSizesKnownTheSwitchAlwaysWins) {
  for (const auto& [id, row] : published()) {
    if (id.find("gen") == std::string::npos || id.find("-told") != std::string::npos) continue;
    EXPECT_LT(metric(row, "latency_us"), metric(torus_of(id), "latency_us")) << id;
  }
}

TEST(AllToAll, NotByFewerLinks) {
  for (const auto& [id, row] : published()) {
    if (id.find("gen2") == std::string::npos) continue;
    EXPECT_GT(metric(row, "mean_hops"), metric(torus_of(id), "mean_hops")) << id;
  }
}

TEST(AllToAll, LargeEqualOnesOnTheTorusAreBoundByItsBisection) {
  for (const char* pattern : {"64x1", "64x4"}) {
    const std::string id = std::string(pattern) + ".uniform-256m.trn2u";
    EXPECT_NEAR(metric_of(id, "busiest_link_us") / metric_of(id, "bisection_bound_us"), 1, 1e-3);
    EXPECT_LT(metric_of(id, "latency_us") / metric_of(id, "bisection_bound_us"), 1.02);
  }
}

TEST(AllToAll, AcrossRacksBothGenerationsAreBoundByTheSameLinks) {
  const std::string pattern = "64x1.uniform-256m.";
  EXPECT_EQ(metric_of(pattern + "gen1", "latency_us"), metric_of(pattern + "gen2-racks", "latency_us"));
  EXPECT_NEAR(metric_of(pattern + "gen1", "busiest_link_us") / metric_of(pattern + "gen1", "bisection_bound_us"), 1,
              1e-3);
}

TEST(AllToAll, SmallOnesAreBoundByNoLink) {
  for (const char* pattern : {"16x4.uniform-64k.", "64x1.uniform-64k.", "64x1.qwen3-decode-sparse."}) {
    for (const char* machine : {"gen1", "gen2"}) {
      const std::string id = std::string(pattern) + machine;
      EXPECT_LT(metric_of(id, "busiest_link_us"), 0.5 * metric_of(id, "latency_us")) << id;
    }
  }
}

TEST(AllToAll, ToldSizesOfFewTokensAreFasterOnTheTorus) {
  const std::string pattern = "64x1.qwen3-decode-sparse-told.";
  for (const char* machine : {"gen1", "gen2"}) {
    EXPECT_GT(metric_of(pattern + machine, "latency_us"), metric_of(pattern + "trn2u", "latency_us"));
  }
}

TEST(AllToAll, OtherWordsOfTheTextHold) {
  const auto ahead = [](const std::string& id) {
    return metric(torus_of(id), "latency_us") / metric_of(id, "latency_us");
  };
  EXPECT_EQ(metric_of("64x1.uniform-1m.gen2", "bisection_gb_per_s"),
            8 * metric_of("64x1.uniform-1m.trn2u", "bisection_gb_per_s"));
  for (const auto& [id, row] : published()) {
    const bool narrow = id.find("level_table") != std::string::npos;
    const bool small = id.find("uniform-64k.gen") != std::string::npos;
    EXPECT_TRUE(!narrow || ahead(id) > 1.6) << id;
    EXPECT_TRUE(!small || ahead(id) < 4.0 / 3) << id;
  }
  for (const char* machine : {"gen1", "gen2-racks"}) {
    EXPECT_NEAR(ahead(std::string("64x1.uniform-256m.") + machine), 2, 0.05);
  }
  for (const char* sizes : {"64x1.dsv3-prefill-lognormal", "64x1.qwen3-prefill-zipf"}) {
    for (const char* machine : {".trn2u", ".gen1", ".gen2"}) {
      EXPECT_LT(metric_of(std::string(sizes) + "-told" + machine, "latency_us"),
                1.1 * metric_of(std::string(sizes) + machine, "latency_us"));
    }
  }
  for (const char* sizes : {"8x1.mixtral-layer26", "8x1.flame-layer2"}) {
    EXPECT_GT(metric_of(std::string(sizes) + ".gen2", "latency_us"),
              metric_of(std::string(sizes) + ".gen1", "latency_us"));
  }
}

}  // namespace
}  // namespace trnsim
