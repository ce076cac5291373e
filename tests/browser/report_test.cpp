// The report in a real browser: no error of any kind, and as many marks as there are results.
#include "results/report.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>

#include "results/series.h"
#include "results/writer.h"
#include "tests/results/folder.h"
#include "tests/results/sample_rows.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

/// The document after its scripts ran, as headless Chromium has it.
std::string dom_of(const fs::path& page, const fs::path& profile) {
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
      "--disable-component-update --disable-sync --disable-dev-shm-usage --user-data-dir='" +
      profile.string() + "' --virtual-time-budget=10000 --dump-dom 'file://" + page.string() + "' 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 65536> buffer;
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) text.append(buffer.data(), n);
  return text;
}

std::string attribute(const std::string& dom, const std::string& name) {
  std::smatch match;
  const std::string head = dom.substr(0, dom.find("<head"));
  return std::regex_search(head, match, std::regex(name + "=\"([^\"]*)\"")) ? match[1].str() : "absent";
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

std::string load(const std::vector<PointRow>& rows) {
  const sample::Folder folder;
  write_results(folder.path(), rows);
  const fs::path page = write_report(folder.path(), folder.path() / "page.html");
  return dom_of(page, folder.path() / "profile");
}

TEST(ReportInBrowser, DrawsEveryResultWithoutAnError) {
  const std::string dom = load(sample::rows());
  EXPECT_EQ(attribute(dom, "data-errors"), "0");
  EXPECT_EQ(attribute(dom, "data-points"), "15");  // 3 series of 5 batches
  // Beside the points: one bar of sustained FLOPs, 9 parts of power and 7 utilizations for each of 3 series.
  EXPECT_EQ(attribute(dom, "data-marks"), std::to_string(15 + 3 * (1 + 9 + 7)));
}

TEST(ReportInBrowser, ShowsBothPrecisionsOfAMachineAsSeparateCurves) {
  const std::string dom = load(sample::rows());
  EXPECT_GE(count(dom, "trn2-ultraserver · bf16"), 2U);
  EXPECT_GE(count(dom, "trn2-ultraserver · fp8_experts"), 2U);
}

TEST(ReportInBrowser, MarkupInIdsAndErrorsStaysText) {
  const std::string dom = load(sample::rows());
  EXPECT_EQ(attribute(dom, "data-errors"), "0");  // the id of one point would throw if it ran
  EXPECT_NE(dom.find("smallest tp that fits: 16 &lt;b&gt;&amp;amp;&lt;/script&gt; second line"), std::string::npos);
}

TEST(ReportInBrowser, ASweepOfKernelsHasNoFrontsButAPage) {
  std::vector<PointRow> rows = sample::rows();
  for (PointRow& row : rows) {
    row.metrics.erase("tokens_per_s_per_user");
    row.metrics.erase("tokens_per_s_per_mw");
  }
  const std::string dom = load(rows);
  EXPECT_EQ(attribute(dom, "data-errors"), "0");
  EXPECT_EQ(attribute(dom, "data-points"), "0");
  EXPECT_EQ(attribute(dom, "data-marks"), std::to_string(3 * (1 + 9 + 7)));
}

TEST(ReportInBrowser, ASweepInWhichNothingFitsStillGivesItsReasons) {
  const std::string dom = load({sample::rows().back()});
  EXPECT_EQ(attribute(dom, "data-errors"), "0");
  EXPECT_EQ(attribute(dom, "data-marks"), "0");
  EXPECT_NE(dom.find("weights need 108.8 GiB"), std::string::npos);
}

}  // namespace
}  // namespace trnsim
