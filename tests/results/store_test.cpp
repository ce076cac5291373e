#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: kill
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "models/mechanism/error.h"
#include "results/writer.h"
#include "tests/results/folder.h"
#include "tests/results/sample_rows.h"

namespace trnsim {
namespace {

using sample::Folder;
using sample::read;

std::vector<std::string> ids(const std::vector<PointRow>& rows) {
  std::vector<std::string> list;
  for (const PointRow& row : rows) list.push_back(row.id);
  return list;
}

/// Runs `act` in a child and returns its wait status.
int in_child(const std::function<void()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Serialize, KeepsEveryByteOfARow) {
  PointRow row = sample::rows().back();
  row.error += std::string("\0,\"7:é", 7);
  const PointRow back = deserialize(serialize(row));
  EXPECT_EQ(serialize(back), serialize(row));
  EXPECT_EQ(back.error, row.error);
  EXPECT_EQ(back.parameters.rows, row.parameters.rows);
}

TEST(Serialize, ARowCutAnywhereIsRefused) {
  const std::string text = serialize(sample::rows()[0]);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW((void)deserialize(std::string_view(text).substr(0, size)), InputError) << size;
  }
  EXPECT_THROW((void)deserialize(text + "1:x,"), InputError);
}

TEST(PointStore, TheOrderOfFinishingDoesNotShow) {
  const auto rows = sample::rows();
  const Folder first, second;
  {
    PointStore store(first.path());
    for (std::size_t i = 0; i < rows.size(); ++i) store.append(i, rows[i]);
    store.finish(ids(rows));
  }
  {
    PointStore store(second.path());
    for (std::size_t i = rows.size(); i-- > 0;) store.append(i, rows[i]);
    store.finish(ids(rows));
  }
  for (const char* file : {"points.csv", "engines.csv", "operators.csv", "links.csv", "parameters.csv", "run.csv"}) {
    EXPECT_EQ(read(first.path() / file), read(second.path() / file)) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(first.path() / "rows"));
  EXPECT_FALSE(std::filesystem::exists(first.path() / ".lock"));
}

TEST(PointStore, ARunThatIsKilledLosesNothingThatWasFinished) {
  const auto rows = sample::rows();
  const Folder folder;
  in_child([&] {
    PointStore store(folder.path());
    for (std::size_t i = 0; i < 4; ++i) store.append(i, rows[i]);
    kill(getpid(), SIGKILL);
  });
  EXPECT_EQ(ids(read_results(folder.path())), (std::vector<std::string>{"s1.1", "s1.2", "s1.3", "s1.4"}));
  PointStore store(folder.path(), Reuse::kResume);
  EXPECT_EQ(store.finished().size(), 4U);
  for (std::size_t i = 4; i < rows.size(); ++i) store.append(i, rows[i]);
  EXPECT_EQ(ids(store.finish(ids(rows))), ids(rows));
}

TEST(PointStore, AnInterruptedRunKeepsItsRowsForTheNext) {
  const auto rows = sample::rows();
  const Folder folder;
  {
    PointStore store(folder.path());
    store.append(0, rows[0]);
    EXPECT_EQ(store.finish(ids(rows)).size(), 1U);
  }
  EXPECT_EQ(read_results(folder.path()).size(), 1U);
  PointStore store(folder.path(), Reuse::kResume);
  EXPECT_TRUE(store.finished().contains("s1.1"));
}

TEST(PointStore, AFreshRunForgetsTheOldOneAndTouchesNothingElse) {
  const auto rows = sample::rows();
  const Folder folder;
  write_results(folder.path(), rows);
  write_file(folder.path() / "notes.txt", "mine");
  write_file(folder.path() / "points.csv.77.tmp", "half");
  const PointStore store(folder.path());
  EXPECT_TRUE(store.finished().empty());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "points.csv.77.tmp"));
  EXPECT_EQ(read(folder.path() / "notes.txt"), "mine");
}

TEST(PointStore, TwoRunsIntoOneFolderAtOnceAreRefused) {
  const Folder folder;
  const PointStore store(folder.path());
  try {
    const PointStore second(folder.path());
    FAIL() << "two runs share a folder";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), folder.path().string() +
                                             ": another run is writing results here; wait until it ends or name "
                                             "another folder");
  }
}

TEST(PointStore, ChildrenAppendAndLeaveTheLockAlone) {
  const auto rows = sample::rows();
  const Folder folder;
  PointStore store(folder.path());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(in_child([&] { store.append(i, rows[i]); }), 0);
  EXPECT_EQ(store.finished().size(), 3U);
  EXPECT_THROW(PointStore second(folder.path()), InputError);
}

TEST(PointStore, TheSameIdReplacesItsRow) {
  auto row = sample::rows()[0];
  const Folder folder;
  PointStore store(folder.path());
  store.append(0, row);
  row.status = Status::kTimeout;
  store.append(0, row);
  EXPECT_EQ(store.finished().at(row.id).status, Status::kTimeout);
}

TEST(PointStore, ATornRowCountsAsNotFinished) {
  const Folder folder;
  PointStore store(folder.path());
  store.append(0, sample::rows()[0]);
  write_file(folder.path() / "rows" / "0.row", "1\ntrnsim row 1\n4:s1.");
  EXPECT_EQ(store.finished().size(), 1U);
}

TEST(PointStore, WhereNoFolderCanBeIsOneClearError) {
  const Folder folder;
  write_file(folder.path() / "file", "x");
  try {
    const PointStore store(folder.path() / "file" / "out");
    FAIL() << "a folder below a file";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), (folder.path() / "file" / "out").string() +
                                             ": cannot make the results folder: Not a directory; name a folder that "
                                             "can be written");
  }
}

}  // namespace
}  // namespace trnsim
