// Broadcast along rings: every directed ring of the place carries its part of the vector from the root to the last one
// before it, slice by slice. Every link carries its part once, but the last rank is far: for large vectors.
#include <array>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"
#include "workloads/collectives/algorithms/rings.h"

namespace trnsim::collective {
namespace {

constexpr std::uint8_t kMessages = 0;
constexpr std::uint8_t kLocal = 1;

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

/// Every channel has a stream while there are enough: what comes round one way must not wait for the other way.
void write_channel(const Place& place, const Task& task, Script& script, const Channel& channel, Pen& pen) {
  const std::uint32_t lane = script.member() % place.lanes;
  const bool root = script.member() / place.lanes == task.root;
  for (std::uint32_t slice = 0; slice < task.slices; ++slice) {
    const Part whole = part_of({0, task.elements}, ring_channels(place, place.lanes), channel.number);
    const Part part = part_of(whole, task.slices, slice);
    Step step = message(place.member(channel.next, lane), root ? Buffer::kInput : Buffer::kOutput, part,
                        Buffer::kOutput, part.first);
    step.arrived = channel.arrived[slice];
    step.channel = kMessages;
    if (!root) pen.after(channel.arrived[slice]);
    if (!channel.last) pen.send(step);
    if (!root) continue;
    step.to = script.member();
    step.arrived = kNoEvent;
    step.channel = kLocal;
    pen.send(step);
  }
}

void write(const Place& place, const Task& task, Script& script) {
  const std::uint32_t rank = script.member() / place.lanes;
  const std::uint32_t lane = script.member() % place.lanes;
  const auto rings = rank_rings(place);
  std::vector<Pen> pens;
  for (std::uint8_t stream = 0; stream < kStreamCount; ++stream) pens.emplace_back(script, script.event(), stream);
  for (std::uint32_t c = lane; c < ring_channels(place, place.lanes); c += place.lanes) {
    Channel channel = channel_of(rings[c % rings.size()], rank, task, c);
    for (std::uint32_t slice = 0; slice < task.slices; ++slice) channel.arrived.push_back(script.event());
    write_channel(place, task, script, channel, pens[c / place.lanes % kStreamCount]);
  }
  for (Pen& pen : pens) pen.finish();
}

constexpr std::array kForms = {
    Form{Collective::kBroadcast, "n-1", "S", "(n+s-2) S/(s L), r = 1"},
};

}  // namespace

constinit const Algorithm kBroadcastChain = {.name = "broadcast_chain",
                                             .meaning = "from rank to rank along the rings, slice by slice",
                                             .forms = kForms,
                                             .obstacle = no_obstacle,
                                             .write = write,
                                             .scratch = no_scratch};

}  // namespace trnsim::collective
