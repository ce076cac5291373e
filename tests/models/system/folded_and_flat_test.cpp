// What folding promises: the record of a folded run is that of a run in which every replica is simulated.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "models/system/folding.h"
#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

/// All that a run has counted of the machine, as text; what was simulated to get there left out.
std::string text_of(const RunRecord& record) {
  std::string text;
  const auto put = [&text](auto count) { text += std::to_string(count) + ' '; };
  put(record.elapsed.count());
  for (const EngineRecord& engine : record.engines) {
    put(engine.sum.busy.count());
    for (Time stall : engine.sum.stall) put(stall.count());
    put(engine.sum.idle.count());
    put(engine.busiest.count());
    put(engine.instructions);
  }
  put(record.dma_queues.busy.count());
  put(record.dma_queue_count);
  put(record.activity.vector_elements);
  put(record.activity.sbuf_bytes);
  put(record.activity.hbm_read_bytes);
  put(record.activity.hbm_write_bytes);
  put(record.activity.link_bytes);
  put(record.activity.switch_bytes);
  put(record.bytes_sent);
  put(record.bytes_received);
  put(record.communication_busy_while_compute_idle.count());
  put(record.cores_with_program);
  for (const LinkRecord& link : record.links) {
    text += link.name + ' ';
    put(link.bytes);
    put(link.messages);
    put(link.busy.count());
  }
  return text;
}

/// What the child does; it never comes back into the test.
[[noreturn]] void write_record(int pipe_end, const MachineSpec& machine, const Job& job, Fold fold) {
  try {
    SimulationOptions options;
    options.fold = fold;
    const std::string text = text_of(simulate(machine, job, options));
    _exit(write(pipe_end, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  } catch (...) {
    _exit(2);
  }
}

/// Runs in a child: SystemC elaborates once per process.
std::string run(const MachineSpec& machine, const Job& job, Fold fold) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) write_record(ends[1], machine, job, fold);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = read(ends[0], piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

/// Two messages to peer 0, from HBM to HBM, and work once the peer's have come. The second waits for the first.
std::shared_ptr<const Program> sender(std::uint64_t bytes) {
  return program_of([bytes](ProgramBuilder& builder, SegmentBuilder& s) {
    const SemaphoreId arrived = builder.semaphore(WaitReason::kCollective);
    Transfer message = load(bytes, 12);
    message.peer = 0;
    message.generation = DescriptorGeneration::kPrebuilt;
    message.traffic = Traffic::kCollective;
    message.destination = Space::kHbm;
    message.on_delivery = {arrived, 1};
    for (int round = 0; round < 2; ++round) {
      const Handle sent = s.dma(Engine::kCollective, message, Count::constant(1));
      s.wait(Engine::kVector, arrived, 1);
      const Handle used = s.emit(Engine::kVector, vector_copy(bytes / 100));
      s.emit(Engine::kCollective, Instruction{}, {sent, used});
    }
  });
}

/// Adds a replica whose core i runs programs[i] and sends to the core half the list further.
void add_replica(Job& job, const std::vector<std::uint32_t>& cores,
                 const std::vector<std::shared_ptr<const Program>>& programs) {
  ReplicaGroup group;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    CoreJob& core = job.cores[cores[i]];
    core.program = programs[i];
    core.peers = {CoreId(cores[(i + cores.size() / 2) % cores.size()])};
    group.cores.emplace_back(cores[i]);
  }
  job.replicas.push_back(group);
}

/// Of a folded run in this process.
std::uint64_t layers_left_out(const MachineSpec& machine, const Job& job) {
  const RunRecord record = simulate(machine, job, {});
  return record.repeated_calls - record.repeated_calls_simulated;
}

std::size_t classes(const MachineSpec& machine, const Job& job) {
  return fold_replicas(machine, Topology(machine.fabric, machine.chips, machine.link_bandwidth_scale), job).size();
}

class FoldedAndFlat : public testing::Test {
 protected:
  FoldedAndFlat() { job_.cores.resize(machine_.cores()); }
  void expect_equal() { EXPECT_EQ(run(machine_, job_, Fold::kAuto), run(machine_, job_, Fold::kNone)); }

  MachineSpec machine_ = small_machine();
  Job job_;
  std::shared_ptr<const Program> small_ = sender(100'000);
  std::shared_ptr<const Program> large_ = sender(400'000);
};

// Chips 0 and 1, chips 2 and 3: each replica has its own pair, its links and stacks, and contends within.
TEST_F(FoldedAndFlat, AgreeWhereCoresOfAReplicaContendForLinksAndStacks) {
  add_replica(job_, {0, 1, 4, 5}, {small_, large_, small_, large_});
  add_replica(job_, {8, 9, 12, 13}, {small_, large_, small_, large_});
  ASSERT_EQ(classes(machine_, job_), 1U);
  expect_equal();
}

TEST_F(FoldedAndFlat, AgreeWhereOneReplicaHasASlowLink) {
  add_replica(job_, {0, 1, 4, 5}, {small_, large_, small_, large_});
  add_replica(job_, {8, 9, 12, 13}, {small_, large_, small_, large_});
  machine_.link_bandwidth_scale[0] = 0.25;
  ASSERT_EQ(classes(machine_, job_), 2U);
  expect_equal();
}

// Cores that ask for a link at the same instant are served by number: replicas whose cores stand in another order
// differ.
TEST_F(FoldedAndFlat, AgreeWhereReplicasListTheirCoresInAnotherOrder) {
  add_replica(job_, {0, 1, 4, 5}, {small_, large_, small_, large_});
  add_replica(job_, {9, 8, 13, 12}, {small_, large_, small_, large_});
  ASSERT_EQ(classes(machine_, job_), 2U);
  expect_equal();
}

TEST_F(FoldedAndFlat, AgreeWhereReplicasShareTheLinksOfADiagonal) {
  add_replica(job_, {0, 12}, {small_, small_});
  add_replica(job_, {4, 8}, {small_, small_});
  expect_equal();
}

// Replica 3 speaks to replica 2, so that what 2 does is not what 0 and 1 do, although all three run the same.
TEST_F(FoldedAndFlat, AgreeWhereAReplicaIsSpokenToFromOutside) {
  const auto quiet =
      program_of([](ProgramBuilder&, SegmentBuilder& s) { s.dma(Engine::kSync, load(500'000), Count::constant(1)); });
  const auto loud = program_of([](ProgramBuilder&, SegmentBuilder& s) {
    Transfer message = load(500'000, 12);
    message.peer = 0;
    message.destination = Space::kHbm;
    s.dma(Engine::kCollective, message, Count::constant(1));
  });
  for (std::uint32_t core : {0U, 4U, 8U, 12U}) add_replica(job_, {core}, {core == 12 ? loud : quiet});
  job_.cores[12].peers = {CoreId(8)};
  ASSERT_EQ(classes(machine_, job_), 4U);
  expect_equal();
}

/// `layers` calls of a segment that loads, works with what came, sends and waits for the peer; before them and behind
/// them another.
std::shared_ptr<const Program> layered(int layers) {
  ProgramBuilder builder("hand-made");
  const SemaphoreId arrived = builder.semaphore(WaitReason::kCollective);
  const BufferRing buffers = builder.sbuf_ring(Bytes(1000), 1);
  const auto layer = [&](SegmentBuilder& s, std::uint64_t bytes) {
    s.acquire(Engine::kSync, buffers);
    const Handle loaded = s.dma(Engine::kSync, load(bytes), Count::constant(1));
    const Handle worked = s.emit(Engine::kTensor, bf16_matmul(512, bytes / 50'000), {loaded});
    Transfer message = load(bytes / 4, 12);
    message.peer = 0;
    message.traffic = Traffic::kCollective;
    message.on_delivery = {arrived, 1};
    s.release(worked, buffers);
    s.dma(Engine::kCollective, message, Count::constant(1), {worked});
    s.wait(Engine::kVector, arrived, 1);
    s.emit(Engine::kVector, vector_copy(1000));
  };
  const std::uint32_t end = builder.segment("end", [&](SegmentBuilder& s) { layer(s, 100'000); });
  const std::uint32_t middle = builder.segment("middle", [&](SegmentBuilder& s) { layer(s, 900'000); });
  builder.call(end);
  for (int i = 0; i < layers; ++i) builder.call(middle);
  builder.call(end);
  return builder.finish();
}

TEST_F(FoldedAndFlat, AgreeWhereLayersRepeat) {
  const auto program = layered(24);
  add_replica(job_, {0, 1, 4, 5}, {program, program, program, program});
  add_replica(job_, {8, 9, 12, 13}, {program, program, program, program});
  expect_equal();
  EXPECT_GT(layers_left_out(machine_, job_), 0U);
}

}  // namespace
}  // namespace trnsim
