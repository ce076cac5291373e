// A ring of pairs: two neighbouring ranks of a chip are one position. One core of the pair leads a channel and reads
// its partner's memory as well as its own: per pair and chunk, four touches of memory to reduce (three read, one
// written) and three to gather (one read, two written), where a ring of ranks has six and four. Channels take turns in
// who leads.
//
// Slots and credits as in a ring; before the lead gives a credit, the pair agrees: the lead asks, its partner answers.
#include <algorithm>
#include <array>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"
#include "workloads/collectives/algorithms/rings.h"

namespace trnsim::collective {
namespace {

/// What one channel does with one slice of every chunk.
struct Events {
  Event arrived, sent, kept, request, reply, credit;
  std::uint32_t unclaimed = 0;  ///< counts of `sent` that nobody has waited for
};

struct Channel {
  std::uint32_t number = 0;    ///< among all cores' channels
  std::uint32_t lead = 0;      ///< which of a pair leads
  std::vector<Pair> pairs;     ///< by position
  std::uint32_t position = 0;  ///< of the own pair
  std::vector<Events> slices;
};

class KangaRing {
 public:
  KangaRing(const Place& place, const Task& task, Script& script)
      : place_(place),
        task_(task),
        script_(script),
        shards_(place, task),
        by_chip_(ranks_by_chip(place)),
        lane_(script.member() % place.lanes),
        workers_(kPair * place.lanes),
        count_(ring_channels(place, workers_)),
        slot_(slot_elements(place, task)) {
    while (ready_.size() < std::min<std::size_t>(task.slices, kDataStreams)) ready_.push_back(script.event());
    started_.resize(ready_.size());
    const std::uint32_t rank = script.member() / place.lanes;
    const auto rings = chip_rings(place);
    for (std::uint32_t c = 0; c < count_; ++c) {
      if (c % workers_ / kPair == lane_) add_channel(c, rings[c % rings.size()], rank);
    }
    const Pair& pair = channels_.front().pairs[channels_.front().position];
    side_ = pair.ranks[0] == rank ? 0 : 1;
    partner_ = place.member(pair.ranks[1 - side_], lane_);
  }

  void run() {
    const bool reduces = task_.collective != Collective::kAllGather;
    const bool gathers = task_.collective != Collective::kReduceScatter;
    script_.reserve(steps());
    for (std::uint32_t s = 0; s < ready_.size(); ++s) script_.add(signal(partner_, ready_[s], 0, credit_stream(s)));
    if (reduces) {
      for (std::uint32_t step = 0; step < hops(); ++step) hop(step, &KangaRing::reduce_step);
    }
    each(true, [&](Channel& channel, std::uint32_t slice) { keep_own(channel, slice); });
    if (gathers) {
      for (std::uint32_t step = 0; step < hops(); ++step) hop(step, &KangaRing::gather_step);
    }
    finish(gathers);
  }

  /// Room for one chunk of one channel and slice.
  static std::uint64_t slot_elements(const Place& place, const Task& task) {
    const std::uint64_t chunk = task.collective == Collective::kAllReduce
                                    ? part_of({0, task.elements}, place.ranks / kPair, 0).count
                                    : kPair * Shards(place, task).largest();
    return part_of(part_of({0, chunk}, ring_channels(place, kPair * place.lanes), 0), task.slices, 0).count;
  }

 private:
  using MakeStep = Step (KangaRing::*)(const Channel&, std::uint32_t slice, std::uint32_t step) const;

  void add_channel(std::uint32_t number, const std::vector<std::uint32_t>& chips, std::uint32_t rank) {
    Channel channel;
    channel.number = number;
    channel.lead = number % kPair;
    channel.pairs = pairs_along(by_chip_, chips);
    while (std::ranges::find(channel.pairs[channel.position].ranks, rank) ==
           channel.pairs[channel.position].ranks.end()) {
      ++channel.position;
    }
    for (std::uint32_t slice = 0; slice < task_.slices; ++slice) {
      Events& events = channel.slices.emplace_back();
      for (Event* event :
           {&events.arrived, &events.sent, &events.kept, &events.request, &events.reply, &events.credit}) {
        *event = script_.event();
      }
    }
    channels_.push_back(std::move(channel));
  }

  [[nodiscard]] std::uint32_t hops() const { return place_.ranks / kPair - 1; }
  /// No more than this: twice round, with a message, a request and a credit, or with a reply, and the own chunk.
  [[nodiscard]] std::size_t steps() const {
    return kDataStreams + channels_.size() * task_.slices * (4 * std::size_t{hops()} + kPair);
  }
  [[nodiscard]] bool leads(const Channel& channel) const { return channel.lead == side_; }
  [[nodiscard]] const Pair& pair_behind(const Channel& channel, std::uint32_t distance) const {
    const std::uint64_t n = channel.pairs.size();
    return channel.pairs[(channel.position + 2 * n - distance) % n];
  }
  [[nodiscard]] std::uint32_t core(const Channel& channel, const Pair& pair, bool lead) const {
    return place_.member(pair.ranks[lead ? channel.lead : 1 - channel.lead], lane_);
  }

  /// The chunk of a pair: its two shards, which lie side by side; of an all-reduce, as equal as can be.
  [[nodiscard]] Part chunk(const Pair& pair) const {
    if (task_.collective == Collective::kAllReduce) {
      return part_of({0, task_.elements}, place_.ranks / kPair, pair.number);
    }
    return {shards_[pair.ranks[0]].first, shards_[pair.ranks[0]].count + shards_[pair.ranks[1]].count};
  }
  [[nodiscard]] Part chunk(const Channel& channel, std::uint32_t slice, const Pair& pair) const {
    return part_of(part_of(chunk(pair), count_, channel.number), task_.slices, slice);
  }

  [[nodiscard]] std::uint64_t slot(const Channel& channel, std::uint32_t slice, std::uint32_t step) const {
    return ((std::uint64_t{channel.number} * task_.slices + slice) * task_.slots + step % task_.slots) * slot_;
  }

  /// Slice by slice, the channels that the own core leads, or those that its partner leads.
  void each(bool leading, const auto& act) {
    for (std::uint32_t slice = 0; slice < task_.slices; ++slice) of_slice(slice, leading, act);
  }
  void of_slice(std::uint32_t slice, bool leading, const auto& act) {
    for (Channel& channel : channels_) {
      if (leads(channel) == leading) act(channel, slice);
    }
  }

  void hop(std::uint32_t step, MakeStep make) {
    for (std::uint32_t slice = 0; slice < task_.slices; ++slice) {
      if (step >= task_.slots && step < hops()) give_credits(slice);
      of_slice(slice, true, [&](Channel& channel, std::uint32_t s) { send(channel, s, step, make); });
    }
  }

  // Every round of the agreement for all channels before the next one, so that none waits behind another channel.
  void give_credits(std::uint32_t slice) {
    of_slice(slice, true, [&](Channel& channel, std::uint32_t s) {
      Events& events = channel.slices[s];
      Step request = signal(partner_, events.request, 0, credit_stream(s));
      const std::uint32_t later = task_.slots - kSlots;  // sent on from slots that the credit is not about
      request.waits[0] = {events.sent, events.unclaimed - later};
      events.unclaimed = later;
      script_.add(request);
    });
    of_slice(slice, false, [&](Channel& channel, std::uint32_t s) {
      Step reply = signal(partner_, channel.slices[s].reply, 0, credit_stream(s));
      reply.waits[0] = {channel.slices[s].request, 1};
      script_.add(reply);
    });
    of_slice(slice, true, [&](Channel& channel, std::uint32_t s) {
      Step credit = signal(core(channel, pair_behind(channel, 1), true), channel.slices[s].credit, 0, credit_stream(s));
      credit.waits[0] = {channel.slices[s].reply, 1};
      script_.add(credit);
    });
  }

  void send(Channel& channel, std::uint32_t slice, std::uint32_t step, MakeStep make) {
    Events& events = channel.slices[slice];
    Step message = (this->*make)(channel, slice, step);
    message.to = core(channel, pair_behind(channel, hops()), true);
    message.arrived = events.arrived;
    if (step >= task_.slots) message.waits[1] = {events.credit, 1};
    add_counted(channel, slice, message);
  }

  /// The own input and the partner's, added.
  [[nodiscard]] Step both_inputs(Part part, Buffer destination, std::uint64_t at) const {
    Step step = message(script_.member(), Buffer::kInput, part, destination, at);
    step.partner = partner_;
    step.operands[1] = one(Buffer::kInput, part.first);
    step.operands[1].partner = true;
    return step;
  }

  [[nodiscard]] Step reduce_step(const Channel& channel, std::uint32_t slice, std::uint32_t step) const {
    const Part part = chunk(channel, slice, pair_behind(channel, step + 1));
    Step message = both_inputs(part, Buffer::kScratch, slot(channel, slice, step));
    if (step > 0) add_arrived(message, channel, slice, step);
    return message;
  }
  /// Adds what came in the step before `step`, once it is there.
  void add_arrived(Step& sum, const Channel& channel, std::uint32_t slice, std::uint32_t step) const {
    sum.operands[2] = one(Buffer::kScratch, slot(channel, slice, step - 1));
    sum.waits[0] = {channel.slices[slice].arrived, 1};
  }

  [[nodiscard]] Step gather_step(const Channel& channel, std::uint32_t slice, std::uint32_t step) const {
    const Part part = chunk(channel, slice, pair_behind(channel, step));
    const Events& events = channel.slices[slice];
    Step copy = message(0, Buffer::kOutput, part, Buffer::kOutput, part.first);
    copy.copy_to = core(channel, pair_behind(channel, hops()), false);
    copy.waits[0] = step == 0 ? Wait{events.kept, kept_counts()} : Wait{events.arrived, 1};
    return copy;
  }

  /// Counts of Events::kept that each of a pair gets.
  [[nodiscard]] std::uint32_t kept_counts() const { return task_.collective == Collective::kAllGather ? kPair : 1; }

  /// The own chunk to both outputs, or of a reduce-scatter each rank's shard to its own.
  void keep_own(Channel& channel, std::uint32_t slice) {
    if (task_.collective == Collective::kAllReduce) keep_sum(channel, slice);
    if (task_.collective == Collective::kReduceScatter) keep_shares(channel, slice);
    if (task_.collective == Collective::kAllGather) keep_inputs(channel, slice);
  }

  void keep_sum(Channel& channel, std::uint32_t slice) {
    const Part part = chunk(channel, slice, channel.pairs[channel.position]);
    Step sum = both_inputs(part, Buffer::kOutput, part.first);
    sum.copy_to = partner_;
    if (hops() > 0) add_arrived(sum, channel, slice, hops());
    keep(channel, slice, sum);
  }

  // The partner's share comes last: when it is there, nothing of the partner's is read any more.
  void keep_shares(Channel& channel, std::uint32_t slice) {
    const Part whole = chunk(channel, slice, channel.pairs[channel.position]);
    for (const std::uint32_t side : {side_, 1 - side_}) {
      const Part shard = shards_[channel.pairs[channel.position].ranks[side]];
      const Part part = common(whole, shard);
      Step sum = both_inputs(part, Buffer::kOutput, part.first - shard.first);
      sum.to = side == side_ ? script_.member() : partner_;
      if (hops() > 0) add_arrived(sum, channel, slice, hops());
      sum.operands[2].first += part.first - whole.first;
      if (side != side_) sum.waits[0] = {};  // the own share has waited already
      keep(channel, slice, sum);
    }
  }

  void keep_inputs(Channel& channel, std::uint32_t slice) {
    const Part whole = chunk(channel, slice, channel.pairs[channel.position]);
    for (std::uint32_t side = 0; side < kPair; ++side) {
      const Part shard = shards_[channel.pairs[channel.position].ranks[side]];
      const Part part = common(whole, shard);
      Step copy = message(script_.member(), Buffer::kInput, seen_from(shard.first, part), Buffer::kOutput, part.first);
      copy.copy_to = partner_;
      copy.partner = partner_;
      copy.operands[0].partner = side != side_;
      keep(channel, slice, copy);
    }
  }

  [[nodiscard]] static Part common(Part a, Part b) {
    const std::uint64_t first = std::max(a.first, b.first);
    return {first, std::max(std::min(a.first + a.count, b.first + b.count), first) - first};
  }

  void keep(Channel& channel, std::uint32_t slice, Step step) {
    step.arrived = channel.slices[slice].kept;
    add_counted(channel, slice, step);
  }

  void add_counted(Channel& channel, std::uint32_t slice, Step step) {
    Events& events = channel.slices[slice];
    step.sent = events.sent;
    step.channel = static_cast<std::uint8_t>(channel.number / workers_);
    ++events.unclaimed;
    step.stream = data_stream(slice);
    if (!started_[step.stream]) step.waits[2] = {ready_[step.stream], 1};
    started_[step.stream] = true;
    script_.add(step);
  }

  void finish(bool gathers) {
    each(true, [&](Channel& channel, std::uint32_t slice) {
      const Events& events = channel.slices[slice];
      script_.finish(gathers && hops() > 0 ? Wait{events.arrived, 1} : Wait{events.kept, kept_counts()},
                     data_stream(slice));
      script_.finish({events.sent, events.unclaimed}, credit_stream(slice));
    });
    each(false, [&](Channel& channel, std::uint32_t slice) {
      script_.finish({channel.slices[slice].kept, kept_counts()}, data_stream(slice));
      if (gathers) script_.finish({channel.slices[slice].arrived, hops()}, data_stream(slice));
    });
  }

  const Place& place_;
  const Task& task_;
  Script& script_;
  Shards shards_;
  std::vector<std::vector<std::uint32_t>> by_chip_;
  std::uint32_t lane_;
  std::uint32_t workers_;  ///< cores of a pair
  std::uint32_t count_;    ///< channels of all cores of a pair
  std::uint64_t slot_;
  std::vector<Event> ready_;   ///< by data stream: the partner's input may be read
  std::vector<bool> started_;  ///< by data stream: has waited for that
  std::vector<Channel> channels_;
  std::uint32_t side_ = 0;
  std::uint32_t partner_ = 0;
};

std::string obstacle(const Place& place, const Task& task) {
  for (const auto& ranks : ranks_by_chip(place)) {
    if (ranks.size() % kPair != 0) return "kangaring needs an even number of ranks on every chip";
    for (std::size_t i = 0; task.collective != Collective::kAllReduce && i < ranks.size(); i += kPair) {
      if (ranks[i] + 1 != ranks[i + 1])
        return "kangaring needs neighbouring ranks of a chip to have neighbouring shards";
    }
  }
  return "";
}

void write(const Place& place, const Task& task, Script& script) {
  KangaRing(place, task, script).run();
}

std::uint64_t scratch(const Place& place, const Task& task) {
  if (task.collective == Collective::kAllGather || place.ranks == kPair) return 0;
  const std::uint64_t channels = ring_channels(place, kPair * place.lanes);
  return channels * task.slices * task.slots * KangaRing::slot_elements(place, task);
}

constexpr std::array kForms = {
    Form{Collective::kAllReduce, "n-2", "(n-2) S/n", "2 (n-2) S/(n L)"},
    Form{Collective::kAllGather, "n/2-1", "(n/2-1) S/n", "(n-2) S/(n L)"},
    Form{Collective::kReduceScatter, "n/2-1", "(n/2-1) S/n, <= S/(2 n) in the pair", "(n-2) S/(n L)"},
};

}  // namespace

constinit const Algorithm kKangaRing = {.name = "kangaring",
                                        .meaning = "a ring of pairs of ranks of a chip, which read each other's memory",
                                        .forms = kForms,
                                        .obstacle = obstacle,
                                        .write = write,
                                        .scratch = scratch};

}  // namespace trnsim::collective
