// What the timeline of a run says, against programs written by hand.
#include "models/observe/timeline.h"

#include <gtest/gtest.h>

#include "models/mechanism/error.h"
#include "models/system/simulation.h"
#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

using Kind = TimelineSlice::Kind;
constexpr std::int64_t kNs = 1000;

RunRecord record(Timeline& timeline, const MachineSpec& machine, const Job& job, Detail detail = Detail::kTile) {
  SimulationOptions options;
  options.detail = detail;
  options.timeline = &timeline;
  return simulate(machine, job, options);
}

std::vector<TimelineSlice> of_track(const Timeline& timeline, std::size_t track) {
  std::vector<TimelineSlice> slices;
  for (const TimelineSlice& slice : timeline.slices()) {
    if (slice.track == track) slices.push_back(slice);
  }
  return slices;
}

std::vector<TimelineSlice> of(const Timeline& timeline, Engine engine) {
  return of_track(timeline, static_cast<std::size_t>(engine));
}

const TimelineSlice& cause_of(const Timeline& timeline, const TimelineSlice& stall) {
  return timeline.slices().at(stall.cause - 1);
}

/// A load, two matmuls when it is there, a copy when they are done.
std::shared_ptr<const Program> load_multiply_copy() {
  return program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(1'600'000, 5), Count::constant(1));
    const Handle product = s.emit(Engine::kTensor, bf16_matmul(200, 2), {loaded});
    s.emit(Engine::kVector, vector_copy(2000), {product});
  });
}

TEST(Timeline, AStallEndsWithTheSignalThatItWaitedFor) {
  const MachineSpec machine = small_machine();
  const Job job = job_on(machine, load_multiply_copy(), {0});
  Timeline timeline({});
  record(timeline, machine, job);
  const std::vector<TimelineSlice> tensor = of(timeline, Engine::kTensor);
  ASSERT_EQ(tensor.size(), 2U);
  EXPECT_EQ(tensor[0].kind, Kind::kStall);
  EXPECT_EQ(tensor[0].reason, WaitReason::kDma);
  EXPECT_EQ(cause_of(timeline, tensor[0]).kind, Kind::kTransfer);
  EXPECT_EQ(cause_of(timeline, tensor[0]).track, kEngineCount + 5);
  EXPECT_EQ(cause_of(timeline, tensor[0]).end + Time((300 + 300) * kNs), tensor[0].end);  // first byte, notify
  EXPECT_EQ(tensor[1].kind, Kind::kInstruction);
  EXPECT_EQ(tensor[1].count, 2U);
  EXPECT_EQ(tensor[1].start, tensor[0].end);
  const std::vector<TimelineSlice> vector = of(timeline, Engine::kVector);
  ASSERT_EQ(vector.size(), 2U);
  EXPECT_EQ(vector[0].reason, WaitReason::kEngine);
  EXPECT_EQ(cause_of(timeline, vector[0]).instruction->op, Op::kMatmul);
}

TEST(Timeline, AMessageEndsTheWaitOnTheOtherCore) {
  const MachineSpec machine = small_machine();
  const auto program = program_of([](ProgramBuilder& builder, SegmentBuilder& s) {
    const SemaphoreId arrived = builder.semaphore(WaitReason::kCollective);
    Transfer message = load(160'000, 12);
    message.peer = 0;
    message.source = message.destination = Space::kSbuf;
    message.on_delivery = {arrived, 1};
    s.dma(Engine::kCollective, message, Count::constant(1));
    s.wait(Engine::kVector, arrived, 1);
    s.emit(Engine::kVector, vector_copy(2000));
  });
  const Job job = job_on(machine, program, {0, 4});
  Timeline timeline({});
  record(timeline, machine, job);
  std::size_t stalls = 0;
  for (const TimelineSlice& slice : of(timeline, Engine::kVector)) {
    if (slice.kind != Kind::kStall) continue;
    ++stalls;
    ASSERT_NE(slice.cause, 0U);
    EXPECT_EQ(cause_of(timeline, slice).kind, Kind::kTransfer);
    EXPECT_NE(cause_of(timeline, slice).core, slice.core);
    EXPECT_LT(cause_of(timeline, slice).end, slice.end);
  }
  EXPECT_EQ(stalls, 2U);
}

TEST(Timeline, ShowsTheGapThatExposedCommunicationLeaves) {
  const MachineSpec machine = small_machine();
  const auto program = program_of([](ProgramBuilder& builder, SegmentBuilder& s) {
    const SemaphoreId arrived = builder.semaphore(WaitReason::kCollective);
    const Handle before = s.emit(Engine::kVector, vector_copy(2000));
    Transfer message = load(100'000'000, 12);  // a millisecond over a link of 100 GB/s
    message.peer = 0;
    message.on_delivery = {arrived, 1};
    s.dma(Engine::kCollective, message, Count::constant(1), {before});
    s.wait(Engine::kVector, arrived, 1);
    s.emit(Engine::kVector, vector_copy(2000));
  });
  const Job job = job_on(machine, program, {0, 4});
  Timeline timeline({.ranks = {0}});
  const RunRecord run = record(timeline, machine, job);
  const std::vector<TimelineSlice> vector = of(timeline, Engine::kVector);
  ASSERT_EQ(vector.size(), 3U);
  EXPECT_EQ(vector[1].kind, Kind::kStall);
  EXPECT_EQ(vector[1].reason, WaitReason::kCollective);
  EXPECT_EQ(vector[1].start, vector[0].end);
  EXPECT_EQ(vector[1].end, vector[2].start);
  // All that is neither entry, exit, a copy nor the completion of the last one.
  EXPECT_EQ(vector[1].end - vector[1].start, run.elapsed - Time((9'000 + 2 * 1'000 + 80) * kNs));
  EXPECT_GT(vector[1].end - vector[1].start, Time(1'000'000 * kNs));
}

TEST(Timeline, RoomInARingComesFromTheTransferThatLeftIt) {
  MachineSpec machine = small_machine();
  machine.dma.ring_descriptors = 16;
  const Job job = job_on(machine, program_of([](ProgramBuilder&, SegmentBuilder& s) {
                           s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
                           s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
                         }),
                         {0});
  Timeline timeline({});
  record(timeline, machine, job);
  const std::vector<TimelineSlice> sync = of(timeline, Engine::kSync);
  ASSERT_EQ(sync.size(), 3U);
  EXPECT_EQ(sync[1].reason, WaitReason::kDmaRing);
  EXPECT_EQ(cause_of(timeline, sync[1]).kind, Kind::kTransfer);
  EXPECT_EQ(of_track(timeline, kEngineCount).size(), 2U);
}

TEST(Timeline, AddsUpToTheCountersOfTheRun) {
  const MachineSpec machine = small_machine();
  const Job job = job_on(machine, load_multiply_copy(), {0, 1, 4});
  Timeline timeline({});
  const RunRecord run = record(timeline, machine, job, Detail::kInstruction);
  std::array<TimeAccount, kEngineCount> engines{};
  Time queues;
  for (const TimelineSlice& slice : timeline.slices()) {
    const Time length = slice.end - slice.start;
    if (slice.kind == Kind::kTransfer) {
      queues += length;
    } else if (slice.kind == Kind::kStall) {
      engines[slice.track].stall[static_cast<std::size_t>(slice.reason)] += length;
    } else {
      engines[slice.track].busy += length;
    }
  }
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    EXPECT_EQ(engines[e].busy, run.engines[e].sum.busy) << kEngineNames[e];
    EXPECT_EQ(engines[e].stall, run.engines[e].sum.stall) << kEngineNames[e];
  }
  EXPECT_EQ(queues, run.dma_queues.busy);
  EXPECT_LE(timeline.expected(), timeline.slices().size());
  EXPECT_GE(timeline.expected() * 2, timeline.slices().size());
}

TEST(Timeline, RecordingChangesNothing) {
  const MachineSpec machine = small_machine();
  const Job job = job_on(machine, load_multiply_copy(), {0});
  Timeline timeline({});
  // Entry, exit, the load, two matmuls with their completion and semaphore, the copy.
  EXPECT_EQ(record(timeline, machine, job).elapsed,
            Time((9'000 + 600 + 700 + 10'000 + 600 + 200 + 150 + 30 + 1080) * kNs));
}

TEST(Timeline, AWindowKeepsTheSlicesThatOverlapIt) {
  const MachineSpec machine = small_machine();
  const Job job = job_on(
      machine, program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(2000, 10)); }),
      {0});
  TimelineFilter filter;  // the copies start with the program, 1 us apart
  const Time first = small_machine().core.control.program_entry;
  filter.from = first + Time(2'500 * kNs);
  filter.to = first + Time(5'000 * kNs);
  Timeline timeline(filter);
  record(timeline, machine, job, Detail::kInstruction);
  ASSERT_EQ(timeline.slices().size(), 3U);  // of 2 to 3, 3 to 4 and 4 to 5 us
  EXPECT_EQ(timeline.slices()[0].start, first + Time(2'000 * kNs));
  EXPECT_EQ(timeline.slices()[2].end, first + Time(5'000 * kNs));
}

TEST(Timeline, OfOneRankIsOfItsCoresAlone) {
  const MachineSpec machine = small_machine();
  const Job job = job_on(machine, load_multiply_copy(), {0, 1, 2, 3});
  Timeline timeline({.ranks = {1}, .cores_per_rank = 2});
  record(timeline, machine, job);
  ASSERT_EQ(timeline.cores().size(), 2U);
  EXPECT_EQ(timeline.cores()[0]->core(), CoreId(2));
  EXPECT_EQ(timeline.cores()[1]->core(), CoreId(3));
}

/// Two replicas of one core each, on chips of their own: the second is counted.
Job two_replicas(const MachineSpec& machine) {
  Job job = job_on(machine, load_multiply_copy(), {0});
  job.cores[4] = job.cores[0];
  job.cores[4].peers = {CoreId(4)};
  job.replicas.push_back({{CoreId(4)}});
  return job;
}

std::string refusal(TimelineFilter filter) {
  const MachineSpec machine = small_machine();
  const Job job = two_replicas(machine);
  Timeline timeline(std::move(filter));
  try {
    record(timeline, machine, job);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Timeline, SaysForWhomASimulatedRankStands) {
  const MachineSpec machine = small_machine();
  const Job job = two_replicas(machine);
  Timeline timeline({});
  record(timeline, machine, job);
  ASSERT_EQ(timeline.cores().size(), 1U);
  EXPECT_EQ(timeline.cores()[0]->alike(), std::vector<CoreId>{CoreId(4)});
}

TEST(Timeline, ARankThatIsOnlyCountedIsRefusedWithTheOneThatIsSimulated) {
  EXPECT_NE(refusal({.ranks = {4}}).find("rank 0 does exactly the same"), std::string::npos);
}

TEST(Timeline, ARankThatIsNotThereIsRefusedWithThoseThatAre) {
  EXPECT_NE(refusal({.ranks = {99}}).find("the ranks are 0 to 4"), std::string::npos);
}

TEST(Timeline, MoreThanItMayHoldIsKnownBeforeTheRunOrStopsIt) {
  const MachineSpec machine = small_machine();
  const Job job = job_on(machine, load_multiply_copy(), {0});
  Timeline whole({.most_slices = 3});
  EXPECT_THROW(record(whole, machine, job), TimelineFull);
  EXPECT_TRUE(whole.too_much_expected());
  EXPECT_TRUE(whole.slices().empty());
}

TEST(Timeline, AWindowThatHoldsTooMuchStopsTheRun) {
  const MachineSpec machine = small_machine();
  const Job job = job_on(machine, load_multiply_copy(), {0});
  Timeline window({.to = Time(1'000'000'000), .most_slices = 3});
  EXPECT_ANY_THROW(record(window, machine, job));
  EXPECT_TRUE(window.full());
}

}  // namespace
}  // namespace trnsim
