// The table in README.md says what the committed results say.
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "results/pareto.h"
#include "results/series.h"
#include "results/writer.h"

namespace trnsim {
namespace {

const std::vector<PointRow>& published() {
  static const std::vector<PointRow> rows =
      read_results(TRNSIM_ROOT "/results/published/gpt-oss-120b-tokens-per-megawatt", {});
  return rows;
}

std::string swept(const PointRow& row, const std::string& name) {
  for (const auto& [key, value] : row.swept) {
    if (key == name) return value;
  }
  return "";
}

/// The best published row of one column of the table at interactivity `x`, if any.
const PointRow* best(const std::string& platform, const std::string& precision, double x) {
  std::vector<FrontPoint> points;
  for (std::size_t i = 0; i < published().size(); ++i) {
    const PointRow& row = published()[i];
    const bool asked = swept(row, "platform") == platform && swept(row, "precision") == precision &&
                       swept(row, "context") == "8192" && swept(row, "fabric.link.reading") != "level_table";
    if (row.status != Status::kOk || !asked) continue;
    points.push_back({metric(row, "tokens_per_s_per_user"), metric(row, "tokens_per_s_per_mw"), i});
  }
  const auto point = ParetoFront(std::move(points)).at(x);
  return point ? &published()[point->index] : nullptr;
}

std::string text(const char* format, double a, double b = 0) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, a, b);
  return buffer.data();
}

std::string cell(const PointRow& row) {
  return text("%.2f (%.1f %%)", metric(row, "tokens_per_s_per_mw") / 1e6, 100 * metric(row, "sustained_over_peak"));
}

/// The lines of the table: those that begin with "| " and a number.
std::vector<std::string> table_of_readme() {
  std::ifstream file(TRNSIM_ROOT "/README.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.size() > 2 && line.starts_with("| ") && std::isdigit(static_cast<unsigned char>(line[2])) != 0) {
      lines.push_back(line);
    }
  }
  return lines;
}

TEST(Published, TheTableInReadmeIsThatOfTheCommittedPoints) {
  const std::vector<std::string> lines = table_of_readme();
  ASSERT_GE(lines.size(), 5U);
  for (const std::string& line : lines) {
    const double x = std::stod(line.substr(2));
    const PointRow* bf16 = best("trn2-ultraserver", "bf16", x);
    const PointRow* fp8 = best("trn2-ultraserver", "fp8_experts", x);
    const PointRow* gen1 = best("trn3-ultraserver-gen1", "mxfp4_experts", x);
    const PointRow* gen2 = best("trn3-ultraserver-gen2", "mxfp4_experts", x);
    ASSERT_TRUE(bf16 != nullptr && fp8 != nullptr && gen1 != nullptr && gen2 != nullptr) << line;
    const double of_gen2 = metric(*gen2, "tokens_per_s_per_mw");
    std::ostringstream expected;
    expected << "| " << x << " | " << cell(*bf16) << " | " << cell(*fp8) << " | " << cell(*gen1) << " | " << cell(*gen2)
             << " | " << text("%.1f×", of_gen2 / metric(*bf16, "tokens_per_s_per_mw")) << " | "
             << text("%.1f×", of_gen2 / metric(*fp8, "tokens_per_s_per_mw")) << " |";
    EXPECT_EQ(line, expected.str());
  }
}

}  // namespace
}  // namespace trnsim
