#include <gtest/gtest.h>

#include "tests/sweeps/command.h"

namespace trnsim {
namespace {

const char* const kSweep =
    "platform,workload,tp,batch_per_replica,context,m\n"
    "trn2-48xlarge,gpt-oss-120b-decode,16|32,1|4,1024,\n"
    "trn2-48xlarge,gpt-oss-120b-decode,8,1,1024,\n"
    "trn3-ultraserver-gen1,gpt-oss-120b-decode,8,2,1024,\n"
    "trn2-48xlarge,matmul,,,,512|1024\n";

/// The files of a results folder that must not differ between equal runs.
std::vector<std::string> results_of(const std::string& options) {
  const Folder folder;
  const std::string file = folder.file("s.csv", kSweep);
  const Said said = finish_trnsim(
      folder, start_trnsim(folder, "sweep " + file + " --format csv --out " + folder.path("r") + " " + options));
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(lines(said.out), 9U);
  std::vector<std::string> contents = {said.out};
  for (const char* name : {"points.csv", "engines.csv", "operators.csv", "links.csv"}) {
    contents.push_back(folder.read(std::string("r/") + name));
    EXPECT_FALSE(contents.back().empty()) << name;
  }
  return contents;
}

TEST(Determinism, SameBytesForAnyNumberOfJobsAndWhenRepeated) {
  const std::vector<std::string> one = results_of("--jobs 1");
  EXPECT_EQ(results_of("--jobs 2"), one);
  EXPECT_EQ(results_of("--jobs 2"), one);
}

TEST(Determinism, TheLocaleOfTheUserChangesNothing) {
  const Said plain = trnsim_says("run --platform trn2-48xlarge --workload matmul --format csv");
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  const Said german = trnsim_says("run --platform trn2-48xlarge --workload matmul --format csv");
  unsetenv("LC_ALL");
  EXPECT_EQ(german.out, plain.out);
}

}  // namespace
}  // namespace trnsim
