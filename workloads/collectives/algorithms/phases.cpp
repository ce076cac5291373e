#include "workloads/collectives/algorithms/phases.h"

#include <algorithm>
#include <optional>

namespace trnsim::collective {
namespace {

using Streams = std::array<bool, kStreamCount>;

Streams streams_of(const Script& script) {
  Streams used{};
  for (const Step& step : script.steps()) used[step.stream] = true;
  for (const Last& last : script.last()) used[last.stream] = true;
  return used;
}

std::uint32_t number_of(const Streams& streams) {
  return static_cast<std::uint32_t>(std::ranges::count(streams, true));
}

/// The range of `view` that holds element `at`; the last one for an element behind all.
const Range& range_at(const View& view, std::uint64_t at) {
  auto behind = std::ranges::upper_bound(view.ranges, at, {}, &Range::from);
  return *std::prev(behind == view.ranges.begin() ? std::next(behind) : behind);
}

std::uint64_t real(const View& view, std::uint64_t at) {
  if (view.ranges.empty()) return at;
  const Range& range = range_at(view, at);
  return range.to + (at - range.from);
}

/// Elements from `at` on that lie in one piece.
std::uint64_t in_one_piece(const View& view, std::uint64_t at, std::uint64_t count) {
  if (view.ranges.empty()) return count;
  const Range& range = range_at(view, at);
  return std::min(count, range.from + range.count - at);
}

/// Carries the steps of one member over.
class Translator {
 public:
  Translator(const Phase& phase, const Script& part, Event first_event)
      : phase_(phase),
        lanes_(phase.place.lanes),
        own_(part.member() / lanes_),
        first_event_(first_event),
        views_(phase.ranks.size()) {}

  /// The pieces of `step` that lie in one range everywhere.
  std::vector<Step> pieces(const Step& step) {
    std::vector<Step> all;
    std::uint64_t done = 0;
    do {
      all.push_back(piece(step, done));
      done += all.back().count;
    } while (done < step.count);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) all[i].waits = {};
      if (i + 1 < all.size()) all[i].arrived = all[i].sent = kNoEvent;
      if (stays(all[i])) all[i].count = 0;
    }
    return all;
  }

  [[nodiscard]] Event event(Event event) const { return event == kNoEvent ? kNoEvent : event + first_event_; }

 private:
  [[nodiscard]] std::uint32_t member(std::uint32_t member) const {
    return member == kNobody ? kNobody : phase_.ranks[member / lanes_] * lanes_ + member % lanes_;
  }

  /// Each view is made once.
  const View& view(std::uint32_t rank, Buffer buffer) {
    if (buffer == Buffer::kScratch) return scratch_;
    auto& made = views_[rank][buffer == Buffer::kInput ? 0 : 1];
    if (!made) made = buffer == Buffer::kInput ? phase_.input(rank) : phase_.output(rank);
    return *made;
  }
  const View& view(const Step& step, const Operand& operand) {
    return view(operand.partner ? step.partner / lanes_ : own_, operand.buffer);
  }
  [[nodiscard]] std::uint64_t moved(const View& view, Buffer buffer, std::uint64_t at) const {
    return buffer == Buffer::kScratch ? phase_.scratch + at : real(view, at);
  }

  Step piece(const Step& step, std::uint64_t done) {
    Step piece = step;
    piece.to = member(step.to);
    piece.copy_to = member(step.copy_to);
    piece.partner = member(step.partner);
    piece.arrived = event(step.arrived);
    piece.sent = event(step.sent);
    for (Wait& wait : piece.waits) wait.event = event(wait.event);
    const View& target = view(step.to / lanes_, step.destination);
    piece.destination = target.buffer;
    piece.destination_first = moved(target, step.destination, step.destination_first + done);
    piece.count = in_one_piece(target, step.destination_first + done, step.count - done);
    for (Operand& operand : piece.operands) {
      if (operand.times == 0) continue;
      const View& source = view(step, operand);
      const std::uint64_t at = operand.first + done;
      piece.count = in_one_piece(source, at, piece.count);
      operand.first = moved(source, operand.buffer, at);
      operand.buffer = source.buffer;
    }
    return piece;
  }

  /// Whether the step would copy elements to where they are.
  [[nodiscard]] bool stays(const Step& step) const {
    const Operand& source = step.operands[0];
    const bool alone = step.operands[1].times == 0 && step.operands[2].times == 0 && step.copy_to == kNobody;
    return alone && !source.partner && step.to / lanes_ == phase_.ranks[own_] && source.buffer == step.destination &&
           source.first == step.destination_first;
  }

  const Phase& phase_;
  std::uint32_t lanes_;
  std::uint32_t own_;  ///< rank
  Event first_event_;
  View scratch_{.buffer = Buffer::kScratch, .ranges = {}};
  std::vector<std::array<std::optional<View>, 2>> views_;  ///< by rank: input and output
};

}  // namespace

void append(View& view, Part part) {
  const std::uint64_t from = view.ranges.empty() ? 0 : view.ranges.back().from + view.ranges.back().count;
  append(view.ranges, {from, part.first, part.count});
}

Phases::Phases(const Place& place, Script& script) : place_(place), script_(script) {
  for (std::uint8_t stream = 0; stream < kStreamCount; ++stream) pens_.emplace_back(script, kNoEvent, stream);
}

void Phases::run(const Phase& phase) {
  const std::uint32_t rank = script_.member() / place_.lanes;
  const auto own = static_cast<std::uint32_t>(std::ranges::find(phase.ranks, rank) - phase.ranks.begin());
  Script part(phase.place.member(own, script_.member() % place_.lanes));
  phase.algorithm->write(phase.place, phase.task, part);
  begin(part);
  Translator translator(phase, part, script_.events());
  for (Event event = 0; event < part.events(); ++event) script_.event();
  script_.reserve(script_.steps().size() + part.steps().size());
  for (const Step& step : part.steps()) {
    for (const Step& piece : translator.pieces(step)) pens_[step.stream].add(piece);
  }
  for (const Last& last : part.last()) pens_[last.stream].after(translator.event(last.wait.event), last.wait.count);
}

// Every stream of the phase waits for every stream of the one before in every lane of the rank. A single stream of a
// single lane is in order anyway.
void Phases::begin(const Script& part) {
  std::vector<Last> begun;  // what each stream waits for first
  const Streams next = streams_of(part);
  const std::uint32_t before = number_of(used_);
  const bool in_order = place_.lanes == 1 && before == 1 && next == used_;
  const std::uint32_t rank = script_.member() / place_.lanes;
  for (std::size_t to = 0; to < kStreamCount && before > 0 && !in_order; ++to) {
    if (!next[to]) continue;
    const Event ended = script_.event();
    for (std::size_t from = 0; from < kStreamCount; ++from) {
      if (!used_[from]) continue;
      for (std::uint32_t lane = 0; lane < place_.lanes; ++lane) {
        pens_[from].add(signal(place_.member(rank, lane), ended, 0));
      }
    }
    begun.push_back({{ended, place_.lanes * before}, static_cast<std::uint8_t>(to)});
  }
  for (const Last& begin : begun) pens_[begin.stream].after(begin.wait.event, begin.wait.count);
  used_ = next;
}

void Phases::finish() {
  for (Pen& pen : pens_) pen.finish();
}

}  // namespace trnsim::collective
