#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "tests/sweeps/command.h"

namespace trnsim {
namespace {

/// Waits until the sweep's journal in `folder` holds a row.
bool has_a_row(const Folder& folder) {
  for (int i = 0; i < 600; ++i) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("r/rows"), error)) {
      if (entry.is_regular_file()) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST(Interrupt, CtrlCKeepsFinishedRowsAndExits130) {
  const Folder folder;
  const std::string file = folder.file("s.csv",
                                       "platform,workload,run.fold,batch_per_replica\n"
                                       "trn2-48xlarge,matmul,,\n"
                                       "trn3-ultraserver-gen2,gpt-oss-120b-decode,none,256|257|258|259\n");
  const pid_t pid = start_trnsim(folder, "sweep " + file + " --jobs 1 --out " + folder.path("r"));
  ASSERT_TRUE(has_a_row(folder));
  kill(pid, SIGINT);
  const Said said = finish_trnsim(folder, pid);
  EXPECT_EQ(said.status, 130) << said.err;
  EXPECT_NE(said.err.find("stopped: "), std::string::npos) << said.err;
  const std::size_t rows = lines(folder.read("r/points.csv"));
  EXPECT_GE(rows, 2U);
  EXPECT_LT(rows, 6U);
  EXPECT_NE(folder.read("r/points.csv").find("batch_per_replica"), std::string::npos);
  const Said again = finish_trnsim(folder, start_trnsim(folder, "sweep " + file + " --out " + folder.path("r")));
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.err.find("`trnsim report "), std::string::npos) << again.err;
  EXPECT_EQ(lines(folder.read("r/points.csv")), rows);
  EXPECT_EQ(trnsim_says("report " + folder.path("r")).status, 0);
}

TEST(Interrupt, WhileNoPointRunsASignalEndsTheProgramAtOnce) {
  const Folder folder;
  const std::string file = folder.file("s.csv", "platform,workload,m\ntrn2-48xlarge,matmul,1:10000:+1\n");
  for (const int number : {SIGINT, SIGTERM}) {
    // 10,000 lines do not fit into a pipe that nobody reads.
    const pid_t pid = start_trnsim(folder, "sweep " + file + " --dry-run > >(exec sleep 20)");
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    kill(pid, number);
    EXPECT_EQ(finish_trnsim(folder, pid).status, 128 + number);
  }
}

TEST(Interrupt, CtrlCEndsARun) {
  const Folder folder;
  const pid_t pid = start_trnsim(folder,
                                 "run --platform trn3-ultraserver-gen2 --workload gpt-oss-120b-decode --set "
                                 "run.fold=none --set batch_per_replica=256");
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  kill(pid, SIGINT);
  EXPECT_EQ(finish_trnsim(folder, pid).status, 130);
}

}  // namespace
}  // namespace trnsim
