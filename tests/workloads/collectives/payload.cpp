#include "tests/workloads/collectives/payload.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>

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

struct Member {
  std::uint32_t id = 0;
  const Script* script = nullptr;
  std::size_t next = 0;  ///< step to be issued
  bool finished = false;
  std::vector<std::deque<std::uint32_t>> counts;        ///< by event: the depths of what was counted, in order
  std::map<std::uint8_t, std::deque<Flight>> to_leave;  ///< by channel
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::deque<Flight>> to_arrive;  ///< by channel and receiver
};

/// Something that can happen next.
struct Action {
  enum class Kind : std::uint8_t { kIssue, kLeave, kArrive } kind = Kind::kIssue;
  std::uint32_t member = 0;
  std::uint8_t channel = 0;
  std::uint32_t receiver = 0;
};

class Run {
 public:
  Run(const std::vector<Script>& scripts, const Place& place, const Task& task, std::uint64_t scratch,
      std::uint64_t seed)
      : place_(place), task_(task), memory_(place, task, scratch), random_(seed) {
    outcome_.members.resize(scripts.size());
    for (const Script& script : scripts) {
      Member& member = members_.emplace_back();
      member.id = script.member();
      member.script = &script;
      member.counts.resize(script.events());
      lazy_.push_back(random_() % 4 == 0);
      try_next(member);
    }
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
    if (action.kind == Action::Kind::kIssue) issue(member);
    if (action.kind == Action::Kind::kLeave) leave(member, action.channel);
    if (action.kind == Action::Kind::kArrive) arrive(member, action.channel, action.receiver);
  }

  [[nodiscard]] bool met(const Member& member, const Wait& wait) const {
    return wait.event == kNoEvent || member.counts[wait.event].size() >= wait.count;
  }

  /// Lets the member's next step, or its end, happen if all it waits for is there.
  void try_next(Member& member) {
    if (member.finished || issuing_.contains(member.id)) return;
    const auto& steps = member.script->steps();
    const bool ready =
        member.next < steps.size()
            ? std::ranges::all_of(steps[member.next].waits, [&](const Wait& w) { return met(member, w); })
            : std::ranges::all_of(member.script->last(), [&](const Wait& w) { return met(member, w); });
    if (!ready) return;
    issuing_.insert(member.id);
    actions_.push_back({.kind = Action::Kind::kIssue, .member = member.id, .channel = 0, .receiver = 0});
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

  void issue(Member& member) {
    issuing_.erase(member.id);
    const auto& steps = member.script->steps();
    if (member.next == steps.size()) {
      for (const Wait& wait : member.script->last()) {
        if (!met(member, wait)) return fail(member, "waits for the same counts twice at its end");
        take(member, wait);
      }
      member.finished = true;
      memory_.finish_lane(member.id / place_.lanes);
      return;
    }
    const Step& step = steps[member.next++];
    Flight flight;
    flight.step = &step;
    for (const Wait& wait : step.waits) depth_[member.id] = std::max(depth_[member.id], take(member, wait));
    flight.depth = depth_[member.id] + (is_message(member, step) ? 1 : 0);
    outcome_.depth = std::max(outcome_.depth, flight.depth);
    tally(member, step);
    memory_.begin(member.id, step);
    auto& queue = member.to_leave[step.channel];
    queue.push_back(std::move(flight));
    if (queue.size() == 1) {
      actions_.push_back(
          {.kind = Action::Kind::kLeave, .member = member.id, .channel = step.channel, .receiver = step.to});
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

  void leave(Member& member, std::uint8_t channel) {
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

  void arrive(Member& member, std::uint8_t channel, std::uint32_t receiver) {
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
  std::set<std::uint32_t> issuing_;  ///< members whose next step is among the actions
  std::map<std::uint32_t, std::uint32_t> depth_;
  std::vector<Action> actions_;
  Outcome outcome_;
};

/// Which members still have steps that would count the event.
std::string Run::missing(const Member& member, const Wait& wait) const {
  std::string text = "member " + std::to_string(member.id) + " waits for event " + std::to_string(wait.event) +
                     " (has " + std::to_string(member.counts[wait.event].size()) + " of " + std::to_string(wait.count) +
                     ") from";
  bool anybody = false;
  for (const Member& other : members_) {
    const auto& steps = other.script->steps();
    const bool gives =
        std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(other.next), steps.end(), [&](const Step& s) {
          const bool here = s.to == member.id || s.copy_to == member.id;
          return (here && s.arrived == wait.event) || (other.id == member.id && s.sent == wait.event);
        });
    if (gives) text += " " + std::to_string(other.id);
    anybody = anybody || gives;
  }
  return text + (anybody ? "\n" : " nobody\n");
}

std::string Run::deadlock() const {
  std::string text;
  for (const Member& member : members_) {
    if (member.finished) continue;
    const auto& steps = member.script->steps();
    const auto report = [&](const Wait& wait) {
      if (!met(member, wait)) text += missing(member, wait);
    };
    if (member.next < steps.size()) {
      std::ranges::for_each(steps[member.next].waits, report);
    } else {
      std::ranges::for_each(member.script->last(), report);
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
