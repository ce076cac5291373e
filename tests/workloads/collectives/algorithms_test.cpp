// Every algorithm on random groups: every rank gets every element it should, exactly once, from the right place.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "tests/workloads/collectives/payload.h"
#include "tests/workloads/collectives/places.h"
#include "workloads/collectives/algorithms/list.h"

namespace trnsim {
namespace {

using collective::Algorithm;
using collective::Place;
using collective::Task;

std::string describe(const Algorithm& algorithm, const Place& place, const Task& task) {
  return std::string(algorithm.name) + " " + std::string(collective::name_of(task.collective)) + ": " +
         std::to_string(place.ranks) + " ranks on " + std::to_string(place.chips()) + " chips, " +
         std::to_string(place.lanes) + " lanes, " + std::to_string(place.rings.size()) + " rings, " +
         std::to_string(task.elements) + " elements, " + std::to_string(task.slices) + " slices, " +
         (task.counts.empty() ? "equal" : "different") + " shards, inner " +
         std::string(task.inner == nullptr ? "default" : task.inner->name) + ", outer " +
         std::string(task.outer == nullptr ? "default" : task.outer->name);
}

/// Counts with zeros and one that is larger than all others together.
std::vector<std::uint64_t> random_counts(std::mt19937_64& random, std::size_t shards) {
  std::vector<std::uint64_t> counts(shards);
  for (std::uint64_t& count : counts) count = random() % 3 == 0 ? 0 : random() % 5;
  if (random() % 2 == 0) counts[random() % shards] = 60;
  return counts;
}

Task random_task(std::mt19937_64& random, Collective collective, const Place& place) {
  Task task;
  task.collective = collective;
  const std::uint64_t sizes[] = {0, 1, place.ranks / 2U, place.ranks, 3 * place.ranks + 1, random() % 150};
  task.elements = sizes[random() % std::size(sizes)];
  task.slices = 1 + static_cast<std::uint32_t>(random() % 2);
  task.slots = collective::kSlots + static_cast<std::uint32_t>(random() % 3);
  task.shift = static_cast<std::uint32_t>(random() % (2 * place.ranks));
  task.root = static_cast<std::uint32_t>(random() % place.ranks);
  const Algorithm* parts[] = {nullptr, &collective::kMesh, &collective::kRing, &collective::kRecursive,
                              &collective::kKangaRing};
  if (collective != Collective::kAllToAll) {
    task.inner = parts[random() % std::size(parts)];
    task.outer = parts[random() % (std::size(parts) - 1)];
  }
  const bool counted = collective == Collective::kAllGather || collective == Collective::kReduceScatter ||
                       collective == Collective::kAllToAll;
  if (!counted || random() % 2 == 0) return task;
  const std::size_t shards = collective == Collective::kAllToAll ? std::size_t{place.ranks} * place.ranks : place.ranks;
  task.counts = random_counts(random, shards);
  task.elements = 0;
  if (collective == Collective::kAllToAll) return task;
  for (const std::uint64_t count : task.counts) task.elements += count;
  return task;
}

class EveryAlgorithm : public testing::TestWithParam<const Algorithm*> {};

TEST_P(EveryAlgorithm, DeliversEverythingOnceOnRandomGroups) {
  const Algorithm& algorithm = *GetParam();
  for (const auto& form : algorithm.forms) {
    std::mt19937_64 random(7);
    int carried_out = 0;
    for (int trial = 0; carried_out < 120; ++trial) {
      ASSERT_LT(trial, 12000) << algorithm.name << " refuses nearly everything";
      const Place place = test::random_place(random, trial % 8 == 0 ? 32 : 12);
      const Task task = random_task(random, form.collective, place);
      if (!refusal(algorithm, place, task).empty()) continue;
      ++carried_out;
      const test::Outcome outcome = test::carry_out(algorithm, place, task, random());
      ASSERT_EQ(outcome.error, "") << describe(algorithm, place, task) << ", trial " << trial;
    }
  }
}

TEST(Algorithms, HaveTheirFormsInTheManual) {
  std::ifstream file(TRNSIM_ROOT "/docs/modelling/collectives.md");
  const std::string manual((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const Algorithm* algorithm : collective::algorithms()) {
    for (const collective::Form& form : algorithm->forms) {
      std::string row = "|";
      for (const auto cell :
           {algorithm->name, collective::name_of(form.collective), form.steps, form.bytes, form.time}) {
        row += " " + std::string(cell) + " |";
      }
      EXPECT_NE(manual.find(row), std::string::npos) << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryAlgorithm,
                         testing::ValuesIn(collective::algorithms().begin(), collective::algorithms().end()),
                         [](const auto& algorithm) { return std::string(algorithm.param->name); });

}  // namespace
}  // namespace trnsim
