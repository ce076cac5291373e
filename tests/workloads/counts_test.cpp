// Sizes by rank: from files of every form, from models, and what is wrong with a file.
#include <fstream>
#include <numeric>

#include "tests/temporary_folder.h"
#include "tests/workloads/lowering.h"
#include "workloads/routing/counts_file.h"
#include "workloads/routing/popularity.h"
#include "workloads/single_collectives/sizes.h"

namespace trnsim {
namespace {

using Counts = std::vector<std::uint64_t>;

/// A machine that lets any group exchange any sizes.
MachineSpec without_rules(const std::string& name) {
  MachineSpec machine = test::machine(name);
  machine.collective_rules = {};
  return machine;
}

class CountsFiles : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& text) const {
    const std::string path = (folder_.path() / "counts.csv").string();
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] Counts matrix(const std::string& text, std::uint32_t ranks, test::Changes changes = {}) const {
    changes.emplace_back("counts", file(text));
    const Workload workload = test::workload("all_to_all", changes);
    return CountsFile(SettingReader(workload)).matrix(ranks);
  }
  /// What is wrong, from the place in the file on.
  [[nodiscard]] std::string error_of(const std::string& text, std::uint32_t ranks, const test::Changes& changes = {}) {
    try {
      static_cast<void>(matrix(text, ranks, changes));
    } catch (const InputError& error) {
      const std::string what = error.what();
      const std::size_t place = what.find("counts.csv");
      return place == std::string::npos ? what : what.substr(place);
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(CountsFiles, AMatrixHasARowForEveryPairInAnyOrder) {
  EXPECT_EQ(matrix("src,dst,count\n1,1,4\n0,0,1\n0,1,0\n1,0,3\n", 2), (Counts{1, 0, 3, 4}));
}

TEST_F(CountsFiles, TokensAreTakenBeforeCopiesUnlessAskedFor) {
  const std::string text = "src,dst,copies,tokens\n0,0,9,8\n";
  EXPECT_EQ(matrix(text, 1), Counts{8});
  EXPECT_EQ(matrix(text, 1, {{"counts_column", "copies"}}), Counts{9});
}

TEST_F(CountsFiles, OneOfSeveralLayersIsChosen) {
  const std::string text = "layer,src,dst,count\n3,0,0,5\n7,0,0,6\n";
  EXPECT_EQ(matrix(text, 1, {{"counts_layer", "7"}}), Counts{6});
  EXPECT_EQ(error_of(text, 1), "counts.csv:1:1: the file holds layers 3, 7; choose one with counts_layer");
  EXPECT_EQ(error_of(text, 1, {{"counts_layer", "4"}}), "counts.csv has no layer 4; it has 3, 7");
}

TEST_F(CountsFiles, ExpertsAreDealtToRanksInOrderAndComeFromAllSourcesAlike) {
  EXPECT_EQ(matrix("layer,expert0,expert1,expert2,expert3\n0,5,2,1,0\n", 2), (Counts{4, 1, 3, 0}));
}

TEST_F(CountsFiles, SequencesOfTokensAreDealtToSourcesInOrder) {
  EXPECT_EQ(matrix("sequence,e0,e1\n0,1,2\n1,3,4\n2,5,6\n3,7,8\n", 2), (Counts{4, 6, 12, 14}));
}

TEST_F(CountsFiles, RowsOfOneCountPerRankMakeNoMatrix) {
  EXPECT_NE(error_of("rank,count\n0,5\n", 1).find("no columns 'src' and 'dst'"), std::string::npos);
}

struct Wrong {
  const char* text;
  const char* error;
};

TEST_F(CountsFiles, AreRefusedWithThePlaceOfWhatIsWrong) {
  for (const Wrong& wrong : {
           Wrong{"src,dst,count\n0,0,-3\n", "counts.csv:2:5: '-3' is no count; write a whole number from 0 on"},
           Wrong{"src,dst,count\n0,0,2.5\n", "counts.csv:2:5: '2.5' is no count; write a whole number from 0 on"},
           Wrong{"src,dst,count\n0,0,9223372036854775808\n",
                 "counts.csv:2:5: '9223372036854775808' is out of range; 0 to 100000000000 is accepted"},
           Wrong{"src,dst,count\n0,0,99999999999999999999999\n",
                 "counts.csv:2:5: '99999999999999999999999' is out of range; 0 to 100000000000 is accepted"},
           Wrong{"src,dst,count\n0,0,\n", "counts.csv:2:5: an empty cell; write a whole number, 0 for nothing"},
           Wrong{"src,dst,count\n0,0,1\n0,1,1\n0,0,1\n1,0,2\n1,1,0\n",
                 "counts.csv:4:1: a second row for src 0, dst 0; keep one"},
           Wrong{"src,dst,count\n0,0,1\n0,1,1\n1,1,2\n",
                 "counts.csv:4:1: no row for src 1, dst 0 in the file; 2 ranks need 4 rows, zeros too"},
           Wrong{"src,dst,count\n0,0,1\n0,2,1\n", "counts.csv:3:3: '2' is out of range; 0 to 1 is accepted"},
           Wrong{"src,dst\n0,0\n", "counts.csv:1:1: no column 'count';"},
           Wrong{"src,dst,cuont\n0,0,1\n", "counts.csv:1:9: unknown column 'cuont' (did you mean count?);"},
           Wrong{"src,src,count\n0,0,1\n", "counts.csv:1:5: a second column 'src';"},
           Wrong{"src,count\n0,1\n", "counts.csv:1:1: neither ranks nor experts, or both;"},
           Wrong{"src,dst,e0,e1\n0,0,1,1\n", "counts.csv:1:1: neither ranks nor experts, or both;"},
           Wrong{"e0,e2\n1,1\n", "counts.csv:1:4: unknown column 'e2'"},
           Wrong{"e0,e1,e2\n1,1,1\n",
                 "counts.csv:1:1: 3 experts cannot be dealt to 2 ranks alike; use a number of ranks that divides them"},
           Wrong{"sequence,e0,e1\n0,1,1\n2,1,1\n", "counts.csv:3:1: sequence 2 where 1 belongs;"},
           Wrong{"sequence,e0,e1\n0,1,1\n", "counts.csv:2:1: 1 sequences cannot be dealt to 2 ranks alike;"},
           Wrong{"src,dst,count\n", "counts.csv:1:1: no rows; write one for every rank or pair of ranks"},
       }) {
    const std::string error = error_of(wrong.text, 2);
    EXPECT_TRUE(error.starts_with(wrong.error)) << wrong.text << error;
  }
}

TEST_F(CountsFiles, RanksFollowFromAMatrixAndMustBeThoseThatAreAskedFor) {
  const MachineSpec machine = without_rules("trn2-48xlarge");
  const std::string path = file("src,dst,count\n0,0,1\n0,1,1\n1,0,2\n1,1,0\n");
  EXPECT_EQ(test::lowered(machine, "all_to_all", {{"counts", path}}).facts.ranks, 2U);
  EXPECT_THROW(test::lowered(machine, "all_to_all", {{"counts", path}, {"ranks", "3"}}), InputError);
  EXPECT_THROW(test::lowered(machine, "all_to_all", {{"counts", path}, {"bytes", "1MiB"}}), InputError);
  EXPECT_THROW(test::lowered(machine, "all_to_all", {{"row_bytes", "4kB"}}), InputError);
  EXPECT_THROW(test::lowered(machine, "all_to_all", {{"counts", path}, {"row_bytes", "3B"}}), InputError);
  EXPECT_THROW(test::workload("all_to_all", {{"counts", "nowhere.csv"}}), InputError);
  EXPECT_THROW(test::workload("all_to_all", {{"counts", "mixtral"}}), InputError);
}

TEST_F(CountsFiles, MoreThanCanBeCountedIsRefused) {
  const MachineSpec machine = without_rules("trn2-48xlarge");
  const std::string path = file("src,dst,count\n0,0,1\n0,1,99999999999\n1,0,2\n1,1,0\n");
  EXPECT_THROW(test::lowered(machine, "all_to_all", {{"counts", path}, {"row_bytes", "1MB"}}), InputError);
}

TEST_F(CountsFiles, PayloadIsThatOfTheRankWithMost) {
  const MachineSpec machine = without_rules("trn2-48xlarge");
  const std::string path = file("src,dst,count\n0,0,1\n0,1,1\n1,0,4\n1,1,0\n");
  const WorkloadFacts facts = test::lowered(machine, "all_to_all", {{"counts", path}, {"row_bytes", "10B"}}).facts;
  EXPECT_EQ(facts.vector_bytes, 50U);               // rank 0 gets 1 and 4
  EXPECT_DOUBLE_EQ(facts.bus_factor, 40.0 / 50.0);  // 4 of them from another
}

TEST(CountsModels, DealAllOfIt) {
  Random random(1);
  for (const std::uint64_t total : {0ULL, 1ULL, 7ULL, 1'000'000'007ULL, 500'000'000'000'000ULL}) {
    for (const auto& weights : {zipf_popularity(random, 64, 0.6), lognormal_popularity(random, 64, 1.05)}) {
      const Counts shares = dealt(total, weights);
      EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), total);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const double share =
            static_cast<double>(total) * weights[i] / std::accumulate(weights.begin(), weights.end(), 0.0);
        EXPECT_NEAR(static_cast<double>(shares[i]), share, 1 + share * 1e-12);
      }
    }
  }
}

TEST(CountsModels, AreTheSameForASeedAndDifferForAnother) {
  const MachineSpec machine = without_rules("trn2-48xlarge");
  const auto vector = [&](const char* model, std::uint64_t seed) {
    return test::lowered(machine, "all_to_all", {{"counts", model}}, seed).facts.vector_bytes;
  };
  for (const char* model : {"lognormal", "zipf"}) EXPECT_EQ(vector(model, 1), vector(model, 1));
  EXPECT_NE(vector("lognormal", 1), vector("lognormal", 2));
  EXPECT_EQ(vector("one_rank", 1), std::uint64_t{64} * 64 * 1024 * 1024);  // all of every rank goes to rank 0
}

TEST(CountsShipped, MakeProgramsThatRun) {
  const MachineSpec machine = without_rules("trn2-48xlarge");
  for (const auto& entry : std::filesystem::directory_iterator(TRNSIM_ROOT "/workloads/counts")) {
    if (entry.path().extension() != ".csv") continue;
    const std::string name = entry.path().stem().string();
    test::Changes changes = {{"counts", name}, {"row_bytes", "14kB"}};
    if (name.starts_with("mixtral")) changes.insert(changes.end(), {{"counts_layer", "13"}, {"ranks", "8"}});
    if (name.starts_with("flame")) changes.emplace_back("counts_layer", "2");
    test::expect_runs(test::lowered(machine, "all_to_all", changes));
  }
}

TEST(CountsOfOnePerRank, GatherAndScatter) {
  const MachineSpec machine = without_rules("trn3-ultraserver-gen1");
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "shards.csv").string();
  std::ofstream(path) << "rank,count\n0,1000\n1,0\n2,3\n3,77\n";
  for (const char* collective : {"all_gather", "reduce_scatter"}) {
    for (const char* metadata : {"known", "counts", "auto"}) {
      const LoweredWorkload lowered = test::lowered(machine, collective, {{"counts", path}, {"metadata", metadata}});
      EXPECT_EQ(lowered.facts.vector_bytes, 2160U);
      test::expect_runs(lowered);
    }
  }
}

}  // namespace
}  // namespace trnsim
