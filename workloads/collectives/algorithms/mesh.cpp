// Everybody to everybody at once: shards to their owners, who add them up; sums to everybody.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {
namespace {

constexpr std::uint8_t kMessages = 0;
constexpr std::uint8_t kLocal = 1;

/// All ranks, seen from `rank`, which comes first. The farthest come next, since their messages cross the most links;
/// each rank of a chip, and each lane, begins at another displacement, so that all links have work at once.
std::vector<std::uint32_t> far_first(const Place& place, std::uint32_t rank, std::uint32_t lane) {
  std::vector<std::uint32_t> peers = translations(place, rank);
  std::reverse(peers.begin() + 1, peers.end());
  const auto ranks = place.chip.begin();
  const auto local = static_cast<std::uint64_t>(std::count(ranks, ranks + rank, place.chip[rank]));
  const auto locals = static_cast<std::uint64_t>(std::count(ranks, place.chip.end(), place.chip[rank]));
  const std::uint64_t begin = (peers.size() - 1) * (local * place.lanes + lane) / (locals * place.lanes);
  std::rotate(peers.begin() + 1, peers.begin() + 1 + static_cast<std::ptrdiff_t>(begin), peers.end());
  return peers;
}

class Mesh {
 public:
  Mesh(const Place& place, const Task& task, Script& script)
      : place_(place),
        shards_(place, task),
        script_(script),
        rank_(script.member() / place.lanes),
        lane_(script.member() % place.lanes),
        others_(place.ranks - 1),
        peers_(far_first(place, rank_, lane_)) {}

  void all_reduce() {
    scatter(shards_[rank_].first);
    gather(Buffer::kOutput, shards_[rank_].first);
    finish();
  }

  void reduce_scatter() {
    scatter(0);
    script_.finish({summed_, 1});
    finish();
  }

  void all_gather() {
    const Part own = mine(rank_);
    gather(Buffer::kInput, 0);
    Step copy =
        message(script_.member(), Buffer::kInput, seen_from(shards_[rank_].first, own), Buffer::kOutput, own.first);
    copy.channel = kLocal;
    copy.sent = sent_;
    ++sends_;
    script_.add(copy);
    finish();
  }

 private:
  [[nodiscard]] Part mine(std::uint32_t rank) const { return lane_part(shards_[rank], place_.lanes, lane_); }

  /// Every shard into a slot at its owner, one for each of the other ranks. The sum goes to the own output,
  /// to element `at` + the lane's part.
  void scatter(std::uint64_t at) {
    for (std::uint32_t distance = 1; distance <= others_; ++distance) {
      const std::uint32_t owner = peers_[distance];
      const Part shard = shards_[owner];
      const Part part = mine(owner);
      const std::uint64_t among_others = rank_ - (rank_ > owner ? 1U : 0U);
      const std::uint64_t slot = among_others * shard.count + (part.first - shard.first);
      send(message(place_.member(owner, lane_), Buffer::kInput, part, Buffer::kScratch, slot), partial_);
    }
    const Part shard = shards_[rank_];
    const Part part = mine(rank_);
    const Part local = seen_from(shard.first, part);
    Step sum = message(script_.member(), Buffer::kInput, part, Buffer::kOutput, at + local.first);
    sum.operands[1] = {.buffer = Buffer::kScratch, .first = local.first, .stride = shard.count, .times = others_};
    sum.sent = summed_;
    sum.channel = kLocal;
    if (others_ > 0) sum.waits[0] = {partial_, others_};
    script_.add(sum);
  }

  /// The own shard, which begins at element `at` of `from`, to all others. From kOutput: once it is summed.
  void gather(Buffer from, std::uint64_t at) {
    const Part part = mine(rank_);
    const Part here = {at + (part.first - shards_[rank_].first), part.count};
    for (std::uint32_t distance = 1; distance <= others_; ++distance) {
      const std::uint32_t peer = peers_[distance];
      Step step = message(place_.member(peer, lane_), from, here, Buffer::kOutput, part.first);
      if (from == Buffer::kOutput && distance == 1) step.waits[0] = {summed_, 1};
      send(step, gathered_);
    }
    if (from == Buffer::kOutput && others_ == 0) script_.finish({summed_, 1});
    script_.finish({gathered_, others_});
  }

  void send(Step step, Event arrived) {
    step.arrived = arrived;
    step.sent = sent_;
    step.channel = kMessages;
    ++sends_;
    script_.add(step);
  }

  void finish() { script_.finish({sent_, sends_}); }

  const Place& place_;
  Shards shards_;
  Script& script_;
  std::uint32_t rank_;
  std::uint32_t lane_;
  std::uint32_t others_;
  std::vector<std::uint32_t> peers_;  ///< by distance
  std::uint32_t sends_ = 0;
  Event partial_ = script_.event();
  Event summed_ = script_.event();
  Event gathered_ = script_.event();
  Event sent_ = script_.event();
};

void write(const Place& place, const Task& task, Script& script) {
  Mesh mesh(place, task, script);
  if (task.collective == Collective::kAllReduce) mesh.all_reduce();
  if (task.collective == Collective::kReduceScatter) mesh.reduce_scatter();
  if (task.collective == Collective::kAllGather) mesh.all_gather();
}

std::uint64_t scratch(const Place& place, const Task& task) {
  if (task.collective == Collective::kAllGather) return 0;
  return (place.ranks - 1) * Shards(place, task).largest();
}

constexpr std::array kForms = {
    Form{Collective::kAllReduce, "2", "2 (n-1) S/n", "2 r h S/L"},
    Form{Collective::kAllGather, "1", "(n-1) S/n", "r h S/L"},
    Form{Collective::kReduceScatter, "1", "(n-1) S/n", "r h S/L"},
};

}  // namespace

constinit const Algorithm kMesh = {
    .name = "mesh",
    .meaning = "shards straight to whom they are for: to owners, who add them up, to everybody, or both in turn",
    .forms = kForms,
    .obstacle = no_obstacle,
    .write = write,
    .scratch = scratch};

}  // namespace trnsim::collective
