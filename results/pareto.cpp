#include "results/pareto.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace trnsim {

ParetoFront::ParetoFront(std::vector<FrontPoint> points) {
  std::erase_if(points, [](const FrontPoint& p) { return !std::isfinite(p.x) || !std::isfinite(p.y); });
  // From the right: a point is a corner if it lies above everything with at least its x.
  std::sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) {
    return std::tuple(b.x, b.y, a.index) < std::tuple(a.x, a.y, b.index);
  });
  for (const FrontPoint& point : points) {
    if (corners_.empty() || point.y > corners_.back().y) corners_.push_back(point);
  }
  std::reverse(corners_.begin(), corners_.end());
}

std::optional<FrontPoint> ParetoFront::at(double x) const {
  const auto corner = std::find_if(corners_.begin(), corners_.end(), [x](const FrontPoint& p) { return p.x >= x; });
  if (corner == corners_.end()) return std::nullopt;
  return *corner;
}

std::vector<FrontRatio> ratios(const ParetoFront& base, const ParetoFront& candidate) {
  std::set<double> places;
  for (const FrontPoint& p : base.corners()) places.insert(p.x);
  for (const FrontPoint& p : candidate.corners()) places.insert(p.x);
  std::vector<FrontRatio> result;
  for (double x : places) {
    FrontRatio row{x, base.at(x), candidate.at(x), std::nullopt};
    if (row.base && row.candidate && row.base->y != 0) row.ratio = row.candidate->y / row.base->y;
    result.push_back(row);
  }
  return result;
}

}  // namespace trnsim
