#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: kill
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>

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

std::string refusal_of(const std::filesystem::path& folder) {
  try {
    const PointStore store(folder);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// Every file below `folder` with its bytes.
std::map<std::string, std::string> files_below(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    files[entry.path().string()] = entry.is_regular_file() ? read(entry.path()) : "";
  }
  return files;
}

TEST(PointStore, ARunThatIsKilledLosesNothingThatWasFinished) {
  const auto rows = sample::rows();
  const Folder folder;
  in_child([&] {
    PointStore store(folder.path());
    for (std::size_t i = 0; i < 4; ++i) store.append(i, rows[i]);
    kill(getpid(), SIGKILL);
  });
  const std::vector<std::string> finished = {"s1.1", "s1.2", "s1.3", "s1.4"};
  EXPECT_EQ(ids(read_results(folder.path())), finished);
  EXPECT_NE(refusal_of(folder.path()).find("holds the finished points of a run that was stopped; `trnsim report "),
            std::string::npos);
  EXPECT_EQ(ids(read_results(folder.path())), finished);
}

TEST(PointStore, AnInterruptedRunKeepsItsRows) {
  const auto rows = sample::rows();
  const Folder folder;
  {
    PointStore store(folder.path());
    store.append(0, rows[0]);
    EXPECT_EQ(store.finish(ids(rows)).size(), 1U);
  }
  EXPECT_EQ(read_results(folder.path()).size(), 1U);
  EXPECT_NE(refusal_of(folder.path()), "accepted");
}

TEST(PointStore, ResultsStayUntilTheRunThatReplacesThemHasFinished) {
  const auto rows = sample::rows();
  const Folder folder;
  write_results(folder.path(), {rows[1], rows[2]});
  write_file(folder.path() / "notes.txt", "mine");
  write_file(folder.path() / "points.csv.77.tmp", "half");
  const std::string before = read(folder.path() / "points.csv");
  {
    PointStore store(folder.path());
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "points.csv.77.tmp"));
    store.append(0, rows[0]);
    EXPECT_EQ(store.finish({rows[0].id, rows[1].id}).size(), 1U);  // stopped
    EXPECT_EQ(read(folder.path() / "points.csv"), before);
    EXPECT_EQ(ids(read_results(folder.path())), std::vector<std::string>{rows[0].id});
    store.append(1, rows[1]);
    EXPECT_EQ(store.finish({rows[0].id, rows[1].id}).size(), 2U);
  }
  EXPECT_EQ(ids(read_results(folder.path())), (std::vector<std::string>{rows[0].id, rows[1].id}));
  EXPECT_EQ(read(folder.path() / "notes.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "rows"));
}

TEST(PointStore, AFolderThatTrnsimDidNotWriteIsLeftAlone) {
  struct Case {
    const char* what;
    std::function<void(const std::filesystem::path&)> make;
    const char* names;
  };
  const std::vector<Case> cases = {
      {"any file", [](const auto& f) { write_file(f / "thesis.tex", "x"); }, "(thesis.tex)"},
      {"a points.csv of another program", [](const auto& f) { write_file(f / "points.csv", "x,y\n1,2\n"); },
       "(points.csv)"},
      {"a folder rows with files",
       [](const auto& f) {
         std::filesystem::create_directory(f / "rows");
         write_file(f / "rows" / "a.txt", "x");
       },
       "(rows/a.txt)"},
      {"results, and a user's folder rows",
       [](const auto& f) {
         write_results(f, {sample::rows()[0]});
         std::filesystem::create_directory(f / "rows");
         write_file(f / "rows" / "zebra.row", "x");
       },
       "(rows/zebra.row)"},
      {"results, and a FIFO in rows",
       [](const auto& f) {
         write_results(f, {sample::rows()[0]});
         std::filesystem::create_directory(f / "rows");
         mkfifo((f / "rows" / "ab.row").c_str(), 0600);
       },
       "(rows/ab.row)"},
  };
  for (const Case& c : cases) {
    const Folder folder;
    c.make(folder.path());
    const auto before = files_below(folder.path());
    const std::string message = refusal_of(folder.path());
    EXPECT_NE(message.find(c.names), std::string::npos) << c.what << ": " << message;
    EXPECT_NE(message.find("--out"), std::string::npos) << c.what << ": " << message;
    EXPECT_EQ(files_below(folder.path()), before) << c.what;
  }
}

TEST(PointStore, WhatARunKilledBeforeItsFirstPointLeavesIsNoHindrance) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "rows");
  write_file(folder.path() / "rows" / "ab.row.12.tmp", "1\ntrns");
  std::filesystem::create_directory(folder.path() / "rows.tmp");
  write_file(folder.path() / "rows.tmp" / "ab.row", "1\ntrns");
  write_file(folder.path() / ".lock", "");
  EXPECT_EQ(refusal_of(folder.path()), "accepted");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
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
  EXPECT_EQ(read_results(folder.path()).size(), 3U);
  EXPECT_THROW(PointStore second(folder.path()), InputError);
}

TEST(PointStore, TheSameIdReplacesItsRow) {
  auto row = sample::rows()[0];
  const Folder folder;
  PointStore store(folder.path());
  store.append(0, row);
  row.status = Status::kTimeout;
  store.append(0, row);
  EXPECT_EQ(read_results(folder.path()).at(0).status, Status::kTimeout);
}

TEST(PointStore, ATornRowCountsAsNotFinished) {
  const Folder folder;
  PointStore store(folder.path());
  store.append(0, sample::rows()[0]);
  write_file(folder.path() / "rows" / "0.row", "1\ntrnsim row 1\n4:s1.");
  EXPECT_EQ(read_results(folder.path()).size(), 1U);
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
