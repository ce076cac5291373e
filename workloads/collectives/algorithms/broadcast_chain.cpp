// Broadcast along rings: every directed ring of the place carries its part of the vector from the root to the last one
// before it, slice by slice. Every link carries its part once, but the last rank is far: for large vectors.
#include <array>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"
#include "workloads/collectives/algorithms/rings.h"

namespace trnsim::collective {
namespace {

struct Channel {
  std::uint32_t number = 0;
  std::uint32_t next = 0;      ///< rank
  bool last = false;           ///< the own rank is the end of the chain
  std::vector<Event> arrived;  ///< by slice
};

Channel channel_of(const std::vector<std::uint32_t>& ring, std::uint32_t rank, const Task& task, std::uint32_t number) {
  Channel channel;
  channel.number = number;
  std::size_t position = 0;
  while (ring[position] != rank) ++position;
  channel.next = ring[(position + 1) % ring.size()];
  channel.last = channel.next == task.root;
  return channel;
}

void write(const Place& place, const Task& task, Script& script) {
  Pen pen(script, script.event());
  const std::uint32_t rank = script.member() / place.lanes;
  const std::uint32_t lane = script.member() % place.lanes;
  const std::uint32_t count = ring_channels(place, place.lanes);
  const auto rings = rank_rings(place);
  std::vector<Channel> channels;
  for (std::uint32_t c = lane; c < count; c += place.lanes) {
    channels.push_back(channel_of(rings[c % rings.size()], rank, task, c));
    for (std::uint32_t slice = 0; slice < task.slices; ++slice) channels.back().arrived.push_back(script.event());
  }
  const Buffer source = rank == task.root ? Buffer::kInput : Buffer::kOutput;
  for (std::uint32_t slice = 0; slice < task.slices; ++slice) {
    for (const Channel& channel : channels) {
      const Part part = part_of(part_of({0, task.elements}, count, channel.number), task.slices, slice);
      Step step = message(place.member(channel.next, lane), source, part, Buffer::kOutput, part.first);
      step.arrived = channel.arrived[slice];
      step.channel = static_cast<std::uint8_t>(channel.number / place.lanes);
      if (rank != task.root) pen.after(channel.arrived[slice]);
      if (!channel.last) pen.send(step);
      if (rank != task.root) continue;
      step.to = script.member();
      step.arrived = kNoEvent;
      step.channel = static_cast<std::uint8_t>(count / place.lanes);
      pen.send(step);
    }
  }
  pen.finish();
}

constexpr std::array kForms = {
    Form{Collective::kBroadcast, "n-1", "S", "(n-1+s-1) S/(s B), s slices"},
};

}  // namespace

constinit const Algorithm kBroadcastChain = {.name = "broadcast_chain",
                                             .meaning = "from rank to rank along the rings, slice by slice",
                                             .forms = kForms,
                                             .obstacle = no_obstacle,
                                             .write = write,
                                             .scratch = no_scratch};

}  // namespace trnsim::collective
