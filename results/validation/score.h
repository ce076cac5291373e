// How far predictions are from published measurements: per group, per class, overall, and along optimisation ladders.
//
// A measurement that could not be predicted counts as a miss: its error is infinite, so that leaving points out never
// makes a score better.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace trnsim {

/// Steps of a ladder whose measured values are this close (3 %) have no order.
inline constexpr double kSameValue = 0.03;
/// What ladders are held to: share of pairs in the right order, median error of step-to-step ratios.
inline constexpr double kLadderOrder = 0.95;
inline constexpr double kLadderRatio = 0.15;

/// One published value and what the model says instead.
struct Measurement {
  std::string id, group, kind;  ///< kind: the class, "memory"
  std::string metric;
  double expected = 0;              ///< in the unit of the metric; not 0
  double bound = 0;                 ///< tolerance of the class, a fraction
  std::optional<double> predicted;  ///< nothing: a miss
  std::optional<double> roofline;   ///< what the roofline alone predicts, where it says anything
  std::optional<double> first;      ///< what the very first run predicted
  bool fitted = false;              ///< a calibrated parameter was fitted on this point
  std::string status, error;        ///< of the run: "ok", "refused", "infeasible", ... and why
};

/// Schedules of one operator, from the first that its author wrote to the last.
struct Ladder {
  std::string name;
  std::vector<std::string> steps;  ///< ids
};

struct LadderScore {
  std::size_t pairs = 0, right = 0;  ///< pairs of steps that differ, and those in the right order
  std::vector<double> ratio_errors;  ///< of each step against the one before
  [[nodiscard]] std::optional<double> order() const;
  [[nodiscard]] std::optional<double> ratio_error() const;
};

struct GroupScore {
  std::string name, kind;
  double bound = 0;
  std::size_t points = 0, missed = 0, first_points = 0, fitted_points = 0;
  double error = 0;                       ///< median absolute error
  double worst = 0;                       ///< the error that is largest without its sign
  std::optional<double> bias;             ///< mean error of the points that were predicted
  std::optional<double> roofline, first;  ///< median absolute error of the points that have one
  std::optional<double> fitted, held_out;
  LadderScore ladder;
};

/// Medians over groups of what the groups have.
struct ClassScore {
  std::string name;
  std::optional<double> bound;  ///< none for all classes together
  std::size_t groups = 0, points = 0, missed = 0, fitted_points = 0;
  double error = 0;
  std::optional<double> roofline, first, fitted, held_out;
  LadderScore ladder;
  [[nodiscard]] bool passes() const { return !bound || error <= *bound; }
};

struct Scores {
  std::vector<GroupScore> groups;   ///< in order of appearance
  std::vector<ClassScore> classes;  ///< in order of appearance
  ClassScore all;
};

/// The middle of `values`, the mean of the two in the middle where their number is even; nothing for none.
[[nodiscard]] std::optional<double> median(std::vector<double> values);

/// (value - expected) / expected
[[nodiscard]] double relative_error(double value, double expected);

/// The steps that are among `measurements`.
[[nodiscard]] LadderScore score_ladder(const Ladder& ladder, const std::vector<Measurement>& measurements);

/// A ladder counts for the group of its first step.
[[nodiscard]] Scores score(const std::vector<Measurement>& measurements, const std::vector<Ladder>& ladders);

}  // namespace trnsim
