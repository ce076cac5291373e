// What docs/modelling/collectives.md says that skipping HBM saves is what the committed results say.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "results/series.h"
#include "tests/results/published.h"

namespace trnsim {
namespace {

constexpr double kLayers = 36;  // of gpt-oss-120b

const std::map<std::string, PointRow>& published() {
  static const std::map<std::string, PointRow> rows = test::published("decode-collectives-from-sbuf");
  return rows;
}

double latency_us(const std::string& id) {
  return metric(published().at(id), "latency_us");
}

std::string line_of(const std::string& pattern) {
  const double through = latency_us(pattern + ".hbm");
  const double straight = latency_us(pattern + ".sbuf");
  std::array<char, 160> line{};
  std::snprintf(line.data(), line.size(), "| `%s` | %.0f | %.0f | %.1f | %.1f %% |", pattern.c_str(), through, straight,
                (through - straight) / kLayers, 100 * (through - straight) / through);
  return line.data();
}

TEST(FromSbuf, TheTableIsThatOfTheCommittedPoints) {
  std::set<std::string> lines;
  std::ifstream file(TRNSIM_ROOT "/docs/modelling/collectives.md");
  for (std::string line; std::getline(file, line);) lines.insert(line);
  for (const auto& [id, row] : published()) {
    if (!id.ends_with(".hbm")) continue;
    const std::string line = line_of(id.substr(0, id.rfind('.')));
    EXPECT_TRUE(lines.contains(line)) << "missing: " << line;
  }
}

TEST(FromSbuf, SavesTimeAndMemoryTrafficEverywhereAndMostWhereAStepIsShort) {
  for (const char* machine : {"trn2", "gen1", "gen2"}) {
    const auto saved = [&](const char* batch) {
      const std::string pattern = std::string(machine) + "." + batch;
      EXPECT_LT(metric(published().at(pattern + ".sbuf"), "hbm_gb_per_s") * latency_us(pattern + ".sbuf"),
                metric(published().at(pattern + ".hbm"), "hbm_gb_per_s") * latency_us(pattern + ".hbm"));
      return 1 - latency_us(pattern + ".sbuf") / latency_us(pattern + ".hbm");
    };
    EXPECT_GT(saved("batch1"), saved("batch16")) << machine;
    EXPECT_GT(saved("batch16"), saved("batch64")) << machine;
    EXPECT_GT(saved("batch64"), 0) << machine;
  }
}

}  // namespace
}  // namespace trnsim
