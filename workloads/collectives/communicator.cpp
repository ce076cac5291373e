#include "workloads/collectives/communicator.h"

#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/collectives/choice.h"

namespace trnsim {
namespace {

/// Streams of the collectives that a model uses; each has a DMA queue, and the first one another for what stays here.
std::uint8_t queue_of(std::uint8_t stream, std::uint8_t channel) {
  const auto first = static_cast<std::uint8_t>(Queue::kMessages);
  if (stream == 0) return channel == 0 ? first : static_cast<std::uint8_t>(Queue::kStage);
  const auto queue = static_cast<std::uint8_t>(first + stream);
  check(queue <= static_cast<std::uint8_t>(Queue::kMessages3), "the collectives of a model use three streams");
  return queue;
}

}  // namespace

void outline_of(const CollectiveCall& call, Seats& seats, const MachineSpec& machine, std::uint32_t lnc,
                collective::Outline& outline) {
  const CommMember& seat = seats.in(call.kind);
  const collective::Place& place = seat.group->place;
  const std::uint64_t bytes = call.task.elements * call.element_bytes;
  collective::Script script(seat.member);
  const collective::GroupShape& shape = seat.group->shape;
  collective::Task task = call.task;
  task.inner = inner_for(shape, task, machine.collective_rules);
  algorithm_for(place, shape, task, bytes, machine, call.forced).write(place, task, script);
  const auto core = [&](std::uint32_t member) { return core_of(seat.group->ranks, lnc, member); };
  collective::outline_of(script, core, seats.peers, outline);
}

Communicator::Communicator(KernelWriter& writer, Seats& seats, CommKind kind, const CommChoices& choices)
    : writer_(writer), seats_(seats), kind_(kind), choices_(choices) {
  for (const auto& [of, events] : seats.events) {
    for (collective::Event e = 0; of.first == kind && e < events; ++e) semaphore(of.second, e);
  }
}

Handle Communicator::run(Collective collective, CommSite site, std::uint64_t elements, std::uint64_t element_bytes,
                         Handle ready) {
  if (seat().ranks() == 1 || elements == 0) return ready;
  const std::uint64_t vector = ceil_div(elements, writer_.lnc()) * element_bytes;
  const std::uint64_t shard = ceil_div(ceil_div(elements, seat().ranks()), writer_.lnc()) * element_bytes;
  Handle done = stage(collective == Collective::kAllGather ? shard : vector, ready);
  done = steps(collective, site, elements, element_bytes, choices_.memory, done);
  return unstage(collective == Collective::kReduceScatter ? shard : vector, done);
}

Handle Communicator::run_in_hbm(Collective collective, CommSite site, std::uint64_t elements,
                                std::uint64_t element_bytes, Handle ready) {
  if (seat().ranks() == 1 || elements == 0) return ready;
  return steps(collective, site, elements, element_bytes, Space::kHbm, ready);
}

Handle Communicator::steps(Collective collective, CommSite site, std::uint64_t elements, std::uint64_t element_bytes,
                           Space memory, Handle ready) {
  CollectiveCall call;
  call.kind = kind_;
  call.site = site;
  call.task.collective = collective;
  call.task.elements = elements;
  call.task.slices = writer_.core().collective.slices;
  call.element_bytes = element_bytes;
  if (choices_.algorithm != nullptr && choices_.algorithm->carries_out(collective)) call.forced = choices_.algorithm;
  seats_.calls.push_back(call);
  collective::Outline outline;
  outline_of(call, seats_, writer_.machine(), writer_.lnc(), outline);
  std::vector<SemaphoreId> semaphores;
  for (collective::Event e = 0; e < outline.events; ++e) semaphores.push_back(semaphore(site, e));
  SegmentBuilder& segment = writer_.segment();
  const std::vector<Handle> ends =
      write_steps(outline, {element_bytes, memory, queue_of}, writer_.machine(), segment, semaphores, ready);
  return segment.emit(Engine::kCollective, Instruction{}, ends);
}

SemaphoreId Communicator::semaphore(CommSite site, collective::Event event) {
  const auto [found, fresh] = semaphores_.try_emplace({site, event}, 0);
  if (fresh) found->second = writer_.program().semaphore(WaitReason::kCollective);
  std::uint32_t& events = seats_.events[{kind_, site}];
  events = std::max(events, event + 1);
  return found->second;
}

Handle Communicator::stage(std::uint64_t bytes, Handle ready) {
  return copy(Space::kSbuf, Space::kHbm, bytes, ready);
}

Handle Communicator::unstage(std::uint64_t bytes, Handle arrived) {
  return copy(Space::kHbm, Space::kSbuf, bytes, arrived);
}

// Where messages leave from SBUF, there is nothing to bring anywhere.
Handle Communicator::copy(Space source, Space destination, std::uint64_t bytes, Handle ready) {
  if (choices_.memory == Space::kSbuf) return ready;
  return writer_.move(Engine::kCollective, Queue::kStage,
                      {.bytes = bytes,
                       .traffic = Traffic::kCollective,
                       .source = source,
                       .destination = destination,
                       .generation = DescriptorGeneration::kPrebuilt},
                      {ready});
}

Handle Communicator::exchange_rows(const Rows& rows, CommSite site, Handle ready) {
  const std::uint32_t others = seat().ranks() - 1;
  if (others == 0 || rows.row_bytes == 0) return ready;
  SegmentBuilder& segment = writer_.segment();
  const SemaphoreId arrival = semaphore(site, 0);
  for (std::uint32_t d = 0; d < others; ++d) {
    Transfer transfer = collective::prebuilt(choices_.memory, Bytes(rows.row_bytes));
    transfer.peer = rows.first_peer + d;
    transfer.queue = queue_of(0, d % 2);
    transfer.on_delivery = {arrival, 1};
    segment.dma(Engine::kCollective, transfer, Count::reg(rows.first_register + d), {ready});
  }
  segment.wait(Engine::kCollective, arrival, others);
  return segment.emit(Engine::kCollective, Instruction{});
}

}  // namespace trnsim
