// The hardware model as a whole, against times computed by hand. Expectations are written as the sum of their parts.
#include "models/system/simulation.h"

#include <gtest/gtest.h>

#include "models/mechanism/error.h"
#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

constexpr std::int64_t kNs = 1000;
constexpr std::int64_t kEntryAndExit = 9'000 * kNs;

RunRecord run(const MachineSpec& machine, const Job& job, SimulationOptions options = {}) {
  return simulate(machine, job, options);
}

TEST(Simulation, AnInstructionTakesEntryOccupancyCompletionAndExit) {
  const MachineSpec machine = small_machine();
  const auto program =
      program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(2000)); });
  // 2000 FP32 elements at 2 per 1 ns cycle + 80 ns to completion.
  EXPECT_EQ(run(machine, job_on(machine, program, {0})).elapsed, Time(kEntryAndExit + 1000 * kNs + 80 * kNs));
}

TEST(Simulation, ALaunchWaitsForEverythingBeforeAndPaysExitAndEntryAgain) {
  const MachineSpec machine = small_machine();
  ProgramBuilder builder("two launches");
  builder.call(builder.segment("first", [](SegmentBuilder& s) {
    s.emit(Engine::kVector, vector_copy(2000));
    s.emit(Engine::kScalar, vector_copy(10));
  }));
  builder.call(builder.segment("second", [](SegmentBuilder& s) { s.emit(Engine::kScalar, vector_copy(500)); }), true);
  // 1000 ns of vector and 80 ns to completion, then 500 ns of scalar and 110 ns to completion.
  EXPECT_EQ(run(machine, job_on(machine, builder.finish(), {0})).elapsed, Time(2 * kEntryAndExit + (1080 + 610) * kNs));
}

TEST(Simulation, AnEngineStartsASemaphoreLatencyAfterTheOneItWaitsFor) {
  const MachineSpec machine = small_machine();
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle first = s.emit(Engine::kTensor, bf16_matmul(200));
    s.emit(Engine::kVector, vector_copy(2000), {first});
  });
  EXPECT_EQ(run(machine, job_on(machine, program, {0})).elapsed,
            Time(kEntryAndExit + (100 + 150 + 30) * kNs + (1000 + 80) * kNs));
}

TEST(Simulation, AnIsolatedLoadTakesIssueDispatchDataAndNotify) {
  const MachineSpec machine = small_machine();
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {loaded});
  });
  // 1.6 MB over 16 engines of 10 GB/s = 10 us.
  EXPECT_EQ(run(machine, job_on(machine, program, {0})).elapsed,
            Time(kEntryAndExit + (600 + 700 + 10'000 + 300 + 300) * kNs + (1000 + 80) * kNs));
}

TEST(Simulation, WithoutHardwareGeneratorsALoadRunsFromAPrebuiltRing) {
  MachineSpec machine = small_machine();
  machine.dma.hardware_generators = 0;
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {loaded});
  });
  EXPECT_EQ(run(machine, job_on(machine, program, {0})).elapsed,
            Time(kEntryAndExit + (50 + 700 + 10'000 + 300 + 300) * kNs + (1000 + 80) * kNs));
}

std::shared_ptr<const Program> two_loads() {
  return program_of([&](ProgramBuilder&, SegmentBuilder& s) {
    const Handle first = s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
    const Handle second = s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {first, second});
  });
}

TEST(Simulation, TransfersOfOneQueueFollowEachOtherWhileItsRingHoldsThem) {
  MachineSpec machine = small_machine();
  machine.dma.ring_descriptors = 32;  // 16 each
  EXPECT_EQ(run(machine, job_on(machine, two_loads(), {0})).elapsed,
            Time(kEntryAndExit + (600 + 700 + 2 * 10'000 + 300 + 300) * kNs + (1000 + 80) * kNs));
}

TEST(Simulation, ATransferWaitsForRoomInTheRingOfItsQueue) {
  MachineSpec machine = small_machine();
  machine.dma.ring_descriptors = 16;  // the second waits until the first has been seen complete
  const RunRecord record = run(machine, job_on(machine, two_loads(), {0}));
  const std::int64_t one_load = 600 + 700 + 10'000 + 300 + 300;
  EXPECT_EQ(record.elapsed, Time(kEntryAndExit + 2 * one_load * kNs + (1000 + 80) * kNs));
  const TimeAccount& sync = record.engines[static_cast<std::size_t>(Engine::kSync)].sum;
  EXPECT_EQ(sync.stall[static_cast<std::size_t>(WaitReason::kDmaRing)], Time((one_load - 600) * kNs));
}

TEST(Simulation, ATransferOfMoreDescriptorsThanItsRingHoldsRunsAlone) {
  MachineSpec machine = small_machine();
  machine.dma.ring_descriptors = 4;
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {loaded});
  });
  EXPECT_EQ(run(machine, job_on(machine, program, {0})).elapsed,
            Time(kEntryAndExit + (600 + 700 + 10'000 + 300 + 300) * kNs + (1000 + 80) * kNs));
}

TEST(Simulation, TwoCoresOfOneStackShareItsBandwidth) {
  MachineSpec machine = small_machine();
  machine.hbm.bandwidth = BytesPerSecond(160'000'000'000);  // what one core's engines can take
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {loaded});
  });
  const Time alone = Time(kEntryAndExit + (600 + 700 + 10'000 + 300 + 300) * kNs + (1000 + 80) * kNs);
  EXPECT_EQ(run(machine, job_on(machine, program, {0, 1})).elapsed, alone + Time(10'000 * kNs));
}

TEST(Simulation, CoresOfDifferentStacksDoNotDisturbEachOther) {
  MachineSpec machine = small_machine();
  machine.hbm.bandwidth = BytesPerSecond(160'000'000'000);
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const Handle loaded = s.dma(Engine::kSync, load(1'600'000), Count::constant(1));
    s.emit(Engine::kVector, vector_copy(2000), {loaded});
  });
  EXPECT_EQ(run(machine, job_on(machine, program, {0, 2})).elapsed,
            Time(kEntryAndExit + (600 + 700 + 10'000 + 300 + 300) * kNs + (1000 + 80) * kNs));
}

/// Every core sends `bytes` from SBUF to SBUF of its peer and waits for what it gets.
std::shared_ptr<const Program> exchange(std::uint64_t bytes) {
  return program_of([bytes](ProgramBuilder& builder, SegmentBuilder& s) {
    const SemaphoreId arrived = builder.semaphore(WaitReason::kCollective);
    Transfer message = load(bytes, 12);
    message.peer = 0;
    message.generation = DescriptorGeneration::kPrebuilt;
    message.traffic = Traffic::kCollective;
    message.source = message.destination = Space::kSbuf;
    message.on_delivery = {arrived, 1};
    s.dma(Engine::kCollective, message, Count::constant(1));
    s.wait(Engine::kVector, arrived, 1);
    s.emit(Engine::kVector, vector_copy(2000));
  });
}

constexpr std::int64_t kSend = 25 + 700;       // message issue, step of the CC-cores
constexpr std::int64_t kReceive = 300 + 1080;  // notify, the copy that waited

TEST(Simulation, AMessageInsideTheChipPaysOneOnChipLatency) {
  const MachineSpec machine = small_machine();
  EXPECT_EQ(run(machine, job_on(machine, exchange(160'000), {0, 1})).elapsed,
            Time(kEntryAndExit + (kSend + 1000 + 150 + 100 + kReceive) * kNs));
}

TEST(Simulation, AMessageToTheNextChipIsCutThroughAtThePaceOfTheLink) {
  const MachineSpec machine = small_machine();
  // 160 kB: 1 us through the DMA engines, 1.6 us through the 100 GB/s link, which starts 150 ns after the engines.
  EXPECT_EQ(run(machine, job_on(machine, exchange(160'000), {0, 4})).elapsed,
            Time(kEntryAndExit + (kSend + 150 + 1600 + 400 + kReceive) * kNs));
}

TEST(Simulation, TwoMessagesOverOneLinkTakeTurns) {
  const MachineSpec machine = small_machine();
  Job job = job_on(machine, exchange(160'000), {0, 4});
  const Job second = job_on(machine, job.cores[0].program, {1, 5});
  for (std::uint32_t core : {1U, 5U}) {
    job.cores[core] = second.cores[core];
    job.replicas[0].cores.emplace_back(core);
  }
  EXPECT_EQ(run(machine, job).elapsed, Time(kEntryAndExit + (kSend + 150 + 2 * 1600 + 400 + kReceive) * kNs));
}

TEST(Simulation, AnEmptyMessageCostsLatencyOnlyAndOneLatencyNotTwo) {
  const MachineSpec machine = small_machine();
  const RunRecord record = run(machine, job_on(machine, exchange(0), {0, 4}));
  EXPECT_EQ(record.elapsed, Time(kEntryAndExit + (kSend + 150 + 400 + kReceive) * kNs));
  EXPECT_EQ(record.bytes_sent, 0U);
}

TEST(Simulation, BytesSentAreBytesReceivedAndLieOnTheLinks) {
  const MachineSpec machine = small_machine();
  const RunRecord record = run(machine, job_on(machine, exchange(12'345), {0, 4}));
  EXPECT_EQ(record.bytes_sent, 2U * 12'345);
  EXPECT_EQ(record.bytes_received, record.bytes_sent);
  EXPECT_EQ(record.activity.link_bytes, record.bytes_sent);
  EXPECT_EQ(record.simulated_transactions, 2U);
  ASSERT_EQ(record.links.size(), 2U);
  EXPECT_EQ(record.links[0].bytes, 12'345U);
}

TEST(Simulation, ALoopRunsAsOftenAsItsRegisterSays) {
  const MachineSpec machine = small_machine();
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const std::uint32_t trips = s.reserve_registers(1);
    s.loop(Count::reg(trips), [&] { s.emit(Engine::kVector, vector_copy(2000)); });
  });
  for (std::uint32_t trips : {3U}) {
    Job job = job_on(machine, program, {0});
    job.cores[0].registers = {trips};
    const RunRecord record = run(machine, job);
    EXPECT_EQ(record.activity.vector_elements, trips * 128U * 2000U);
    EXPECT_EQ(record.elapsed, Time(kEntryAndExit + (trips * 1000 + 80) * kNs));
  }
}

TEST(Simulation, ALoopOfZeroTripsIsSkippedAndWhatFollowsStillRuns) {
  const MachineSpec machine = small_machine();
  const auto program = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    const std::uint32_t trips = s.reserve_registers(1);
    s.loop(Count::reg(trips), [&] { s.emit(Engine::kVector, vector_copy(2000)); });
    s.emit(Engine::kVector, vector_copy(200));
  });
  Job job = job_on(machine, program, {0});
  job.cores[0].registers = {0};
  EXPECT_EQ(run(machine, job).elapsed, Time(kEntryAndExit + (100 + 80) * kNs));
}

TEST(Simulation, EveryPicosecondOfEveryEngineHasAName) {
  const MachineSpec machine = small_machine();
  const RunRecord record = run(machine, job_on(machine, exchange(160'000), {0, 4}));
  for (const EngineRecord& engine : record.engines) {
    EXPECT_EQ(engine.sum.total(), record.elapsed * static_cast<std::int64_t>(machine.cores()));
  }
  const auto& vector = record.engines[static_cast<std::size_t>(Engine::kVector)].sum;
  EXPECT_GT(vector.stall[static_cast<std::size_t>(WaitReason::kCollective)], Time());
}

TEST(Simulation, TileDetailTakesAsLongAsInstructionDetail) {
  const MachineSpec machine = small_machine();
  const auto program =
      program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kTensor, bf16_matmul(512, 1000)); });
  const RunRecord record =
      run(machine, job_on(machine, program, {0}), {.detail = Detail::kInstruction, .fold = Fold::kNone});
  EXPECT_EQ(record.elapsed, Time(kEntryAndExit + (256'000 + 150) * kNs));
  EXPECT_EQ(record.simulated_instructions, 1000U);
  EXPECT_EQ(record.simulated_instruction_events, 1000U);
}

TEST(Simulation, AProgramThatWaitsForeverIsReportedWithItsWaiter) {
  const MachineSpec machine = small_machine();
  const auto program = program_of([](ProgramBuilder& builder, SegmentBuilder& s) {
    s.wait(Engine::kVector, builder.semaphore(WaitReason::kCollective), 1);
    s.emit(Engine::kVector, vector_copy(100));
  });
  try {
    run(machine, job_on(machine, program, {0}));
    FAIL() << "a deadlock went unnoticed";
  } catch (const DeadlockError& error) {
    EXPECT_NE(std::string(error.what()).find("vector engine waits"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("collective"), std::string::npos) << error.what();
  }
}

TEST(Simulation, ASlowCoreSlowsItsOwnWork) {
  MachineSpec machine = small_machine();
  machine.core_clock_scale = {{0, 0.5}};
  const auto program =
      program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(2000)); });
  EXPECT_EQ(run(machine, job_on(machine, program, {0})).elapsed, Time(kEntryAndExit + 2 * 1080 * kNs));
}

TEST(Simulation, ASlowLinkSlowsItsMessages) {
  MachineSpec machine = small_machine();
  for (std::uint32_t link = 0; link < 8; ++link) machine.link_bandwidth_scale[link] = 0.5;
  EXPECT_EQ(run(machine, job_on(machine, exchange(160'000), {0, 4})).elapsed,
            Time(kEntryAndExit + (kSend + 150 + 3200 + 400 + kReceive) * kNs));
}

TEST(Simulation, IdleModulesChangeNothing) {
  const MachineSpec machine = small_machine();
  const RunRecord record = run(machine, job_on(machine, exchange(160'000), {0, 4}),
                               {.detail = Detail::kTile, .fold = Fold::kAuto, .idle_modules = 50});
  EXPECT_EQ(record.elapsed, Time(kEntryAndExit + (kSend + 150 + 1600 + 400 + kReceive) * kNs));
}

}  // namespace
}  // namespace trnsim
