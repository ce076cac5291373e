#include "models/observe/growth.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// Calls time(duration) for every sum of times but idle, which is what the others leave.
template <class Record, class Visit>
void for_each_time(Record& record, Visit time) {
  time(record.elapsed);
  for (auto& engine : record.engines) {
    time(engine.sum.busy);
    for (auto& stall : engine.sum.stall) time(stall);
    time(engine.busiest);
  }
  time(record.dma_queues.busy);
  time(record.dma_active);
  time(record.communication_busy_while_compute_idle);
  for (auto& op : record.operators) {
    for (auto& busy : op.busy) time(busy);
  }
  for (auto& link : record.links) time(link.busy);
}

std::vector<std::int64_t> times_of(const RunRecord& record) {
  std::vector<std::int64_t> times;
  for_each_time(record, [&](Time time) { times.push_back(time.count()); });
  return times;
}

bool equal_steps(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                 const std::vector<std::int64_t>& c) {
  if (a.size() != b.size() || b.size() != c.size()) return false;  // a link carried its first message
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (b[i] - a[i] != c[i] - b[i]) return false;
  }
  return true;
}

/// `record` with the links of `like`, those that it lacks without a byte.
RunRecord with_links(RunRecord record, const std::vector<LinkRecord>& like) {
  std::map<std::uint32_t, LinkRecord> own;
  for (const LinkRecord& link : record.links) own[link.number] = link;
  record.links.clear();
  for (const LinkRecord& link : like) record.links.push_back(own[link.number]);
  return record;
}

/// Adds steps to the numbers that a visitor comes to, in the order of the lists.
class Steps {
 public:
  Steps(std::vector<std::int64_t> from, std::vector<std::int64_t> to, const SkippedBlocks& skip)
      : from_(std::move(from)), to_(std::move(to)), skip_(skip) {
    check(from_.size() == to_.size(), "records of one run have the same operators");
  }
  [[nodiscard]] std::int64_t next() {
    const Wide step = to_[at_] - from_[at_];
    ++at_;
    return static_cast<std::int64_t>(step * skip_.skipped / skip_.blocks);
  }

 private:
  std::vector<std::int64_t> from_, to_;
  const SkippedBlocks& skip_;
  std::size_t at_ = 0;
};

class Shift {
 public:
  Shift(Time now, Time later) : now_(now), later_(later) {}

  /// What came first: before the skipped blocks, or behind.
  void first(Time& time) const {
    if (time != Time(INT64_MAX) && time > now_) time += later_;
  }
  /// What came last, given when it had at the two boundaries.
  void last(Time& time, Time from, Time to) const {
    if (time != Time(INT64_MIN) && (time > now_ || from != to)) time += later_;
  }
  void span(Span& span, const Span& from, const Span& to) const {
    first(span.first_start);
    last(span.last_start, from.last_start, to.last_start);
    last(span.end, from.end, to.end);
  }

 private:
  Time now_, later_;
};

/// Idle is what is left of `cores` times the elapsed time.
void settle_idle(TimeAccount& account, Time elapsed, std::int64_t cores) {
  account.idle = Time();
  account.idle = elapsed * cores - account.total();
}

}  // namespace

bool grows_equally(const RunRecord& a, const RunRecord& b, const RunRecord& c) {
  return equal_steps(times_of(a), times_of(b), times_of(c));
}

// An engine without work is idle all the time, on as many cores as it has none.
Time lead(const RunRecord& a, const RunRecord& b) {
  const std::int64_t passed = (b.elapsed - a.elapsed).count();
  std::int64_t most = 0;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    const std::int64_t idle = (b.engines[e].sum.idle - a.engines[e].sum.idle).count();
    const std::int64_t beyond = std::abs(idle) % passed;
    most = std::max(most, std::min(beyond, passed - beyond));
  }
  return Time(most / std::max<std::int64_t>(1, static_cast<std::int64_t>(b.cores_with_program)));
}

bool is_balanced(const RunRecord& a, const RunRecord& b) {
  const auto asked = [](const RunRecord& r) {
    return std::accumulate(r.operators.begin(), r.operators.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const OperatorRecord& op) { return sum + op.dma_bytes; });
  };
  const auto moved = [](const RunRecord& r) {
    return std::accumulate(r.activity.dma_bytes.begin(), r.activity.dma_bytes.end(), std::uint64_t{0});
  };
  return asked(b) - asked(a) == moved(b) - moved(a) &&
         b.bytes_sent - a.bytes_sent == b.bytes_received - a.bytes_received;
}

void add_skipped(RunRecord& record, const SkippedBlocks& skip) {
  const RunRecord from = with_links(skip.from, record.links);
  const RunRecord to = with_links(skip.to, record.links);
  const Time before = record.elapsed;
  Steps times(times_of(from), times_of(to), skip);
  for_each_time(record, [&](Time& time) { time += Time(times.next()); });
  const Shift shift(to.elapsed, record.elapsed - before);
  shift.first(record.limiter_opened);
  for (std::size_t o = 0; o < record.operators.size(); ++o) {
    OperatorRecord& op = record.operators[o];
    shift.first(op.first_trigger);
    shift.span(op.transfers, from.operators[o].transfers, to.operators[o].transfers);
    for (std::size_t e = 0; e < kEngineCount; ++e) {
      shift.span(op.spans[e], from.operators[o].spans[e], to.operators[o].spans[e]);
    }
  }
  const std::int64_t cores = (to.engines[0].sum.total().count()) / to.elapsed.count();
  for (EngineRecord& engine : record.engines) settle_idle(engine.sum, record.elapsed, cores);
  settle_idle(record.dma_queues, record.elapsed, static_cast<std::int64_t>(record.dma_queue_count));
}

}  // namespace trnsim
