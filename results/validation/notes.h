// The files beside the published measurements: what the first run predicted, which points are steps of a ladder, which
// bounds are known to be missed, which rows were left out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/validation/score.h"

namespace trnsim {

/// ladders.csv: ladder, id, source; one row per step, in order.
[[nodiscard]] std::vector<Ladder> read_ladders(const std::string& path);

/// first_run.csv: id, metric, predicted. What the first run that could predict a point predicted, before any parameter
/// was calibrated and any schedule chosen. Rows are added, never changed.
class FirstRun {
 public:
  /// Reads `path`.
  explicit FirstRun(const std::string& path);
  [[nodiscard]] std::optional<double> predicted(const std::string& id, const std::string& metric) const;
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  /// Adds the measurements that are predicted and not yet there; how many those are.
  std::size_t record(const std::vector<Measurement>& measurements);
  void write() const;

 private:
  std::string path_, text_;
  std::map<std::pair<std::string, std::string>, double> values_;
};

/// A class or group that is outside its bound, by how much, and which mechanism is missing.
struct KnownMiss {
  std::string scope;  ///< "class" or "group"
  std::string name;
  double error = 0;  ///< a fraction; infinite where the middle point does not run
  std::string mechanism;
  std::string place;
};

/// known_misses.csv: scope, name, error, mechanism.
[[nodiscard]] std::vector<KnownMiss> read_known_misses(const std::string& path);

/// How `scores` and `known` contradict each other, a sentence each: a class or group outside its bound and worse than
/// its record, or with none; a record that is worse than what is measured now, or needed no longer.
[[nodiscard]] std::vector<std::string> contradictions(const Scores& scores, const std::vector<KnownMiss>& known);

/// `known` with its errors lowered to those of `scores`, without the rows that are needed no longer. None is raised or
/// added.
[[nodiscard]] std::vector<KnownMiss> shrunk(const std::vector<KnownMiss>& known, const Scores& scores);

/// known_misses.csv as text.
[[nodiscard]] std::string known_misses_csv(const std::vector<KnownMiss>& known);

struct Exclusion {
  std::string id, reason;
};

/// exclusions.csv: id, reason.
[[nodiscard]] std::vector<Exclusion> read_exclusions(const std::string& path);

/// A value that a fitted parameter would have if no point of `group` had been used.
struct Prior {
  std::string group, parameter, value, source;
};

/// left_out.csv: group, parameter, value, source.
[[nodiscard]] std::vector<Prior> read_priors(const std::string& path);

/// What a group's points are predicted with priors instead of what was fitted on them.
struct LeftOut {
  std::string group;
  double error = 0;  ///< median absolute error; infinite where the middle point does not run
  std::vector<Prior> priors;
};

/// A platform parameter that was fitted, and on what.
struct Calibration {
  std::string parameter, value, unit, origin, source;
  std::vector<std::string> points;   ///< ids of `known` points that the source names
  std::vector<std::string> unknown;  ///< words of the source that look like ids and are none
};

/// Finds the ids that `calibration.source` names.
void find_points(Calibration& calibration, const std::vector<std::string>& known);

}  // namespace trnsim
