// Round a ring of all ranks, chunk by chunk: n-1 steps that add on the way, n-1 that hand on the sums. Every directed
// ring of the place is a channel with its own part of every chunk.
//
// Reductions arrive in scratch slots, two or more per channel and slice, that take turns. With two, a rank writes its
// step k+2 only when the next one has sent on what it got in step k and said so (a credit); gathering follows the same
// protocol.
#include <array>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"
#include "workloads/collectives/algorithms/rings.h"

namespace trnsim::collective {
namespace {

struct Channel {
  std::uint32_t number = 0;                          ///< among all lanes' channels
  std::vector<std::uint32_t> ranks;                  ///< by position
  std::uint32_t position = 0;                        ///< of the own rank
  std::vector<Event> arrived, sent, summed, credit;  ///< by slice
  std::vector<std::uint32_t> unclaimed;              ///< by slice: counts of `sent` that nobody has waited for
};

class Ring {
 public:
  Ring(const Place& place, const Task& task, Script& script)
      : place_(place),
        task_(task),
        script_(script),
        shards_(place, task),
        rank_(script.member() / place.lanes),
        lane_(script.member() % place.lanes),
        count_(ring_channels(place, place.lanes)),
        slot_(slot_elements(place, task)) {
    const auto rings = rank_rings(place);
    for (std::uint32_t c = lane_; c < count_; c += place.lanes) add_channel(c, rings[c % rings.size()]);
  }

  void run() {
    const bool reduces = task_.collective != Collective::kAllGather;
    const bool gathers = task_.collective != Collective::kReduceScatter;
    script_.reserve(steps());
    if (reduces) {
      for (std::uint32_t step = 0; step < hops(); ++step) hop(step, &Ring::reduce_step);
    }
    each([&](Channel& channel, std::uint32_t slice) { keep_own(channel, slice, reduces); });
    if (gathers) {
      for (std::uint32_t step = 0; step < hops(); ++step) hop(step, &Ring::gather_step);
    }
    finish(gathers);
  }

 private:
  using MakeStep = Step (Ring::*)(const Channel&, std::uint32_t slice, std::uint32_t step) const;

  void add_channel(std::uint32_t number, const std::vector<std::uint32_t>& ranks) {
    Channel channel;
    channel.number = number;
    channel.ranks = ranks;
    while (channel.ranks[channel.position] != rank_) ++channel.position;
    for (std::uint32_t slice = 0; slice < task_.slices; ++slice) {
      for (auto* events : {&channel.arrived, &channel.sent, &channel.summed, &channel.credit}) {
        events->push_back(script_.event());
      }
      channel.unclaimed.push_back(0);
    }
    channels_.push_back(std::move(channel));
  }

  [[nodiscard]] std::uint32_t hops() const { return place_.ranks - 1; }
  /// No more than this: twice round, with a credit for every message.
  [[nodiscard]] std::size_t steps() const { return channels_.size() * task_.slices * (4 * std::size_t{hops()} + 1); }
  [[nodiscard]] std::uint32_t rank_behind(const Channel& channel, std::uint32_t distance) const {
    return channel.ranks[(std::uint64_t{channel.position} + 2 * std::uint64_t{place_.ranks} - distance) % place_.ranks];
  }
  [[nodiscard]] std::uint32_t next(const Channel& channel) const { return rank_behind(channel, hops()); }

  /// What channel and slice carry of the shard of `rank`, as part of the vector.
  [[nodiscard]] Part chunk(const Channel& channel, std::uint32_t slice, std::uint32_t rank) const {
    return part_of(part_of(shards_[rank], count_, channel.number), task_.slices, slice);
  }
  [[nodiscard]] std::uint64_t slot(const Channel& channel, std::uint32_t slice, std::uint32_t step) const {
    return ((std::uint64_t{channel.number} * task_.slices + slice) * task_.slots + step % task_.slots) * slot_;
  }
  /// Where the input or output holds `part` of the own shard: the input of a gather and the output of a
  /// reduce-scatter are the shard alone.
  [[nodiscard]] std::uint64_t place_of_own(Part part, bool shard_alone) const {
    return shard_alone ? part.first - shards_[rank_].first : part.first;
  }

  void each(const auto& act) {
    for (std::uint32_t slice = 0; slice < task_.slices; ++slice) {
      for (Channel& channel : channels_) act(channel, slice);
    }
  }

  void hop(std::uint32_t step, MakeStep make) {
    each([&](Channel& channel, std::uint32_t slice) {
      if (step >= task_.slots && step < hops()) give_credit(channel, slice);
      send(channel, slice, step, make);
    });
  }

  void give_credit(Channel& channel, std::uint32_t slice) {
    Step credit = signal(place_.member(rank_behind(channel, 1), lane_), channel.credit[slice], 0, credit_stream(slice));
    const std::uint32_t later = task_.slots - kSlots;  // sent on from slots that the credit is not about
    credit.waits[0] = {channel.sent[slice], channel.unclaimed[slice] - later};
    channel.unclaimed[slice] = later;
    script_.add(credit);
  }

  void send(Channel& channel, std::uint32_t slice, std::uint32_t step, MakeStep make) {
    Step message = (this->*make)(channel, slice, step);
    message.to = place_.member(next(channel), lane_);
    message.channel = data_channel(channel);
    message.stream = data_stream(slice);
    message.arrived = channel.arrived[slice];
    message.sent = channel.sent[slice];
    ++channel.unclaimed[slice];
    if (step >= task_.slots) message.waits[1] = {channel.credit[slice], 1};
    script_.add(message);
  }

  [[nodiscard]] Step reduce_step(const Channel& channel, std::uint32_t slice, std::uint32_t step) const {
    const Part part = chunk(channel, slice, rank_behind(channel, step + 1));
    Step message = collective::message(0, Buffer::kInput, part, Buffer::kScratch, slot(channel, slice, step));
    if (step == 0) return message;
    message.operands[1] = one(Buffer::kScratch, slot(channel, slice, step - 1));
    message.waits[0] = {channel.arrived[slice], 1};
    return message;
  }

  [[nodiscard]] Step gather_step(const Channel& channel, std::uint32_t slice, std::uint32_t step) const {
    const Part part = chunk(channel, slice, rank_behind(channel, step));
    Step message = collective::message(0, Buffer::kOutput, part, Buffer::kOutput, part.first);
    message.waits[0] = {step == 0 ? channel.summed[slice] : channel.arrived[slice], 1};
    return message;
  }

  /// The own chunk to the own output: a copy, or the sum of what arrived last and the own input.
  void keep_own(Channel& channel, std::uint32_t slice, bool reduces) {
    const Part part = chunk(channel, slice, rank_);
    Step keep = message(script_.member(), Buffer::kInput,
                        {place_of_own(part, task_.collective == Collective::kAllGather), part.count}, Buffer::kOutput,
                        place_of_own(part, task_.collective == Collective::kReduceScatter));
    if (reduces && hops() > 0) {
      keep.operands[1] = one(Buffer::kScratch, slot(channel, slice, hops() - 1));
      keep.waits[0] = {channel.arrived[slice], 1};
    }
    keep.sent = channel.summed[slice];
    keep.channel = data_channel(channel);
    keep.stream = data_stream(slice);
    script_.add(keep);
  }

  void finish(bool gathers) {
    each([&](Channel& channel, std::uint32_t slice) {
      const bool handed_on = gathers && hops() > 0;
      script_.finish({handed_on ? channel.arrived[slice] : channel.summed[slice], 1}, data_stream(slice));
      script_.finish({channel.sent[slice], channel.unclaimed[slice]}, credit_stream(slice));
    });
  }

  [[nodiscard]] std::uint8_t data_channel(const Channel& channel) const {
    return static_cast<std::uint8_t>(channel.number / place_.lanes);
  }

 public:
  /// Room for one chunk of one channel and slice.
  static std::uint64_t slot_elements(const Place& place, const Task& task) {
    const Part channel = part_of({0, Shards(place, task).largest()}, ring_channels(place, place.lanes), 0);
    return part_of(channel, task.slices, 0).count;
  }

 private:
  const Place& place_;
  const Task& task_;
  Script& script_;
  Shards shards_;
  std::uint32_t rank_;
  std::uint32_t lane_;
  std::uint32_t count_;  ///< channels of all lanes
  std::uint64_t slot_;
  std::vector<Channel> channels_;
};

void write(const Place& place, const Task& task, Script& script) {
  Ring(place, task, script).run();
}

std::uint64_t scratch(const Place& place, const Task& task) {
  if (task.collective == Collective::kAllGather || place.ranks == 1) return 0;
  const std::uint64_t channels = ring_channels(place, place.lanes);
  return channels * task.slices * task.slots * Ring::slot_elements(place, task);
}

constexpr std::array kForms = {
    Form{Collective::kAllReduce, "2 (n-1)", "2 (n-1) S/n", "2 (n-1) S/(n L)"},
    Form{Collective::kAllGather, "n-1", "(n-1) S/n", "(n-1) S/(n L)"},
    Form{Collective::kReduceScatter, "n-1", "(n-1) S/n", "(n-1) S/(n L)"},
};

}  // namespace

constinit const Algorithm kRing = {
    .name = "ring",
    .meaning = "chunks go round: to be added on the way, to be handed to everybody, or both in turn",
    .forms = kForms,
    .obstacle = no_obstacle,
    .write = write,
    .scratch = scratch};

}  // namespace trnsim::collective
