// All-to-all in one step: every shard straight to its receiver, all released at once in order of distance.
#include <array>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {
namespace {

constexpr std::uint8_t kMessages = 0;
constexpr std::uint8_t kLocal = 1;

/// For one giver: where the shard for each receiver lies in the giver's input and in the receiver's output.
struct Shard {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t count = 0;
};

std::vector<Shard> equal_shards(const Place& place, const Task& task, std::uint32_t giver) {
  std::vector<Shard> shards;
  shards.reserve(place.ranks);
  for (std::uint32_t receiver = 0; receiver < place.ranks; ++receiver) {
    const Part part = part_of({0, task.elements}, place.ranks, receiver);
    shards.push_back({part.first, giver * part.count, part.count});
  }
  return shards;
}

std::vector<Shard> counted_shards(const Place& place, const Task& task, std::uint32_t giver) {
  const std::size_t n = place.ranks;
  std::vector<Shard> shards(n);
  for (std::size_t row = 0; row < giver; ++row) {
    for (std::size_t receiver = 0; receiver < n; ++receiver) shards[receiver].to += task.counts[row * n + receiver];
  }
  std::uint64_t from = 0;
  for (std::size_t receiver = 0; receiver < n; ++receiver) {
    const std::uint64_t count = task.counts[giver * n + receiver];
    shards[receiver].from = from;
    shards[receiver].count = count;
    from += count;
  }
  return shards;
}

Step shard_step(const Place& place, std::uint32_t receiver, std::uint32_t lane, const Shard& shard) {
  const Part part = lane_part({0, shard.count}, place.lanes, lane);
  return message(place.member(receiver, lane), Buffer::kInput, {shard.from + part.first, part.count}, Buffer::kOutput,
                 shard.to + part.first);
}

void write(const Place& place, const Task& task, Script& script) {
  const Event arrived = script.event();
  const Event sent = script.event();
  const std::uint32_t giver = script.member() / place.lanes;
  const std::uint32_t lane = script.member() % place.lanes;
  const std::vector<Shard> shards =
      task.counts.empty() ? equal_shards(place, task, giver) : counted_shards(place, task, giver);
  const std::vector<std::uint32_t> receivers = translations(place, giver);
  script.reserve(place.ranks);
  for (std::uint32_t index = 1; index < place.ranks; ++index) {
    const std::uint32_t receiver = receivers[index];
    Step step = shard_step(place, receiver, lane, shards[receiver]);
    step.arrived = arrived;
    step.sent = sent;
    step.channel = kMessages;
    script.add(step);
  }
  Step copy = shard_step(place, giver, lane, shards[giver]);
  copy.sent = sent;
  copy.channel = kLocal;
  script.add(copy);
  script.finish({arrived, place.ranks - 1});
  script.finish({sent, place.ranks});
}

constexpr std::array kForms = {
    Form{Collective::kAllToAll, "1", "(n-1) S/n", "r h S/L"},
};

}  // namespace

constinit const Algorithm kDirect = {.name = "direct",
                                     .meaning = "every shard straight to its receiver, all at once",
                                     .forms = kForms,
                                     .obstacle = no_obstacle,
                                     .write = write,
                                     .scratch = no_scratch};

}  // namespace trnsim::collective
