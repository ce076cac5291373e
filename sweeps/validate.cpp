#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "models/mechanism/error.h"
#include "results/validation/page.h"
#include "results/validation/tables.h"
#include "results/writer.h"
#include "sweeps/commands.h"
#include "sweeps/progress.h"
#include "sweeps/text_table.h"
#include "sweeps/validation.h"

namespace trnsim {
namespace {

std::string note(const char* name) {
  return (std::filesystem::path(validation_folder()) / name).string();
}

void check_whole_run(const ValidateCommand& command, const char* option) {
  if (command.files.empty() && command.filter.empty() && command.settings.empty()) return;
  throw InputError(std::string(option) +
                   " is about the published measurements as they are; leave files, --filter and " + "--set out");
}

/// Runs the points, with a results folder if one is wanted. False if stopped.
bool run(Validation& validation, const ValidateCommand& command) {
  std::optional<PointStore> store;
  if (!command.out.empty()) store.emplace(command.out);
  std::vector<std::string> order;
  for (const Point& point : validation.points) order.push_back(point.id);
  Progress progress(validation.points.size());
  const bool complete = run_validation(validation, {command.jobs, command.limit},
                                       [&](std::size_t index, const PointRow& row, std::size_t done) {
                                         if (row.id.empty()) order[index].clear();
                                         if (store && !row.id.empty()) store->append(index, row);
                                         progress.show(done);
                                       });
  std::erase(order, "");
  if (store) store->finish(order);
  return complete;
}

std::string ladder_line(const LadderScore& ladder) {
  if (ladder.pairs == 0) return "";
  const bool order = ladder.order() >= kLadderOrder;
  const bool ratio = ladder.ratio_error() <= kLadderRatio;
  return "\nladders: " + percent(ladder.order()) + " of the pairs in the right order (bound " + percent(kLadderOrder) +
         ", " + (order ? "pass" : "FAIL") + "), median error of step-to-step ratios " + percent(ladder.ratio_error()) +
         " (bound " + percent(kLadderRatio) + ", " + (ratio ? "pass" : "FAIL") + ")\n";
}

/// Why points are misses, a line each.
std::string messages(const std::vector<Measurement>& measurements) {
  std::string text;
  for (const Measurement& m : measurements) {
    if (!m.predicted) text += m.id + ": " + m.status + ": " + m.error + "\n";
  }
  return text.empty() ? text : text + "\n";
}

std::string tables(const std::vector<Measurement>& measurements, const Scores& scores) {
  return aligned(point_rows(measurements), true) + "\n" + messages(measurements) +
         aligned(group_rows(scores.groups), true) + "\n" + aligned(class_rows(scores), true) +
         ladder_line(scores.all.ladder);
}

/// Adds to first_run.csv what is not there yet.
void record_first(std::vector<Measurement>& measurements) {
  FirstRun first(note("first_run.csv"));
  const std::size_t added = first.record(measurements);
  first.write();
  for (Measurement& m : measurements) m.first = first.predicted(m.id, m.metric);
  std::fprintf(stderr, "%zu predictions added to %s\n", added, note("first_run.csv").c_str());
}

/// 3 if a simulation failed, else 1 if a class is outside its bound.
int status_of(const Validation& validation, const Scores& scores) {
  const auto failed = [&](Status status) {
    return std::any_of(validation.measurements.begin(), validation.measurements.end(),
                       [&](const Measurement& m) { return m.status == name(status); });
  };
  for (const Status status : {Status::kDeadlock, Status::kTimeout, Status::kCrashed, Status::kHostMemory}) {
    if (failed(status)) return kSimulationFailed;
  }
  const bool pass =
      std::all_of(scores.classes.begin(), scores.classes.end(), [](const ClassScore& c) { return c.passes(); });
  return pass ? kGood : kCheckFailed;
}

}  // namespace

int validate(const ValidateCommand& command) {
  if (!command.docs.empty()) {
    check_whole_run(command, "--docs");
    if (!std::filesystem::is_directory(command.docs)) {
      throw InputError(command.docs + ": no such folder; name the one that validation.md shall stand in");
    }
  }
  if (command.record_first) check_whole_run(command, "--record-first");
  if (command.shrink_misses) check_whole_run(command, "--shrink-misses");
  Validation validation =
      read_validation(command.files.empty() ? validation_files() : command.files, command.filter, command.settings);
  const std::vector<Ladder> ladders = read_ladders(note("ladders.csv"));
  if (!run(validation, command)) {
    std::fputs("stopped\n", stderr);
    return kInterrupted;
  }
  if (command.record_first) record_first(validation.measurements);
  const Scores scores = score(validation.measurements, ladders);
  print(command.csv ? measurements_csv(validation.measurements) : tables(validation.measurements, scores));
  if (command.shrink_misses) {
    const std::string file = note("known_misses.csv");
    write_file(file, known_misses_csv(shrunk(read_known_misses(file), scores)));
  }
  if (!command.docs.empty()) {
    write_validation_page(
        command.docs,
        {validation.measurements, scores, validation.calibrations, read_exclusions(note("exclusions.csv")),
         read_known_misses(note("known_misses.csv")), leave_groups_out({command.jobs, command.limit})});
  }
  return status_of(validation, scores);
}

}  // namespace trnsim
