#include "tests/workloads/collectives/payload.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <span>

#include "tests/workloads/collectives/memory.h"
#include "tests/workloads/collectives/vectors.h"

namespace trnsim::test {
namespace {

using collective::Event;
using collective::kNobody;
using collective::kNoEvent;
using collective::Place;
using collective::Script;
using collective::Step;
using collective::Task;
using collective::Wait;

/// A step on its way: issued, then left (its sources are read), then arrived.
struct Flight {
  const Step* step = nullptr;
  std::uint32_t depth = 0;  ///< messages in the longest chain that ends with it
  std::vector<Value> values;
};

/// Steps that are issued in order, and then the waits at the end.
struct Stream {
  std::vector<const Step*> steps;
  std::vector<Wait> last;
  std::size_t next = 0;  ///< of the steps, then of the last waits
  bool issuing = false;  ///< what is next is among the actions
  bool finished = false;
  std::uint32_t depth = 0;  ///< messages in the longest chain that it has waited for
};

/// A channel of a stream.
using Channel = std::pair<std::uint8_t, std::uint8_t>;

struct Member {
  std::uint32_t id = 0;
  std::array<Stream, kStreamCount> streams;
  std::vector<std::deque<std::uint32_t>> counts;  ///< by event: the depths of what was counted, in order
  std::map<Channel, std::deque<Flight>> to_leave;
  std::map<std::pair<Channel, std::uint32_t>, std::deque<Flight>> to_arrive;  ///< by channel and receiver
};

Member member_of(const Script& script) {
  Member member;
  member.id = script.member();
  member.counts.resize(script.events());
  for (const Step& step : script.steps()) member.streams.at(step.stream).steps.push_back(&step);
  for (const collective::Last& end : script.last()) member.streams.at(end.stream).last.push_back(end.wait);
  return member;
}

/// Something that can happen next.
struct Action {
  enum class Kind : std::uint8_t { kIssue, kLeave, kArrive } kind = Kind::kIssue;
  std::uint32_t member = 0;
  Channel channel;
  std::uint32_t receiver = 0;
};

class Run {
 public:
  Run(const std::vector<Script>& scripts, const Place& place, const Task& task, std::uint64_t scratch,
      std::uint64_t seed)
      : place_(place), task_(task), memory_(place, task, scratch), random_(seed) {
    outcome_.members.resize(scripts.size());
    for (const Script& script : scripts) {
      members_.push_back(member_of(script));
      lazy_.push_back(random_() % 4 == 0);
    }
    for (Member& member : members_) try_next(member);
  }

  Outcome run() {
    while (outcome_.error.empty() && memory_.error().empty() && !actions_.empty()) act(draw());
    if (outcome_.error.empty()) outcome_.error = memory_.error();
    if (outcome_.error.empty()) outcome_.error = deadlock();
    if (outcome_.error.empty()) outcome_.error = leftovers();
    if (outcome_.error.empty()) outcome_.error = memory_.compare();
    return outcome_;
  }

 private:
  /// A lazy member seldom gets its turn, so that all others run as far ahead as they can.
  Action draw() {
    std::size_t index = random_() % actions_.size();
    for (int again = 0; again < 6 && lazy_[actions_[index].member]; ++again) index = random_() % actions_.size();
    const Action action = actions_[index];
    actions_[index] = actions_.back();
    actions_.pop_back();
    return action;
  }

  void act(const Action& action) {
    Member& member = members_[action.member];
    if (action.kind == Action::Kind::kIssue) issue(member, member.streams[action.channel.first]);
    if (action.kind == Action::Kind::kLeave) leave(member, action.channel);
    if (action.kind == Action::Kind::kArrive) arrive(member, action.channel, action.receiver);
  }

  [[nodiscard]] bool met(const Member& member, const Wait& wait) const {
    return wait.event == kNoEvent || member.counts[wait.event].size() >= wait.count;
  }

  /// What the stream waits for now: the waits of its next step, or, after all steps, one of the last after the other.
  [[nodiscard]] static std::span<const Wait> waits_for(const Stream& stream) {
    if (stream.next < stream.steps.size()) return stream.steps[stream.next]->waits;
    const std::size_t passed = stream.next - stream.steps.size();
    return passed < stream.last.size() ? std::span(stream.last).subspan(passed, 1) : std::span<const Wait>();
  }

  /// Lets the streams go on that have all they wait for.
  void try_next(Member& member) {
    for (std::uint8_t s = 0; s < kStreamCount; ++s) {
      Stream& stream = member.streams[s];
      if (stream.finished || stream.issuing) continue;
      if (!std::ranges::all_of(waits_for(stream), [&](const Wait& wait) { return met(member, wait); })) continue;
      stream.issuing = true;
      actions_.push_back({.kind = Action::Kind::kIssue, .member = member.id, .channel = {s, 0}, .receiver = 0});
    }
  }

  std::uint32_t take(Member& member, const Wait& wait) {
    std::uint32_t depth = 0;
    if (wait.event == kNoEvent) return depth;
    if (wait.count == 0) fail(member, "waits for no counts");
    auto& counts = member.counts[wait.event];
    for (std::uint32_t i = 0; i < wait.count && !counts.empty(); ++i) {
      depth = std::max(depth, counts.front());
      counts.pop_front();
    }
    return depth;
  }

  void fail(const Member& member, const std::string& what) {
    if (outcome_.error.empty()) outcome_.error = "member " + std::to_string(member.id) + " " + what;
  }

  void pass_last(Member& member, Stream& stream) {
    if (stream.next < stream.steps.size() + stream.last.size()) {
      take(member, waits_for(stream).front());
      ++stream.next;
      return try_next(member);
    }
    stream.finished = true;
    const bool all = std::ranges::all_of(member.streams, &Stream::finished);
    if (all) memory_.finish_lane(member.id / place_.lanes);
  }

  void issue(Member& member, Stream& stream) {
    stream.issuing = false;
    // Another stream may have taken what this one was about to take.
    if (!std::ranges::all_of(waits_for(stream), [&](const Wait& wait) { return met(member, wait); })) return;
    if (stream.next >= stream.steps.size()) return pass_last(member, stream);
    const Step& step = *stream.steps[stream.next];
    for (const Wait& wait : step.waits) stream.depth = std::max(stream.depth, take(member, wait));
    ++stream.next;
    Flight flight;
    flight.step = &step;
    flight.depth = stream.depth + (is_message(member, step) ? 1 : 0);
    outcome_.depth = std::max(outcome_.depth, flight.depth);
    tally(member, step);
    memory_.begin(member.id, step);
    const Channel channel = {step.stream, step.channel};
    auto& queue = member.to_leave[channel];
    queue.push_back(std::move(flight));
    if (queue.size() == 1) {
      actions_.push_back({.kind = Action::Kind::kLeave, .member = member.id, .channel = channel, .receiver = 0});
    }
    try_next(member);
  }

  [[nodiscard]] bool is_message(const Member& member, const Step& step) const {
    return step.count > 0 && step.to / place_.lanes != member.id / place_.lanes;
  }

  void tally(const Member& member, const Step& step) {
    MemberTally& tally = outcome_.members[member.id];
    if (step.count == 0) {
      ++tally.signals;
      return;
    }
    for (const auto& operand : step.operands) tally.touches += operand.times * step.count;
    tally.touches += step.count * (step.copy_to == kNobody ? 1 : 2);
    if (!is_message(member, step)) return;
    ++tally.messages;
    tally.sent += step.count;
    if (place_.chip[step.to / place_.lanes] != place_.chip[member.id / place_.lanes]) tally.left_chip += step.count;
  }

  void leave(Member& member, const Channel& channel) {
    auto& queue = member.to_leave[channel];
    Flight flight = std::move(queue.front());
    queue.pop_front();
    if (!queue.empty()) {
      actions_.push_back({.kind = Action::Kind::kLeave, .member = member.id, .channel = channel, .receiver = 0});
    }
    const Step& step = *flight.step;
    const std::uint32_t depth = flight.depth;
    flight.values = memory_.read(member.id, step);
    auto& arriving = member.to_arrive[{channel, step.to}];
    arriving.push_back(std::move(flight));
    if (arriving.size() == 1) {
      actions_.push_back({.kind = Action::Kind::kArrive, .member = member.id, .channel = channel, .receiver = step.to});
    }
    if (step.to / place_.lanes != member.id / place_.lanes) count(member.id, step.sent, depth);
  }

  void arrive(Member& member, const Channel& channel, std::uint32_t receiver) {
    auto& queue = member.to_arrive[{channel, receiver}];
    Flight flight = std::move(queue.front());
    queue.pop_front();
    if (!queue.empty()) {
      actions_.push_back(
          {.kind = Action::Kind::kArrive, .member = member.id, .channel = channel, .receiver = receiver});
    }
    const Step& step = *flight.step;
    memory_.write(step, std::move(flight.values));
    count(step.to, step.arrived, flight.depth);
    if (step.copy_to != kNobody) count(step.copy_to, step.arrived, flight.depth);
    if (step.to / place_.lanes == member.id / place_.lanes) count(member.id, step.sent, flight.depth);
  }

  void count(std::uint32_t to, Event event, std::uint32_t depth) {
    if (event == kNoEvent) return;
    members_[to].counts[event].push_back(depth);
    try_next(members_[to]);
  }

  [[nodiscard]] std::string deadlock() const;
  [[nodiscard]] std::string missing(const Member& member, const Wait& wait) const;
  [[nodiscard]] std::string leftovers() const;

  const Place& place_;
  const Task& task_;
  Memory memory_;
  std::mt19937_64 random_;
  std::vector<Member> members_;
  std::vector<bool> lazy_;
  std::vector<Action> actions_;
  Outcome outcome_;
};

/// Which members still have steps that would count the event.
std::string Run::missing(const Member& member, const Wait& wait) const {
  std::string text = "member " + std::to_string(member.id) + " waits for event " + std::to_string(wait.event) +
                     " (has " + std::to_string(member.counts[wait.event].size()) + " of " + std::to_string(wait.count) +
                     ") from";
  bool anybody = false;
  const auto gives = [&](const Member& giver, const Step& step) {
    const bool here = step.to == member.id || step.copy_to == member.id;
    return (here && step.arrived == wait.event) || (giver.id == member.id && step.sent == wait.event);
  };
  for (const Member& giver : members_) {
    const bool will = std::ranges::any_of(giver.streams, [&](const Stream& stream) {
      const auto begin = stream.steps.begin() + static_cast<std::ptrdiff_t>(std::min(stream.next, stream.steps.size()));
      return std::any_of(begin, stream.steps.end(), [&](const Step* step) { return gives(giver, *step); });
    });
    if (will) text += " " + std::to_string(giver.id);
    anybody = anybody || will;
  }
  return text + (anybody ? "\n" : " nobody\n");
}

std::string Run::deadlock() const {
  std::string text;
  for (const Member& member : members_) {
    for (const Stream& stream : member.streams) {
      for (const Wait& wait : waits_for(stream)) {
        if (!met(member, wait)) text += missing(member, wait);
      }
    }
  }
  return text.empty() ? "" : "deadlock\n" + text;
}

std::string Run::leftovers() const {
  for (const Member& member : members_) {
    for (std::size_t event = 0; event < member.counts.size(); ++event) {
      if (!member.counts[event].empty()) {
        return "member " + std::to_string(member.id) + " has " + std::to_string(member.counts[event].size()) +
               " counts of event " + std::to_string(event) + " left";
      }
    }
  }
  return "";
}

}  // namespace

MemberTally Outcome::rank(std::uint32_t rank, std::uint32_t lanes) const {
  MemberTally sum;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const MemberTally& member = members[rank * lanes + lane];
    sum.sent += member.sent;
    sum.left_chip += member.left_chip;
    sum.messages += member.messages;
    sum.signals += member.signals;
    sum.touches += member.touches;
  }
  return sum;
}

Outcome carry_out(const std::vector<Script>& scripts, const Place& place, const Task& task, std::uint64_t scratch,
                  std::uint64_t seed) {
  return Run(scripts, place, task, scratch, seed).run();
}

Outcome carry_out(const collective::Algorithm& algorithm, const Place& place, const Task& task, std::uint64_t seed) {
  std::vector<Script> scripts;
  for (std::uint32_t member = 0; member < place.members(); ++member) {
    algorithm.write(place, task, scripts.emplace_back(member));
  }
  for (const Script& script : scripts) {
    if (script.events() != scripts.front().events()) {
      return {.error = "members number their events differently", .depth = 0, .members = {}};
    }
  }
  return carry_out(scripts, place, task, algorithm.scratch(place, task), seed);
}

}  // namespace trnsim::test
