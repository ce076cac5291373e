#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "models/mechanism/error.h"
#include "results/validation/notes.h"
#include "results/validation/page.h"
#include "results/validation/plot.h"
#include "results/validation/tables.h"
#include "tests/temporary_folder.h"

namespace trnsim {
namespace {

class ValidationNotes : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string content() {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "notes.csv").string();
};

Measurement point(const std::string& id, double expected, std::optional<double> predicted) {
  Measurement m;
  m.id = id;
  m.group = id.substr(0, 6);
  m.kind = "memory";
  m.metric = "duration_ns";
  m.expected = expected;
  m.bound = 0.05;
  m.predicted = predicted;
  m.status = predicted ? "ok" : "refused";
  return m;
}

TEST_F(ValidationNotes, LaddersAreStepsInTheirOrder) {
  const std::vector<Ladder> ladders = read_ladders(file("ladder,id,source\nA,x-1,s\nA,x-0,s\nB,y,s\n"));
  ASSERT_EQ(ladders.size(), 2U);
  EXPECT_EQ(ladders[0].steps, (std::vector<std::string>{"x-1", "x-0"}));
  EXPECT_EQ(ladders[1].name, "B");
}

TEST_F(ValidationNotes, TheFirstRunIsRecordedOnceAndNeverChanged) {
  file("id,metric,predicted\nM-T2-A,duration_ns,7.0\n");
  FirstRun first(path_);
  EXPECT_EQ(first.predicted("M-T2-A", "duration_ns"), 7);
  EXPECT_FALSE(first.predicted("M-T2-A", "latency_us").has_value());
  EXPECT_EQ(first.record({point("M-T2-A", 1, 9), point("M-T2-B", 1, 2.5), point("M-T2-C", 1, {})}), 1U);
  first.write();
  EXPECT_EQ(content(), "id,metric,predicted\nM-T2-A,duration_ns,7.0\nM-T2-B,duration_ns,2.5\n");
  EXPECT_EQ(FirstRun(path_).record({point("M-T2-B", 1, 3)}), 0U);
}

TEST_F(ValidationNotes, WrongRecordsAreRefusedWhereTheyStand) {
  const auto refusal = [&](const auto& read) -> std::string {
    try {
      static_cast<void>(read());
    } catch (const InputError& error) {
      return std::string(error.what()).substr(path_.size());
    }
    return "accepted";
  };
  file("scope,name,error,mechanism\nfile,x,1%,m\n");
  EXPECT_EQ(refusal([&] { return read_known_misses(path_); }), ":2:1: 'file' is no scope; use class or group");
  file("scope,name,error,mechanism\nclass,x,1,m\n");
  EXPECT_EQ(refusal([&] { return read_known_misses(path_); }),
            ":2:9: '1' is no error; write a percentage, such as 12.3%, or inf");
  file("scope,name,error,mechanism\nclass,x,1%,\n");
  EXPECT_TRUE(refusal([&] { return read_known_misses(path_); }).find("the mechanism is missing") != std::string::npos);
  file("id,metric,predicted\na,latency_us,fast\n");
  EXPECT_TRUE(refusal([&] { return FirstRun(path_); }).find("'fast' is no number") != std::string::npos);
  file("id,metric,predicted\na,latency_us,1\na,latency_us,2\n");
  EXPECT_TRUE(refusal([&] { return FirstRun(path_); }).find("a second first prediction") != std::string::npos);
}

TEST_F(ValidationNotes, KnownMissesMayOnlyShrink) {
  const Scores scores = score({point("M-T2-A", 100, 112)}, {});
  const auto with = [&](const std::string& rows) {
    return contradictions(scores, read_known_misses(file("scope,name,error,mechanism\n" + rows)));
  };
  EXPECT_TRUE(with("class,memory,12.0%,m\ngroup,M-T2-A,12.0%,m\n").empty());
  EXPECT_EQ(with("group,M-T2-A,12.0%,m\n"),
            (std::vector<std::string>{"class memory: error 12%, bound 5%, not among the known misses"}));
  ASSERT_EQ(with("class,memory,11%,m\ngroup,M-T2-A,12%,m\n").size(), 1U);
  EXPECT_TRUE(with("class,memory,11%,m\ngroup,M-T2-A,12%,m\n")[0].ends_with("it has become worse"));
  EXPECT_TRUE(with("class,memory,inf,m\ngroup,M-T2-A,12%,m\n")[0].ends_with("lower the record"));
  EXPECT_TRUE(with("class,memory,12%,m\ngroup,M-T2-A,12%,m\ngroup,B,9%,m\n")[0].ends_with("remove the row"));
  const Scores good = score({point("M-T2-A", 100, 101)}, {});
  EXPECT_TRUE(contradictions(good, {}).empty());
  EXPECT_TRUE(contradictions(good, {{"class", "memory", 0.12, "m", "f:2:1"}})[0].ends_with("remove the row"));
}

TEST_F(ValidationNotes, ShrinkingLowersAndRemovesButNeverAddsOrRaises) {
  Scores scores = score({point("M-T2-A", 100, 112), point("M-T2-B", 100, 130), point("M-T2-C", 100, 101)}, {});
  const std::vector<KnownMiss> known = {{"class", "memory", 0.11, "m, n", ""},
                                        {"group", "M-T2-B", 0.5, "b", ""},
                                        {"group", "M-T2-C", 0.06, "c", ""},
                                        {"group", "gone", 0.06, "d", ""}};
  EXPECT_EQ(known_misses_csv(shrunk(known, scores)),
            "scope,name,error,mechanism\nclass,memory,11%,\"m, n\"\ngroup,M-T2-B,30%,b\n");
}

TEST(Calibrations, NameThePointsThatTheyWereFittedOn) {
  Calibration calibration;
  calibration.source = "Fitted on K-T2-MM-v2-LAT, M-DMA-CURVE-32; not on I-T9-NO-1. A-list of K-means";
  find_points(calibration, {"K-T2-MM-v2-LAT", "K-T2-MM-v2", "M-DMA-CURVE-32", "M-DMA-CURVE-64"});
  EXPECT_EQ(calibration.points, (std::vector<std::string>{"K-T2-MM-v2-LAT", "M-DMA-CURVE-32"}));
  EXPECT_EQ(calibration.unknown, (std::vector<std::string>{"I-T9-NO-1"}));
}

TEST(ValidationTables, AMissShowsItsStatus) {
  const TextRows rows = point_rows({point("a", 216, 214.9), point("b", 39894.938, {})});
  EXPECT_EQ(rows[1], (std::vector<std::string>{"a", "duration_ns", "216", "214.9", "-0.5 %"}));
  EXPECT_EQ(rows[2], (std::vector<std::string>{"b", "duration_ns", "39895", "refused", "miss"}));
}

TEST(ValidationTables, CsvHasAllOfEachMeasurement) {
  Measurement m = point("a", 200, 210);
  m.roofline = 100;
  const std::string csv = measurements_csv({m, point("b", 1, {})});
  EXPECT_EQ(csv,
            "id,group,class,metric,expected,predicted,error,tolerance,roofline,first_run,fitted,status,message\n"
            "a,a,memory,duration_ns,200,210,0.05,0.05,100,,no,ok,\n"
            "b,b,memory,duration_ns,1,,,0.05,,,no,refused,\n");
}

TEST(ValidationPlot, SaysWhatItShowsAndHowMuchIsMissing) {
  const std::string svg = validation_plot({point("a<b", 216, 214.9), point("b", 400, {})});
  for (const char* part : {"role=\"img\"", "<title id=\"title\">Predicted against measured</title>",
                           "1 of 2 published measurements", "measured, µs", "predicted, µs", ">memory</text>",
                           "a&lt;b: measured 216, predicted 214.9 duration_ns (-0.5 %)", "±5 %"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(validation_plot({point("b", 400, {})}).find("nan"), std::string::npos);
}

TEST(ValidationPage, SaysWhatWasFittedFromTheSourcesAlone) {
  ValidationPage page;
  page.measurements = {point("M-T2-A", 100, 101)};
  page.scores = score(page.measurements, {});
  page.calibrations = {{"chip.x", "1", "ns", "trn2.csv:1", "press", {}, {}}};
  page.exclusions = {{"K-X", "no shape"}};
  EXPECT_NE(validation_markdown(page).find("No point of these files was used to fit any parameter"), std::string::npos);
  EXPECT_NE(validation_markdown(page).find("| K-X | no shape |"), std::string::npos);
  page.calibrations[0].points = {"M-T2-A"};
  EXPECT_NE(validation_markdown(page).find("Points of these groups were used: M-T2-A."), std::string::npos);
}

}  // namespace
}  // namespace trnsim
