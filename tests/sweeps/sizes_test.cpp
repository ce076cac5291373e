// Collectives whose sizes differ by rank, run: what equal sizes written as counts cost, and what telling them costs.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "tests/sweeps/rows.h"
#include "tests/temporary_folder.h"

namespace trnsim {
namespace {

class SizesByRank : public testing::Test {
 protected:
  /// One collective whose sizes `file` says, on a machine that lets any group run it.
  static PointRow counted(const std::string& platform, const std::string& collective, const std::string& file,
                          const Assignments& settings) {
    Assignments all = {{"counts", file},
                       {"collective.rule.variable_all_gather_one_chip", "no"},
                       {"collective.rule.variable_all_to_all", "any"}};
    all.insert(all.end(), settings.begin(), settings.end());
    return evaluated(platform, collective, all);
  }
  /// A matrix of `ranks` x `ranks`.
  std::string matrix(std::uint32_t ranks, const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& count) {
    const std::string path = (folder_.path() / "matrix.csv").string();
    std::ofstream file(path);
    file << "src,dst,count\n";
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (std::uint32_t to = 0; to < ranks; ++to) file << from << ',' << to << ',' << count(from, to) << '\n';
    }
    return path;
  }
  std::string equal_shards(std::uint32_t ranks, std::uint64_t count) {
    const std::string path = (folder_.path() / "shards.csv").string();
    std::ofstream file(path);
    file << "rank,count\n";
    for (std::uint32_t rank = 0; rank < ranks; ++rank) file << rank << ',' << count << '\n';
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(SizesByRank, EqualCountsRunAsNoCountsDoToThePicosecond) {
  const std::string path = matrix(16, [](std::uint32_t, std::uint32_t) { return 2048; });
  const std::string shards = equal_shards(16, 2048);
  for (const char* platform : {"trn2-48xlarge", "trn3-ultraserver-gen1"}) {
    for (const char* level : {"device", "kernel"}) {
      for (const auto& [collective, file] :
           {std::pair{"all_to_all", path}, std::pair{"all_gather", shards}, std::pair{"reduce_scatter", shards}}) {
        const PointRow equal = evaluated(platform, collective, {{"ranks", "16"}, {"bytes", "64KiB"}, {"level", level}});
        const PointRow same = counted(platform, collective, file, {{"metadata", "known"}, {"level", level}});
        EXPECT_EQ(same.error, "");
        EXPECT_EQ(same.metrics, equal.metrics) << platform << " " << collective << " " << level;
      }
    }
  }
}

TEST_F(SizesByRank, EqualCountsRunAsNoCountsDoBetweenInstances) {
  const std::string path = matrix(128, [](std::uint32_t, std::uint32_t) { return 64; });
  const Assignments equal = {{"machine.instances", "2"}, {"ranks", "128"}, {"bytes", "16KiB"}};
  EXPECT_EQ(counted("trn2-48xlarge", "all_to_all", path, {{"machine.instances", "2"}, {"metadata", "known"}}).metrics,
            evaluated("trn2-48xlarge", "all_to_all", equal).metrics);
}

TEST_F(SizesByRank, TellingThemCostsAnExchangeOfCountsAndOneOfOffsets) {
  const std::string path = matrix(16, [](std::uint32_t from, std::uint32_t to) { return (from * to) % 7 * 100; });
  for (const char* platform : {"trn2-48xlarge", "trn3-ultraserver-gen1"}) {
    const auto latency = [&](const char* metadata) {
      return number_of(counted(platform, "all_to_all", path, {{"metadata", metadata}}), "latency_us");
    };
    const double known = latency("known");
    const double counts = latency("counts");
    const double offsets = latency("counts_and_offsets");
    EXPECT_GT(counts, known + 1);
    EXPECT_NEAR(offsets - counts, counts - known, 0.3 * (counts - known));
    EXPECT_EQ(latency("auto"), std::string(platform) == "trn2-48xlarge" ? counts : offsets);
  }
}

TEST_F(SizesByRank, OneHotRankIsBoundByWhatGoesIntoItsChip) {
  const std::string path = matrix(16, [](std::uint32_t, std::uint32_t to) { return to == 0 ? 1'000'000 : 0; });
  const PointRow hot = counted("trn2-48xlarge", "all_to_all", path, {{"metadata", "known"}});
  const PointRow equal = evaluated("trn2-48xlarge", "all_to_all", {{"ranks", "16"}, {"bytes", "2MB"}});
  EXPECT_GT(number_of(hot, "latency_us"), 3 * number_of(equal, "latency_us"));
  EXPECT_EQ(number_of(hot, "bytes_sent"), 15 * 2e6);
}

TEST_F(SizesByRank, NothingToSendSendsNothing) {
  const std::string path = matrix(8, [](std::uint32_t, std::uint32_t) { return 0; });
  const PointRow row = counted("trn2-48xlarge", "all_to_all", path, {{"metadata", "known"}});
  EXPECT_EQ(row.status, Status::kOk) << row.error;
  EXPECT_EQ(number_of(row, "bytes_sent"), 0);
}

TEST_F(SizesByRank, AnotherMatrixIsAnotherInput) {
  const PointRow first =
      counted("trn2-48xlarge", "all_to_all", matrix(4, [](std::uint32_t, std::uint32_t) { return 1; }), {});
  const PointRow second =
      counted("trn2-48xlarge", "all_to_all", matrix(4, [](std::uint32_t, std::uint32_t) { return 2; }), {});
  EXPECT_NE(first.input_hash, second.input_hash);
}

TEST(FabricMetrics, BoundTheTimeAndCountTheLinks) {
  for (const char* platform : {"trn2-48xlarge", "trn3-ultraserver-gen1"}) {
    const PointRow row = evaluated(platform, "all_to_all", {{"ranks", "32"}, {"bytes", "8MiB"}});
    const double latency = number_of(row, "latency_us");
    EXPECT_GE(latency, number_of(row, "busiest_link_us")) << platform;
    EXPECT_GE(latency, number_of(row, "bisection_bound_us")) << platform;
    EXPECT_GT(number_of(row, "bisection_bound_us"), 0) << platform;
  }
}

// 32 ranks on 8 chips, a torus of 4x2 of which only the second dimension's links lie between the halves: four of them,
// at 96 GB/s, for 16 x 16 shards. Links from chip to chip: one step in that dimension for half of the chips, and
// (0 + 1 + 2 + 1) / 4 in the other.
TEST(FabricMetrics, FollowFromTheShape) {
  const PointRow row = evaluated("trn2-48xlarge", "all_to_all", {{"ranks", "32"}, {"bytes", "32MiB"}});
  EXPECT_EQ(number_of(row, "bisection_gb_per_s"), 4 * 96);
  EXPECT_NEAR(number_of(row, "bisection_bound_us"), 16 * 16 * 1048576 / (4 * 96e3), 0.001);
  EXPECT_NEAR(number_of(row, "mean_hops"), (0.5 + 1) * 32 / 31, 1e-9);
  EXPECT_EQ(number_of(row, "switches_used"), 0);
  EXPECT_EQ(row.metrics.at("busiest_link_level").substr(0, 9), "dimension");
}

}  // namespace
}  // namespace trnsim
