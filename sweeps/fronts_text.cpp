#include "sweeps/fronts_text.h"

#include <array>
#include <cstdio>
#include <set>

#include "results/series.h"
#include "sweeps/text_table.h"

namespace trnsim {
namespace {

std::string number(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string letter(std::size_t index) {
  return "S" + std::to_string(index + 1);
}

std::string scenario_text(const Scenario& scenario) {
  std::vector<const Series*> shown;
  std::set<double> places;
  for (const Series& series : scenario.series) {
    if (series.front.corners().empty()) continue;
    shown.push_back(&series);
    for (const FrontPoint& corner : series.front.corners()) places.insert(corner.x);
  }
  if (shown.empty()) return "";
  std::string text = scenario.label + ": tokens/s per IT megawatt at each interactivity\n";
  std::vector<std::vector<std::string>> table = {{"tokens/s per user"}};
  for (std::size_t s = 0; s < shown.size(); ++s) {
    text += "  " + letter(s) + "  " + shown[s]->label + "\n";
    table[0].push_back(letter(s));
    if (s > 0) table[0].push_back(letter(s) + "/" + letter(0));
  }
  for (const double x : places) {
    std::vector<std::string> line = {number("%.1f", x)};
    const std::optional<FrontPoint> base = shown[0]->front.at(x);
    for (std::size_t s = 0; s < shown.size(); ++s) {
      const std::optional<FrontPoint> here = shown[s]->front.at(x);
      line.push_back(here ? number("%.0f", here->y) : "");
      if (s > 0) line.push_back(here && base && base->y > 0 ? number("%.2f", here->y / base->y) : "");
    }
    table.push_back(line);
  }
  return text + aligned(table, true) + "\n";
}

}  // namespace

std::string fronts_text(const std::vector<PointRow>& rows) {
  std::string text;
  for (const Scenario& scenario : group(rows)) text += scenario_text(scenario);
  return text;
}

}  // namespace trnsim
