// The files beside the published measurements speak of measurements that are there.
#include "results/validation/notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sweeps/validation.h"

namespace trnsim {
namespace {

const Validation& published() {
  static const Validation validation = read_validation(validation_files(), "", {});
  return validation;
}

std::string note(const char* name) {
  return std::string(TRNSIM_ROOT "/tests/validation/") + name;
}

std::set<std::string> ids() {
  std::set<std::string> all;
  for (const Measurement& m : published().measurements) all.insert(m.id);
  return all;
}

TEST(ValidationFiles, AreThoseOfThisTree) {
  EXPECT_EQ(validation_files().front(), note("instruction.csv"));
}

TEST(ValidationFiles, GroupIsGenerationAndExperiment) {
  for (const Measurement& m : published().measurements) {
    EXPECT_TRUE(m.id == m.group || m.id.starts_with(m.group + "-")) << m.id;
    EXPECT_EQ(std::count(m.group.begin(), m.group.end(), '-'), 2) << m.group;
  }
}

TEST(ValidationFiles, TakenRowsAreNotExcluded) {
  for (const Exclusion& e : read_exclusions(note("exclusions.csv"))) EXPECT_FALSE(ids().contains(e.id)) << e.id;
}

TEST(Ladders, HaveTwoStepsOrMoreOfOneMetricInOneGroup) {
  std::map<std::string, const Measurement*> by_id;
  for (const Measurement& m : published().measurements) by_id[m.id] = &m;
  for (const Ladder& ladder : read_ladders(note("ladders.csv"))) {
    EXPECT_GE(ladder.steps.size(), 2U) << ladder.name;
    for (const std::string& step : ladder.steps) {
      ASSERT_TRUE(by_id.contains(step)) << step;
      EXPECT_EQ(by_id[step]->metric, by_id[ladder.steps[0]]->metric) << step;
      EXPECT_EQ(by_id[step]->group, by_id[ladder.steps[0]]->group) << step;
    }
  }
}

TEST(FirstRun, HoldsOnlyPublishedMeasurements) {
  FirstRun first(note("first_run.csv"));
  std::size_t known = 0;
  for (const Measurement& m : published().measurements) known += first.predicted(m.id, m.metric) ? 1 : 0;
  EXPECT_EQ(known, first.size());
}

// What was fitted must not be scored as if it were predicted: at least half of a group stays apart.
TEST(Calibrations, NameAtMostHalfOfAGroup) {
  std::map<std::string, std::size_t> points, fitted;
  for (const Measurement& m : published().measurements) {
    ++points[m.group];
    fitted[m.group] += m.fitted ? 1 : 0;
  }
  for (const auto& [group, count] : fitted) EXPECT_LE(2 * count, points[group]) << group;
}

TEST(Calibrations, NameOnlyPointsThatExist) {
  EXPECT_FALSE(published().calibrations.empty());
  for (const Calibration& c : published().calibrations) {
    EXPECT_TRUE(c.unknown.empty()) << c.parameter << " in " << c.origin << " names " << c.unknown.front();
  }
}

TEST(LeftOut, EveryFittedParameterHasAnotherValueForEachGroupThatItWasFittedOn) {
  std::set<std::pair<std::string, std::string>> priors;
  for (const Prior& prior : read_priors(note("left_out.csv"))) priors.insert({prior.group, prior.parameter});
  for (const Calibration& c : published().calibrations) {
    for (const Measurement& m : published().measurements) {
      if (std::find(c.points.begin(), c.points.end(), m.id) == c.points.end()) continue;
      EXPECT_EQ(priors.count({m.group, c.parameter}), 1U) << m.group << " " << c.parameter;
    }
  }
}

}  // namespace
}  // namespace trnsim
