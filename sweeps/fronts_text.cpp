#include "sweeps/fronts_text.h"

#include <algorithm>
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

/// The points at the corners, with what was chosen for them; the labels say platform, workload and precision.
std::string points_text(const std::vector<const Series*>& shown, const std::vector<PointRow>& rows) {
  std::vector<const PointRow*> points;
  std::vector<std::string> names;
  for (const Series* series : shown) {
    for (const FrontPoint& corner : series->front.corners()) points.push_back(&rows[corner.index]);
  }
  for (const PointRow* point : points) {
    for (const auto& [name, value] : point->swept) {
      if (name == "platform" || name == "workload" || name == "precision" || value.empty()) continue;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::vector<std::vector<std::string>> table = {{"point"}};
  table[0].insert(table[0].end(), names.begin(), names.end());
  for (const PointRow* point : points) {
    std::vector<std::string> line = {point->id};
    for (const std::string& name : names) line.push_back(parameter(*point, name));
    table.push_back(line);
  }
  return aligned(table, true);
}

std::string scenario_text(const Scenario& scenario, const std::vector<PointRow>& rows) {
  std::vector<const Series*> shown;
  std::set<double> places;
  for (const Series& series : scenario.series) {
    if (series.front.corners().empty()) continue;
    shown.push_back(&series);
    for (const FrontPoint& corner : series.front.corners()) places.insert(corner.x);
  }
  if (shown.empty()) return "";
  std::string text = scenario.label + ": tokens/s per IT megawatt at each interactivity, and the point that has them\n";
  std::vector<std::vector<std::string>> table = {{"tokens/s per user"}};
  for (std::size_t s = 0; s < shown.size(); ++s) {
    text += "  " + letter(s) + "  " + shown[s]->label + "\n";
    table[0].push_back(letter(s));
    table[0].push_back(letter(s) + " point");
    if (s > 0) table[0].push_back(letter(s) + "/" + letter(0));
  }
  for (const double x : places) {
    std::vector<std::string> line = {number("%.1f", x)};
    const std::optional<FrontPoint> base = shown[0]->front.at(x);
    for (std::size_t s = 0; s < shown.size(); ++s) {
      const std::optional<FrontPoint> here = shown[s]->front.at(x);
      line.push_back(here ? number("%.0f", here->y) : "");
      line.push_back(here ? rows[here->index].id : "");
      if (s > 0) line.push_back(here && base && base->y > 0 ? number("%.2f", here->y / base->y) : "");
    }
    table.push_back(line);
  }
  return text + aligned(table, true) + "\n" + points_text(shown, rows) + "\n";
}

}  // namespace

std::string fronts_text(const std::vector<PointRow>& rows) {
  std::string text;
  for (const Scenario& scenario : group(rows)) text += scenario_text(scenario, rows);
  return text;
}

}  // namespace trnsim
