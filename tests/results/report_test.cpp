#include "results/report.h"

#include <gtest/gtest.h>

#include <regex>

#include "results/writer.h"
#include "tests/results/folder.h"
#include "tests/results/sample_rows.h"

namespace trnsim {
namespace {

TEST(Report, SaysTheSameWheneverItIsWritten) {
  EXPECT_EQ(report_html("t", sample::rows()), report_html("t", sample::rows()));
}

TEST(Report, AsksNothingOfANetwork) {
  const std::string page = report_html("t", sample::rows());
  EXPECT_FALSE(std::regex_search(page.substr(0, page.find("<main")), std::regex("(src|href)=")));
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Report, TextFromResultsCannotEndItsElement) {
  const std::string page = report_html("</title><script>throw 1</script>", sample::rows());
  EXPECT_EQ(page.find("throw 1</script>"), std::string::npos);
  EXPECT_NE(page.find("<title>&lt;/title&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cscript>throw 1"), std::string::npos);
}

TEST(Report, BytesThatAreNoUtf8DoNotBreakThePage) {
  auto rows = sample::rows();
  rows[0].error = "bad \xff byte";
  EXPECT_NE(report_html("t", rows).find("bad \\ufffd byte"), std::string::npos);
}

TEST(Report, StandsBesideItsResultsUnlessTold) {
  const sample::Folder folder;
  write_results(folder.path(), sample::rows());
  EXPECT_EQ(write_report(folder.path()), folder.path() / "report.html");
  EXPECT_EQ(write_report(folder.path(), folder.path() / "x.html"), folder.path() / "x.html");
  EXPECT_EQ(sample::read(folder.path() / "report.html"), sample::read(folder.path() / "x.html"));
}

}  // namespace
}  // namespace trnsim
