// All published measurements, run once: no class or group is worse than its bound or its record, and the page in docs/
// says what came out.
#include "sweeps/validation.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "results/validation/page.h"
#include "results/validation/plot.h"

namespace trnsim {
namespace {

std::string note(const char* name) {
  return std::string(TRNSIM_ROOT "/tests/validation/") + name;
}

const ValidationPage& run_once() {
  static const ValidationPage page = [] {
    Validation validation = read_validation(validation_files(), "", {});
    run_validation(validation, {.jobs = 2, .limit = {}}, [](std::size_t, const PointRow&, std::size_t) {});
    const Scores scores = score(validation.measurements, read_ladders(note("ladders.csv")));
    return ValidationPage{validation.measurements,
                          scores,
                          validation.calibrations,
                          read_exclusions(note("exclusions.csv")),
                          read_known_misses(note("known_misses.csv")),
                          leave_groups_out({.jobs = 2, .limit = {}})};
  }();
  return page;
}

std::string content(const std::string& file) {
  std::ifstream in(TRNSIM_ROOT "/docs/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Validation, NoSimulationFails) {
  for (const Measurement& m : run_once().measurements) {
    EXPECT_TRUE(m.status == "ok" || m.status == "refused" || m.status == "infeasible")
        << m.id << ": " << m.status << ": " << m.error;
  }
}

TEST(Validation, NothingIsWorseThanItsBoundOrItsRecord) {
  for (const std::string& sentence : contradictions(run_once().scores, run_once().known_misses)) {
    ADD_FAILURE() << sentence;
  }
}

TEST(Validation, ThePageIsCurrent) {
  EXPECT_EQ(content("validation.md"), validation_markdown(run_once())) << "run `trnsim validate --docs docs`";
  EXPECT_EQ(content("validation.svg"), validation_plot(run_once().measurements)) << "run `trnsim validate --docs docs`";
}

}  // namespace
}  // namespace trnsim
