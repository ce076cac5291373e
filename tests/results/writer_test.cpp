#include "results/writer.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT: SIGXFSZ
#include <sys/resource.h>

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

TEST(Results, AForeignPointsFileIsRefusedWithItsPlace) {
  const Folder folder;
  write_file(folder.path() / "points.csv", "id,status\na,ok\n");
  EXPECT_NE(message_of([&] { (void)read_results(folder.path()); }).find("points.csv:1:1: no column 'error'"),
            std::string::npos);
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
