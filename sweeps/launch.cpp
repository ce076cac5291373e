#include "sweeps/launch.h"

#include "models/mechanism/error.h"
#include "results/writer.h"
#include "sweeps/evaluate.h"
#include "sweeps/isolated.h"

namespace trnsim {
namespace {

constexpr int kPatienceMs = 200;  // how long Ctrl-C may go unnoticed

PointRow row_of(const Point& point, const Outcome& outcome) {
  switch (outcome.end) {
    case Outcome::End::kReturned:
      return deserialize(outcome.text);
    case Outcome::End::kInputError:
      throw InputError(outcome.text);
    case Outcome::End::kHostMemory:
      return failed_row(point, Status::kHostMemory, outcome.text);
    case Outcome::End::kCrashed:
      return failed_row(point, Status::kCrashed, outcome.text);
  }
  return failed_row(point, Status::kCrashed, outcome.text);
}

std::function<std::string()> work_of(const Point& point) {
  return [&point] { return serialize(evaluate(point)); };
}

}  // namespace

volatile int stop_requested = 0;

bool launch(const std::vector<Point>& points, std::size_t jobs, const RowDone& row_done) {
  ChildPool pool(jobs);
  std::size_t next = 0;
  std::size_t done = 0;
  while (done < points.size()) {
    if (stop_requested != 0) return false;
    while (next < points.size() && pool.has_room()) {
      pool.start(next, work_of(points[next]));
      ++next;
    }
    const std::optional<Outcome> outcome = pool.wait(kPatienceMs);
    if (!outcome) continue;
    const PointRow row = row_of(points[outcome->task], *outcome);
    row_done(outcome->task, row, ++done);
  }
  return true;
}

PointRow evaluate_isolated(const Point& point) { return row_of(point, run_isolated(work_of(point))); }

}  // namespace trnsim
