#include "results/validation/tables.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "results/companion_writer.h"

namespace trnsim {
namespace {

std::string optional_number(const std::optional<double>& value) {
  return value ? format_number(*value) : std::string();
}

/// "7 of 8", or "7" where that is all.
std::string ran(std::size_t points, std::size_t missed) {
  const std::string all = std::to_string(points);
  return missed == 0 ? all : std::to_string(points - missed) + " of " + all;
}

std::string order_of(const LadderScore& ladder) {
  return ladder.pairs == 0 ? percent({}) : std::to_string(ladder.right) + "/" + std::to_string(ladder.pairs);
}

/// The error of the first run, with the number of points where it is not all of them.
std::string first_of(const GroupScore& g) {
  const std::string error = percent(g.first);
  return g.first_points == 0 || g.first_points == g.points ? error
                                                           : error + " (" + std::to_string(g.first_points) + ")";
}

std::vector<std::string> class_row(const ClassScore& c) {
  return {c.name,
          std::to_string(c.groups),
          ran(c.points, c.missed),
          percent(c.error),
          percent(c.bound),
          !c.bound     ? std::string()
          : c.passes() ? "pass"
                       : "FAIL",
          percent(c.roofline),
          percent(c.first),
          percent(c.fitted),
          percent(c.held_out),
          order_of(c.ladder),
          percent(c.ladder.ratio_error())};
}

}  // namespace

std::string percent(std::optional<double> fraction, bool sign) {
  if (!fraction) return "–";
  if (!std::isfinite(*fraction)) return "miss";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), sign ? "%+.1f %%" : "%.1f %%", 100 * *fraction);
  return text.data();
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  const bool whole = std::fabs(value) >= 1e4;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.4g", value);
  return text.data();
}

TextRows point_rows(const std::vector<Measurement>& measurements) {
  TextRows rows = {{"id", "metric", "expected", "predicted", "error"}};
  for (const Measurement& m : measurements) {
    if (m.predicted) {
      rows.push_back({m.id, m.metric, short_number(m.expected), short_number(*m.predicted),
                      percent(relative_error(*m.predicted, m.expected), true)});
    } else {
      rows.push_back({m.id, m.metric, short_number(m.expected), m.status, "miss"});
    }
  }
  return rows;
}

TextRows group_rows(const std::vector<GroupScore>& groups) {
  TextRows rows = {{"group", "points", "median error", "worst", "bias", "roofline alone", "first run", "ladder order",
                    "ladder ratio error"}};
  for (const GroupScore& g : groups) {
    rows.push_back({g.name, ran(g.points, g.missed), percent(g.error), percent(g.worst, true), percent(g.bias, true),
                    percent(g.roofline), first_of(g), order_of(g.ladder), percent(g.ladder.ratio_error())});
  }
  return rows;
}

TextRows class_rows(const Scores& scores) {
  TextRows rows = {{"class", "groups", "points", "error", "bound", "verdict", "roofline alone", "first run", "fitted",
                    "held out", "ladder order", "ladder ratio error"}};
  for (const ClassScore& c : scores.classes) rows.push_back(class_row(c));
  rows.push_back(class_row(scores.all));
  return rows;
}

std::string measurements_csv(const std::vector<Measurement>& measurements) {
  std::string text = csv_line({"id", "group", "class", "metric", "expected", "predicted", "error", "tolerance",
                               "roofline", "first_run", "fitted", "status", "message"});
  for (const Measurement& m : measurements) {
    const std::string error = m.predicted ? format_number(relative_error(*m.predicted, m.expected)) : std::string();
    text += csv_line({m.id, m.group, m.kind, m.metric, format_number(m.expected), optional_number(m.predicted), error,
                      format_number(m.bound), optional_number(m.roofline), optional_number(m.first),
                      m.fitted ? "yes" : "no", m.status, m.error});
  }
  return text;
}

}  // namespace trnsim
