// Which groups a machine lets run a collective, and what is said of those that it does not.
#include "workloads/collectives/rules.h"

#include <numeric>
#include <ostream>

#include "models/mechanism/error.h"
#include "tests/workloads/lowering.h"
#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/choice.h"

namespace trnsim::collective {
namespace {

using test::Changes;

/// `changes` of the platform have a dot in their name.
LoweredWorkload lowered(const std::string& platform, const std::string& collective, const Changes& changes) {
  std::vector<Override> of_platform;
  Changes of_workload = {{"bytes", "4KiB"}};
  for (const auto& [name, value] : changes) {
    if (is_platform_parameter(name)) {
      of_platform.push_back({name, value, "--set"});
    } else if (name == "bytes") {
      of_workload.front().second = value;
    } else {
      of_workload.emplace_back(name, value);
    }
  }
  return test::lowered(load_platform(platform, of_platform).machine, collective, of_workload);
}

struct Case {
  const char* rule;
  const char* collective;
  Changes always, meets, breaks;
  const char* message;  ///< after "collective.rule.", up to the hint
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.rule << " of " << one.collective;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"all_to_all_least",
       "all_to_all",
       {},
       {{"ranks", "4"}},
       {{"ranks", "2"}},
       "all_to_all_least=4: the group has 2 ranks; take at least 4 for an all_to_all"},
      {"all_to_all_multiple",
       "all_to_all",
       {},
       {{"ranks", "32"}},
       {{"ranks", "48"}},
       "all_to_all_multiple=32: the group has 48 ranks; take a power of two or a multiple of 32 for an all_to_all"},
      {"all_to_all_multiple",
       "all_to_all",
       {{"machine.instances", "2"}},
       {{"groups", "0-47,64-111"}},
       {{"groups", "0-39,64-103"}},
       "all_to_all_multiple=32: the group has 80 ranks; take a power of two or a multiple of 32 for an all_to_all"},
      {"mesh_chips",
       "all_gather",
       {{"algorithm", "mesh"}, {"collective.rule.mesh_chips", "2"}},
       {{"ranks", "8"}},
       {{"ranks", "12"}},
       "mesh_chips=2: the group has 3 chips; take at most 2 for a mesh"},
      {"mesh_chips",
       "all_reduce",
       {{"algorithm", "single_step_mesh"}, {"collective.rule.mesh_chips", "2"}},
       {{"ranks", "8"}},
       {{"ranks", "9"}},
       "mesh_chips=2: the group has 3 chips; take at most 2 for a mesh"},
      {"kangaring_ranks",
       "all_reduce",
       {{"algorithm", "kangaring"}, {"collective.rule.kangaring_ranks", "8"}},
       {{"ranks", "8"}},
       {{"ranks", "12"}},
       "kangaring_ranks=8: the group has 12 ranks; take at most 8 for a kangaring"},
      {"kangaring_whole_chips",
       "all_reduce",
       {{"algorithm", "kangaring"}},
       {{"ranks", "8"}},
       {{"ranks", "6"}},
       "kangaring_whole_chips=yes: the group has 6 ranks on 2 chips, some of which have more; take all ranks of a chip "
       "for a kangaring"},
      {"same_local_ranks",
       "all_reduce",
       {{"machine.instances", "2"}},
       {{"groups", "3,67"}},
       {{"groups", "3,68"}},
       "same_local_ranks=yes: the group has other local ranks in one instance than in another; take the same in each"},
      {"sbuf",
       "all_to_all",
       {{"ranks", "4"}},
       {{"collective_memory", "hbm"}},
       {{"collective_memory", "sbuf"}},
       "sbuf=reduce_and_gather: all_to_all cannot run from SBUF; take collective_memory=hbm"},
      {"sbuf",
       "permute",
       {},
       {{"collective_memory", "hbm"}},
       {{"collective_memory", "sbuf"}},
       "sbuf=reduce_and_gather: permute cannot run from SBUF; take collective_memory=hbm"},
  };
  return kCases;
}

Changes joined(Changes some, const Changes& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

class Rules : public testing::TestWithParam<Case> {};

TEST_P(Rules, AGroupThatMeetsThemRuns) {
  const Case& one = GetParam();
  EXPECT_EQ(lowered("trn2-48xlarge", one.collective, joined(one.always, one.meets)).facts.broken_rules, "");
}

TEST_P(Rules, OneThatBreaksOneIsRefusedWithItsName) {
  const Case& one = GetParam();
  try {
    static_cast<void>(lowered("trn2-48xlarge", one.collective, joined(one.always, one.breaks)));
    FAIL() << "not refused";
  } catch (const InfeasibleError& error) {
    EXPECT_EQ(error.what(),
              "collective.rule." + std::string(one.message) + ", or collective.rules=report to run it all the same");
  }
}

TEST_P(Rules, WhereTheyAreReportedItRunsAndTheRuleIsListed) {
  const Case& one = GetParam();
  const Changes reported = joined(joined(one.always, one.breaks), {{"collective.rules", "report"}});
  const LoweredWorkload run = lowered("trn2-48xlarge", one.collective, reported);
  EXPECT_EQ(run.facts.broken_rules, "collective.rule." + std::string(one.rule));
  EXPECT_FALSE(run.job.replicas.empty());
}

INSTANTIATE_TEST_SUITE_P(Each, Rules, testing::ValuesIn(cases()));

TEST(RulesOfAGroup, SeveralAreListedOnceEachByName) {
  const Changes groups = {{"groups", "0-2;4-6"}, {"collective_memory", "sbuf"}, {"collective.rules", "report"}};
  EXPECT_EQ(lowered("trn2-48xlarge", "all_to_all", groups).facts.broken_rules,
            "collective.rule.all_to_all_least;collective.rule.all_to_all_multiple;collective.rule.sbuf");
}

TEST(RulesOfAGroup, OneRankBreaksNone) {
  for (const char* collective : {"all_to_all", "permute", "all_reduce"}) {
    EXPECT_EQ(lowered("trn2-48xlarge", collective, {{"ranks", "1"}, {"collective_memory", "sbuf"}}).facts.broken_rules,
              "")
        << collective;
  }
}

TEST(RulesOfAGroup, AutoTakesAnAlgorithmThatBreaksNone) {
  const auto algorithm = [](const Changes& changes) {
    return lowered("trn2-48xlarge", "all_reduce", joined(changes, {{"collective.rules", "report"}})).facts.kernel;
  };
  const Changes large = {{"bytes", "64MiB"}};
  EXPECT_EQ(algorithm(joined(large, {{"ranks", "8"}})), "kangaring");
  EXPECT_EQ(algorithm(joined(large, {{"ranks", "6"}})), "ring");  // two of four ranks of the second chip
  EXPECT_EQ(algorithm(joined(large, {{"ranks", "6"}, {"collective.rule.kangaring_whole_chips", "no"}})), "kangaring");
  EXPECT_EQ(algorithm(joined(large, {{"ranks", "8"}, {"collective.rule.kangaring_ranks", "4"}})), "ring");
  EXPECT_EQ(algorithm({{"ranks", "16"}}), "mesh");
  EXPECT_EQ(algorithm({{"ranks", "16"}, {"collective.rule.mesh_chips", "2"}}), "recursive");
  // Three chips form no hypercube.
  EXPECT_EQ(algorithm({{"bytes", "8MiB"}, {"ranks", "16"}}), "recursive");
  EXPECT_EQ(algorithm({{"bytes", "8MiB"}, {"ranks", "12"}}), "kangaring");
  EXPECT_EQ(algorithm({{"ranks", "12"}, {"collective.rule.mesh_chips", "2"}}), "kangaring");
}

TEST(RulesOfAGroup, AHierarchicalOneTakesRingsWithinInstancesWhereKangaRingWouldBreakOne) {
  const MachineSpec machine = load_platform("trn2-48xlarge", {{"machine.instances", "2", "--set"}}).machine;
  const auto within = [&](const std::vector<std::uint32_t>& ranks, Collective collective) {
    Task task;
    task.collective = collective;
    return inner_for(shape_of(ranks, 2, machine), task, machine.collective_rules);
  };
  const std::vector<std::uint32_t> chips = {0, 1, 2, 3, 64, 65, 66, 67};
  const std::vector<std::uint32_t> pairs = {0, 1, 64, 65};
  EXPECT_EQ(within(chips, Collective::kAllReduce), nullptr);
  EXPECT_EQ(within(pairs, Collective::kAllReduce), &kRing);
  EXPECT_EQ(within(pairs, Collective::kAllToAll), nullptr);
}

TEST(RulesOfAGroup, ItsShapeIsThatOfItsCores) {
  const MachineSpec machine = load_platform("trn2-48xlarge", {{"machine.instances", "2", "--set"}}).machine;
  const auto shape = [&](std::vector<std::uint32_t> ranks, std::uint32_t lnc) { return shape_of(ranks, lnc, machine); };
  EXPECT_EQ(shape({0, 1, 2, 3}, 2).chips, 1U);
  EXPECT_TRUE(shape({0, 1, 2, 3}, 2).whole_chips);
  EXPECT_FALSE(shape({0, 1, 2, 3}, 1).whole_chips);  // eight ranks on a chip
  EXPECT_FALSE(shape({0, 1, 3, 2}, 2).in_order);
  EXPECT_EQ(shape({5, 69}, 2).instances, 2U);
  EXPECT_TRUE(shape({5, 69}, 2).same_local_ranks);
  EXPECT_FALSE(shape({5, 6, 69}, 2).same_local_ranks);
}

struct VariableCase {
  const char* platform;
  Collective collective;
  std::vector<std::uint32_t> group;
  std::uint32_t lnc;
  const char* broken;  ///< empty: none
};

TEST(RulesOfDifferentSizes, AreThoseOfTheGeneration) {
  constexpr const char* kTrn1 = "trn1-32xlarge";
  constexpr const char* kTrn2 = "trn2-48xlarge";
  constexpr const char* kTrn3 = "trn3-ultraserver-gen2";
  for (const VariableCase& one : {
           VariableCase{kTrn1, Collective::kAllGather, {0, 1}, 1, "equal_sizes"},
           VariableCase{kTrn2, Collective::kReduceScatter, {0, 1, 9}, 2, ""},
           VariableCase{kTrn2, Collective::kAllGather, {4, 5, 6, 7}, 2, ""},
           VariableCase{kTrn2, Collective::kAllGather, {0, 1}, 2, "variable_all_gather_one_chip"},
           VariableCase{kTrn2, Collective::kAllGather, {0, 1, 2, 3, 4, 5, 6, 7}, 1, "variable_all_gather_one_chip"},
           VariableCase{kTrn2, Collective::kAllToAll, {3, 67}, 2, ""},
           VariableCase{kTrn2, Collective::kAllToAll, {0, 1, 2, 3}, 2, "variable_all_to_all"},
           VariableCase{kTrn3, Collective::kAllToAll, {0, 1, 2, 3, 4, 5, 6, 7}, 2, ""},
           VariableCase{kTrn3, Collective::kAllToAll, {4, 5, 6, 7, 0, 1, 2, 3}, 2, "variable_all_to_all"},
           VariableCase{kTrn3, Collective::kAllToAll, {0, 1, 2, 3}, 2, "variable_all_to_all"},
       }) {
    const MachineSpec machine = load_platform(one.platform, {{"machine.instances", "2", "--set"}}).machine;
    Task task;
    task.collective = one.collective;
    task.counts = {1};
    const GroupShape shape = shape_of(one.group, one.lnc, machine);
    std::string names;
    for (const BrokenRule& rule : broken_rules(machine.collective_rules, shape, task, Space::kHbm)) names += rule.name;
    EXPECT_EQ(names, *one.broken == '\0' ? "" : "collective.rule." + std::string(one.broken))
        << one.platform << " " << name_of(one.collective) << " of " << one.group.size();
  }
}

TEST(RulesOfDifferentSizes, NeitherRankCountsNorSbufOfEqualOnesHoldForThem) {
  const CollectiveRulesSpec rules = load_platform("trn2-48xlarge").machine.collective_rules;
  Task task;
  task.collective = Collective::kAllToAll;
  task.counts = {1};
  const GroupShape two = {.ranks = 2, .lanes = 2, .chips = 2, .instances = 2, .whole_chips = false};
  EXPECT_TRUE(broken_rules(rules, two, task, Space::kHbm).empty());
  task.collective = Collective::kReduceScatter;
  const auto broken = broken_rules(rules, two, task, Space::kSbuf);
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0].why, "reduce_scatter of different sizes cannot run from SBUF; take collective_memory=hbm");
}

TEST(RulesOfAnIdealMachine, AreNone) {
  const CollectiveRulesSpec none;
  for (std::uint32_t ranks = 1; ranks <= 64; ++ranks) {
    const GroupShape group = {
        .ranks = ranks, .chips = ranks, .whole_chips = false, .same_local_ranks = false, .in_order = false};
    for (std::size_t c = 0; c < kCollectiveNames.size(); ++c) {
      Task task;
      task.collective = static_cast<Collective>(c);
      EXPECT_TRUE(broken_rules(none, group, task, Space::kSbuf).empty());
      task.counts = {1};
      EXPECT_TRUE(broken_rules(none, group, task, Space::kSbuf).empty());
    }
    for (const Algorithm* algorithm : algorithms()) EXPECT_TRUE(broken_rules(none, group, *algorithm).empty());
  }
}

}  // namespace
}  // namespace trnsim::collective
