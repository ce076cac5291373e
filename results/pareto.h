// Pareto fronts of two metrics that are both better when larger.
//
// At interactivity x the value of a front is the best among the points with at least x: a step that falls to the
// right, never interpolated, empty beyond its last point.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace trnsim {

struct FrontPoint {
  double x = 0;           ///< tokens_per_s_per_user, say
  double y = 0;           ///< tokens_per_s_per_mw, say
  std::size_t index = 0;  ///< of the point in the caller's list
};

class ParetoFront {
 public:
  ParetoFront() = default;
  /// Keeps the points that no other matches or beats in both; points that are not finite are left out. Of equal
  /// points the one with the smallest index stays.
  explicit ParetoFront(std::vector<FrontPoint> points);

  /// The corners, x rising, y falling.
  [[nodiscard]] const std::vector<FrontPoint>& corners() const { return corners_; }

  /// The best point with at least `x`, if any.
  [[nodiscard]] std::optional<FrontPoint> at(double x) const;

 private:
  std::vector<FrontPoint> corners_;
};

struct FrontRatio {
  double x = 0;
  std::optional<FrontPoint> base, candidate;
  std::optional<double> ratio;  ///< candidate / base; empty where one has no point or the base is 0
};

/// The ratio of two fronts at every corner of either, x rising.
[[nodiscard]] std::vector<FrontRatio> ratios(const ParetoFront& base, const ParetoFront& candidate);

}  // namespace trnsim
