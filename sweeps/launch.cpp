#include "sweeps/launch.h"

#include <array>

#include "models/mechanism/error.h"
#include "results/writer.h"
#include "sweeps/evaluate.h"
#include "sweeps/isolated.h"

namespace trnsim {
namespace {

constexpr int kPatienceMs = 200;           // how long Ctrl-C may go unnoticed
constexpr std::size_t kMaxMessage = 2000;  // a deadlock may name thousands of waiters

Status status_of(Outcome::End end) {
  switch (end) {
    case Outcome::End::kInfeasible:
      return Status::kInfeasible;
    case Outcome::End::kDeadlock:
      return Status::kDeadlock;
    case Outcome::End::kHostMemory:
      return Status::kHostMemory;
    case Outcome::End::kTimeout:
      return Status::kTimeout;
    default:
      return Status::kCrashed;
  }
}

PointRow row_of(const Point& point, const Outcome& outcome) {
  if (outcome.end == Outcome::End::kReturned) return deserialize(outcome.text);
  if (outcome.end == Outcome::End::kInputError) throw InputError(outcome.text);
  return failed_row(point, status_of(outcome.end), as_field(outcome.text));
}

/// While points run, SIGINT and SIGTERM ask to stop; before and after they end the program as usual.
class StopSignals {
 public:
  StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      before_[i] = std::signal(kSignals[i], [](int) { stop_requested = 1; });
  }
  ~StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
  std::array<void (*)(int), kSignals.size()> before_{};
};

}  // namespace

volatile std::sig_atomic_t stop_requested = 0;

bool launch(const std::vector<Point>& points, const LaunchOptions& options, const RowDone& row_done) {
  const StopSignals signals;
  ChildPool pool(options.jobs, options.limit);
  std::size_t next = 0;
  std::size_t done = 0;
  while (done < points.size()) {
    if (stop_requested != 0) return false;
    while (next < points.size() && pool.has_room()) {
      pool.start(next, [&point = points[next], trace = options.trace] { return serialize(evaluate(point, trace)); });
      ++next;
    }
    const std::optional<Outcome> outcome = pool.wait(kPatienceMs);
    if (!outcome) continue;
    ++done;
    if (outcome->end == Outcome::End::kInputError && options.refused) {
      options.refused(outcome->task, outcome->text, done);
    } else {
      row_done(outcome->task, row_of(points[outcome->task], *outcome), done);
    }
  }
  return true;
}

std::string as_field(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n' && c != '\r') {
      line += c;
    } else if (!line.ends_with("; ")) {
      line += "; ";
    }
  }
  while (line.ends_with("; ")) line.resize(line.size() - 2);
  if (line.size() <= kMaxMessage) return line;
  std::size_t cut = line.rfind("; ", kMaxMessage);
  if (cut == std::string::npos) cut = kMaxMessage;
  return line.substr(0, cut) + "; and " + std::to_string(line.size() - cut) + " more characters";
}

}  // namespace trnsim
