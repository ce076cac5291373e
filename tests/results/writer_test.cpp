#include "results/writer.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: SIGXFSZ
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <locale>

#include "models/mechanism/error.h"
#include "tests/results/folder.h"
#include "tests/results/sample_rows.h"

namespace trnsim {
namespace {

using sample::Folder;
using sample::read;

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PointsCsv, HasIdParametersStatusMetricsAndProvenanceInThatOrder) {
  const std::string text = points_csv({sample::rows()[0]});
  const std::string header = text.substr(0, text.find('\n'));
  EXPECT_TRUE(header.starts_with("id,platform,workload,precision,tp,batch_per_replica,status,error,latency_us,"));
  EXPECT_TRUE(header.ends_with(",fold_error_bound,fold,detail,version,input_hash"));
}

TEST(PointsCsv, AParameterThatIsAMetricHasOneColumnWithTheResolvedValue) {
  PointRow row;
  row.id = "a";
  row.swept = {{"dp", "auto"}};
  row.metrics["dp"] = "16";
  const std::string text = points_csv({row});
  EXPECT_TRUE(text.starts_with("id,dp,status,"));
  EXPECT_EQ(text.find(",dp,", 4), std::string::npos);
  EXPECT_NE(text.find("\na,16,ok,"), std::string::npos);
  row.metrics.clear();
  EXPECT_NE(points_csv({row}).find("\na,auto,ok,"), std::string::npos);
}

TEST(PointsCsv, ParametersAreTheUnionOverTheRows) {
  PointRow a, b;
  a.id = "a";
  a.swept = {{"x", "1"}};
  b.id = "b";
  b.swept = {{"y", "2"}, {"x", "3"}};
  const std::string text = points_csv({a, b});
  EXPECT_TRUE(text.starts_with("id,x,y,status,"));
  EXPECT_NE(text.find("\na,1,,ok,"), std::string::npos);
  EXPECT_NE(text.find("\nb,3,2,ok,"), std::string::npos);
}

TEST(PointsCsv, AMetricOutsideTheTableIsADefect) {
  PointRow row;
  row.metrics["speed"] = "1";
  EXPECT_THROW((void)points_csv({row}), InvariantError);
}

TEST(PointsCsv, ALongErrorIsCutWithinACsvLine) {
  PointRow row;
  row.id = "a";
  row.status = Status::kDeadlock;
  for (int i = 0; i < 30000; ++i) row.error += "é\n";
  const Folder folder;
  write_results(folder.path(), {row});
  const std::string back = read_results(folder.path())[0].error;
  EXPECT_LE(back.size(), 4096U);
  EXPECT_EQ(back.back(), '~');
}

TEST(Results, AreReadBackAsWritten) {
  const Folder folder;
  const auto rows = sample::rows();
  write_results(folder.path(), rows);
  const auto back = read_results(folder.path());
  ASSERT_EQ(back.size(), rows.size());
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {  // the last row has a line break, which becomes a space
    EXPECT_EQ(back[i].id, rows[i].id);
    EXPECT_EQ(back[i].swept, rows[i].swept);
    EXPECT_EQ(back[i].metrics.at("tokens_per_s"), rows[i].metrics.at("tokens_per_s"));
    EXPECT_EQ(back[i].parameters.columns, rows[i].parameters.columns);
    EXPECT_EQ(back[i].parameters.rows, rows[i].parameters.rows);
    EXPECT_EQ(back[i].run.rows, rows[i].run.rows);
  }
  EXPECT_EQ(back.back().id, rows.back().id);
  EXPECT_EQ(back.back().status, Status::kInfeasible);
}

TEST(Results, ReadBackAndWrittenAgainAreTheSameBytes) {
  const Folder first, second;
  write_results(first.path(), sample::rows());
  write_results(second.path(), read_results(first.path()));
  for (const char* file : {"points.csv", "engines.csv", "operators.csv", "links.csv", "parameters.csv", "run.csv"}) {
    EXPECT_EQ(read(first.path() / file), read(second.path() / file)) << file;
  }
}

TEST(Results, ParametersAreWrittenOnceAndThenWhatDiffers) {
  PointRow first;
  first.id = "first";
  first.parameters.columns = parameter_columns();
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    first.parameters.rows.push_back({name, "1", "W", "", "", "measured", "a paper", "x.csv:1"});
  }
  PointRow like = first, other = first, without = first;
  like.id = "like";
  like.parameters.rows[3][1] = "2";
  other.id = "other";
  for (auto& cells : other.parameters.rows) cells[7] = "y.csv:1";
  without.id = "without";
  without.parameters.rows.pop_back();
  PointRow equal = other;
  equal.id = "equal";
  const std::vector<PointRow> rows = {first, like, other, without, equal};
  const Folder folder;
  write_results(folder.path(), rows);
  const std::string text = read(folder.path() / "parameters.csv");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 5 + 2 + 5 + 4 + 1) << text;
  EXPECT_NE(text.find("\nlike,same as point,first,,,,,,\nlike,d,2,"), std::string::npos) << text;
  EXPECT_NE(text.find("\nequal,same as point,other,"), std::string::npos) << text;
  const auto back = read_results(folder.path(), {{"parameters.csv", &PointRow::parameters}});
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(back[i].parameters.rows, rows[i].parameters.rows) << i;
}

struct CommaForPoint : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

TEST(Results, DoNotDependOnTheLocale) {
  const std::string before = points_csv(sample::rows());
  const std::locale old = std::locale::global(std::locale(std::locale(), new CommaForPoint));
  const std::string after = points_csv(sample::rows());
  std::locale::global(old);
  EXPECT_EQ(after, before);
}

TEST(Results, OfAFolderWithoutAnyAreAnError) {
  const Folder folder;
  EXPECT_EQ(message_of([&] { (void)read_results(folder.path()); }),
            folder.path().string() + ": holds no results (no points.csv); name a folder that a run has written");
}

TEST(Results, DamagedFilesAreRefusedWithTheirPlace) {
  struct Case {
    const char *file, *what, *with;  ///< the first `what` becomes `with`; nullptr: the file ends before it
    const char* message;
  };
  const std::vector<Case> cases = {
      {"points.csv", ",error,", ",err,", "points.csv:1:1: no column 'error'"},
      {"points.csv", "latency_us", "latency_usec",
       "points.csv:1:66: unknown metric 'latency_usec'; did you mean latency_us?"},
      {"points.csv", "latency_us", "tp", "points.csv:1:66: duplicate column 'tp'; keep one"},
      {"points.csv", ",hbm,bf16,", ",hbm,bf16,fast", "is no number; peak_pflops is one"},
      {"points.csv", ",ok,,", ",okay,,", "unknown status 'okay'"},
      {"points.csv", "\ns1.2,", "\ns1.1,", "points.csv:3:1: duplicate point 's1.1', first in line 2; keep one"},
      {"parameters.csv", "s1.2,same as point,s1.1", "s1.2,same as point,s9",
       "parameters.csv:4:20: no point 's9' in points.csv"},
      {"parameters.csv", "s1.2,", nullptr,
       "parameters.csv:3:1: the file ends without point 's1.2' of points.csv, it was cut off"},
      {"parameters.csv", "wer,140", nullptr, "parameters.csv:3:6: the row ends before column"},
      {"parameters.csv", "csv:3", nullptr, "the line has no end, the file was cut off"},
      {"parameters.csv", "s1.1,chip.hbm", nullptr, "parameters.csv:1:1: the file ends without point 's1.1'"},
  };
  for (const Case& c : cases) {
    const Folder folder;
    write_results(folder.path(), sample::rows());
    std::string text = read(folder.path() / c.file);
    const std::size_t at = text.find(c.what);
    ASSERT_NE(at, std::string::npos) << c.what;
    if (c.with == nullptr) {
      text.resize(at);
    } else {
      text.replace(at, std::string_view(c.what).size(), c.with);
    }
    write_file(folder.path() / c.file, text);
    const std::string message = message_of([&] { (void)read_results(folder.path()); });
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Results, OnlyRegularFilesOfAJournalAreRead) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "rows");
  mkfifo((folder.path() / "rows" / "ab.row").c_str(), 0600);
  EXPECT_NE(message_of([&] { (void)read_results(folder.path()); }).find("holds no results"), std::string::npos);
}

TEST(WriteFile, ReplacesRegularFilesAloneAndFollowsLinks) {
  const Folder folder;
  write_file(folder.path() / "file", "old");
  std::filesystem::create_symlink("file", folder.path() / "link");
  std::filesystem::create_symlink("link", folder.path() / "second");
  std::filesystem::create_symlink("new", folder.path() / "dangling");
  std::filesystem::create_symlink("circle", folder.path() / "circle");
  mkfifo((folder.path() / "fifo").c_str(), 0600);
  write_file(folder.path() / "second", "new");
  write_file(folder.path() / "dangling", "made");
  EXPECT_EQ(read(folder.path() / "file"), "new");
  EXPECT_EQ(read(folder.path() / "new"), "made");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "second"));
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"fifo", "is no regular file"},
      {"/dev/null", "/dev/null: is no regular file"},
      {"", "is a directory"},
      {"circle", "circle: cannot write: Too many levels of symbolic links"},
      {std::string(300, 'x'), "cannot write: File name too long"}};
  for (const auto& [name, text] : refused) {
    const std::string message = message_of([&] { write_file(folder.path() / name, "x"); });
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
  EXPECT_TRUE(std::filesystem::is_fifo(folder.path() / "fifo"));
}

TEST(WriteFile, IntoAPlaceThatCannotBeWrittenNamesIt) {
  const Folder folder;
  write_file(folder.path() / "file", "x");
  const auto path = folder.path() / "file" / "points.csv";
  EXPECT_EQ(message_of([&] { write_file(path, "y"); }),
            path.string() + ": cannot write: Not a directory; name a folder that can be written");
}

TEST(WriteFile, ThatDoesNotFitLeavesTheOldFileAndNoRest) {
  const Folder folder;
  const auto path = folder.path() / "points.csv";
  write_file(path, "old");
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{4096, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = message_of([&] { write_file(path, std::string(10000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_NE(message.find("points.csv: cannot write: File too large"), std::string::npos) << message;
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace trnsim
