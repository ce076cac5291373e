#include "results/validation/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trnsim {
namespace {

constexpr double kMiss = std::numeric_limits<double>::infinity();

double error_of(const Measurement& m) {
  return m.predicted ? relative_error(*m.predicted, m.expected) : kMiss;
}

const Measurement* find(const std::vector<Measurement>& measurements, const std::string& id) {
  const auto found =
      std::find_if(measurements.begin(), measurements.end(), [&](const Measurement& m) { return m.id == id; });
  return found == measurements.end() ? nullptr : &*found;
}

/// Absolute errors of what `value` picks from the points that have it.
template <class Value>
std::vector<double> errors(const std::vector<const Measurement*>& points, const Value& value) {
  std::vector<double> list;
  for (const Measurement* point : points) {
    const std::optional<double> v = value(*point);
    if (v) list.push_back(std::fabs(relative_error(*v, point->expected)));
  }
  return list;
}

std::optional<double> error_of_part(const std::vector<const Measurement*>& points, bool fitted) {
  std::vector<double> list;
  for (const Measurement* point : points) {
    if (point->fitted == fitted) list.push_back(std::fabs(error_of(*point)));
  }
  return median(std::move(list));
}

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

GroupScore score_group(const std::vector<const Measurement*>& points) {
  GroupScore group;
  group.name = points.front()->group;
  group.kind = points.front()->kind;
  group.bound = points.front()->bound;
  group.points = points.size();
  std::vector<double> absolute;
  std::vector<double> ran;
  for (const Measurement* point : points) {
    const double error = error_of(*point);
    absolute.push_back(std::fabs(error));
    if (std::fabs(error) >= std::fabs(group.worst)) group.worst = error;
    if (point->predicted) ran.push_back(error);
    group.fitted_points += point->fitted ? 1 : 0;
  }
  group.missed = points.size() - ran.size();
  group.error = *median(absolute);
  group.bias = mean(ran);
  group.roofline = median(errors(points, [](const Measurement& m) { return m.roofline; }));
  const std::vector<double> first = errors(points, [](const Measurement& m) { return m.first; });
  group.first_points = first.size();
  group.first = median(first);
  group.fitted = error_of_part(points, true);
  group.held_out = error_of_part(points, false);
  return group;
}

void add(LadderScore& sum, const LadderScore& part) {
  sum.pairs += part.pairs;
  sum.right += part.right;
  sum.ratio_errors.insert(sum.ratio_errors.end(), part.ratio_errors.begin(), part.ratio_errors.end());
}

/// The median over groups of the member `value`, over those that have it.
std::optional<double> over(const std::vector<const GroupScore*>& groups, std::optional<double> GroupScore::*value) {
  std::vector<double> list;
  for (const GroupScore* group : groups) {
    if (group->*value) list.push_back(*(group->*value));
  }
  return median(std::move(list));
}

ClassScore score_class(const std::string& name, std::optional<double> bound,
                       const std::vector<const GroupScore*>& groups) {
  ClassScore score;
  score.name = name;
  score.bound = bound;
  score.groups = groups.size();
  std::vector<double> list;
  for (const GroupScore* group : groups) {
    list.push_back(group->error);
    score.points += group->points;
    score.missed += group->missed;
    score.fitted_points += group->fitted_points;
    add(score.ladder, group->ladder);
  }
  score.error = median(list).value_or(0);
  score.roofline = over(groups, &GroupScore::roofline);
  score.first = over(groups, &GroupScore::first);
  score.fitted = over(groups, &GroupScore::fitted);
  score.held_out = over(groups, &GroupScore::held_out);
  return score;
}

/// `items` by `key`, both in order of appearance.
template <class Item, class Key>
std::vector<std::vector<const Item*>> grouped(const std::vector<Item>& items, const Key& key) {
  std::vector<std::vector<const Item*>> groups;
  for (const Item& item : items) {
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return key(*group.front()) == key(item); });
    if (found != groups.end()) {
      found->push_back(&item);
    } else {
      groups.push_back({&item});
    }
  }
  return groups;
}

bool same_order(const Measurement& a, const Measurement& b) {
  if (!a.predicted || !b.predicted) return false;
  return a.expected < b.expected ? *a.predicted < *b.predicted : *a.predicted > *b.predicted;
}

}  // namespace

std::optional<double> LadderScore::order() const {
  if (pairs == 0) return std::nullopt;
  return static_cast<double>(right) / static_cast<double>(pairs);
}

std::optional<double> LadderScore::ratio_error() const {
  return median(ratio_errors);
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return std::midpoint(values[middle - 1], values[middle]);
}

double relative_error(double value, double expected) {
  return (value - expected) / expected;
}

LadderScore score_ladder(const Ladder& ladder, const std::vector<Measurement>& measurements) {
  std::vector<const Measurement*> steps;
  for (const std::string& id : ladder.steps) {
    if (const Measurement* step = find(measurements, id)) steps.push_back(step);
  }
  LadderScore score;
  for (std::size_t j = 1; j < steps.size(); ++j) {
    const Measurement& before = *steps[j - 1];
    const Measurement& after = *steps[j];
    const bool both = before.predicted && after.predicted;
    score.ratio_errors.push_back(
        both ? std::fabs(relative_error(*after.predicted / *before.predicted, after.expected / before.expected))
             : kMiss);
    for (std::size_t i = 0; i < j; ++i) {
      const auto [low, high] = std::minmax(steps[i]->expected, after.expected);
      if (high <= low * (1 + kSameValue)) continue;
      ++score.pairs;
      score.right += same_order(*steps[i], after) ? 1 : 0;
    }
  }
  return score;
}

Scores score(const std::vector<Measurement>& measurements, const std::vector<Ladder>& ladders) {
  Scores scores;
  for (const auto& points : grouped(measurements, [](const Measurement& m) { return m.kind + '\n' + m.group; })) {
    scores.groups.push_back(score_group(points));
  }
  for (const Ladder& ladder : ladders) {
    const LadderScore of_ladder = score_ladder(ladder, measurements);
    if (of_ladder.ratio_errors.empty()) continue;
    const Measurement* first = nullptr;
    for (std::size_t i = 0; first == nullptr; ++i) first = find(measurements, ladder.steps[i]);
    const auto group = std::find_if(scores.groups.begin(), scores.groups.end(), [&](const GroupScore& g) {
      return g.name == first->group && g.kind == first->kind;
    });
    add(group->ladder, of_ladder);
  }
  std::vector<const GroupScore*> all;
  for (const auto& groups : grouped(scores.groups, [](const GroupScore& g) { return g.kind; })) {
    scores.classes.push_back(score_class(groups.front()->kind, groups.front()->bound, groups));
    all.insert(all.end(), groups.begin(), groups.end());
  }
  scores.all = score_class("all", std::nullopt, all);
  return scores;
}

}  // namespace trnsim
