#include "sweeps/isolated.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <new>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

using End = Outcome::End;
using std::chrono::milliseconds;

TEST(Isolated, ReturnsWhatTheWorkReturned) {
  const Outcome outcome = run_isolated([] { return std::string("42"); });
  EXPECT_EQ(outcome.end, End::kReturned);
  EXPECT_EQ(outcome.text, "42");
}

TEST(Isolated, CarriesEmptyBinaryAndHugeResultsWhole) {
  EXPECT_EQ(run_isolated([] { return std::string(); }).text, "");
  const std::string binary("\0\n\xff,\"", 5);
  EXPECT_EQ(run_isolated([&] { return binary; }).text, binary);
  const std::string huge(64 << 20, 'x');  // a thousand times what a pipe holds
  EXPECT_EQ(run_isolated([&] { return huge; }).text, huge);
}

TEST(Isolated, TellsExceptionsApart) {
  const auto thrown = [](const std::function<void()>& work) {
    return run_isolated([&]() -> std::string {
      work();
      return "";
    });
  };
  EXPECT_EQ(thrown([] { throw InputError("a.csv:1:1: wrong; right"); }).end, End::kInputError);
  EXPECT_EQ(thrown([] { throw InputError("a.csv:1:1: wrong; right"); }).text, "a.csv:1:1: wrong; right");
  EXPECT_EQ(thrown([] { throw InfeasibleError("limit"); }).end, End::kInfeasible);
  EXPECT_EQ(thrown([] { throw DeadlockError("waiters"); }).end, End::kDeadlock);
  EXPECT_EQ(thrown([] { throw InvariantError("law"); }).end, End::kInvariant);
  EXPECT_EQ(thrown([] { throw std::bad_alloc(); }).end, End::kHostMemory);
  EXPECT_EQ(thrown([] { throw std::runtime_error("other"); }).end, End::kCrashed);
  EXPECT_EQ(thrown([] { throw 7; }).end, End::kCrashed);
}

TEST(Isolated, SurvivesAChildThatAbortsExitsOrIsKilled) {
  const Outcome aborted = run_isolated([]() -> std::string { std::abort(); });
  EXPECT_EQ(aborted.end, End::kCrashed);
  EXPECT_NE(aborted.text.find("signal 6"), std::string::npos) << aborted.text;

  const Outcome left = run_isolated([]() -> std::string { _exit(0); });
  EXPECT_EQ(left.end, End::kCrashed);
  EXPECT_NE(left.text.find("exit status 0"), std::string::npos) << left.text;

  const Outcome killed = run_isolated([]() -> std::string {
    std::raise(SIGKILL);  // as Linux does when memory runs out
    return "";
  });
  EXPECT_EQ(killed.end, End::kHostMemory);
}

TEST(Isolated, ARequestToStopIsForTheParentAndNoCrash) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const Outcome outcome = run_isolated([signal] {
      std::raise(signal);
      return std::string("done");
    });
    EXPECT_EQ(outcome.end, End::kReturned) << signal << ": " << outcome.text;
    EXPECT_EQ(outcome.text, "done");
  }
}

TEST(Isolated, KillsAChildWhoseTimeIsOver) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_isolated(
      []() -> std::string {
        while (true) pause();
      },
      milliseconds(100));
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(outcome.end, End::kTimeout);
  EXPECT_GE(took, milliseconds(100));
  EXPECT_LT(took, std::chrono::seconds(30));
}

TEST(Isolated, ChildPrintsNothingOnStandardOutput) {
  testing::internal::CaptureStdout();
  static_cast<void>(run_isolated([] {
    std::printf("noise");
    std::fflush(stdout);
    return std::string();
  }));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(ChildPool, OneThatDiesLeavesTheOthersAlone) {
  ChildPool pool(3);
  std::map<std::size_t, Outcome> ended;
  for (std::size_t task = 0; task < 7 || !pool.idle();) {
    while (task < 7 && pool.has_room()) {
      pool.start(task, [task]() -> std::string {
        if (task == 3) std::abort();
        return std::to_string(task * task);
      });
      ++task;
    }
    if (const std::optional<Outcome> outcome = pool.wait(1000)) ended[outcome->task] = *outcome;
  }
  ASSERT_EQ(ended.size(), 7U);
  for (const auto& [task, outcome] : ended) {
    EXPECT_EQ(outcome.end, task == 3 ? End::kCrashed : End::kReturned);
    if (task != 3) {
      EXPECT_EQ(outcome.text, std::to_string(task * task));
    }
  }
}

TEST(ChildPool, KillAllLeavesNoChild) {
  ChildPool pool(2);
  for (std::size_t task = 0; task < 2; ++task) {
    pool.start(task, []() -> std::string {
      while (true) pause();
    });
  }
  pool.kill_all();
  EXPECT_TRUE(pool.idle());
}

}  // namespace
}  // namespace trnsim
