#include "workloads/collectives/communicator.h"

#include <functional>
#include <numeric>

#include "tests/workloads/lowering.h"
#include "workloads/collectives/algorithms/list.h"

namespace trnsim {
namespace {

using Write = std::function<void(Communicator&, KernelWriter&)>;

CommGroup group_of(const MachineSpec& machine, std::uint32_t n) {
  CommGroup group;
  group.ranks.resize(n);
  std::iota(group.ranks.begin(), group.ranks.end(), 0U);
  const Topology topology(machine.fabric, machine.chips, machine.link_bandwidth_scale);
  group.place = place_of(group.ranks, 1, machine, topology);
  return group;
}

// One core per rank, all running the collectives that `write` emits `times` times.
Job ranks(std::uint32_t n, const CommChoices& choices, const Write& write, std::uint32_t times = 3) {
  static const MachineSpec machine = test::machine("trn2-ultraserver");
  const CommGroup group = group_of(machine, n);
  CommEvents events;
  const auto program_of = [&](Seats& seats) {
    ProgramBuilder program("collective");
    KernelWriter w(program, machine, 1, 0, 4096, 0);
    Communicator communicator(w, seats, CommKind::kTensor, choices);
    const std::uint32_t segment = program.segment("call", [&](SegmentBuilder& s) {
      w.write_to(s);
      write(communicator, w);
    });
    for (std::uint32_t i = 0; i < times; ++i) program.call(segment);
    events = seats.events;
    return program.finish();
  };
  const auto seats_of = [&](std::uint32_t rank) {
    Seats seats;
    seats.by_kind[0] = {&group, rank};
    seats.peers = collective::Peers(n);
    seats.events = events;
    return seats;
  };
  Seats draft = seats_of(0);
  program_of(draft);
  Job job;
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    Seats seats = seats_of(rank);
    CoreJob core{program_of(seats), {}, {CoreId(rank)}};
    for (std::uint32_t d = 1; d < n; ++d) core.peers.push_back(CoreId((rank + d) % n));
    core.peers.insert(core.peers.end(), seats.peers.cores().begin(), seats.peers.cores().end());
    job.cores.push_back(core);
  }
  return job;
}

std::uint64_t sent(const Job& job) {
  std::uint64_t bytes = 0;
  for (const CoreJob& core : job.cores) bytes += count_work(core).sent_bytes;
  return bytes;
}

void expect_runs(const Job& job) {
  for (const bool last_first : {false, true}) {
    test::Interpreter interpreter(job, last_first);
    EXPECT_EQ(interpreter.run(), "");
    EXPECT_EQ(interpreter.leftovers(), "");
  }
}

TEST(Communicator, SendsTheClosedFormOfEveryAlgorithmForAnyGroup) {
  for (const collective::Algorithm* algorithm : {&collective::kMesh, &collective::kRing}) {
    for (const std::uint32_t n : {2U, 3U, 7U, 12U, 24U}) {
      for (const std::uint64_t elements : {1U, 2880U, 100000U}) {
        for (const auto& [collective, vectors] :
             {std::pair(Collective::kAllReduce, 2U), std::pair(Collective::kAllGather, 1U),
              std::pair(Collective::kReduceScatter, 1U)}) {
          if (n != 7 && elements != 2880) continue;
          const Job job = ranks(n, {algorithm, Space::kHbm}, [&](Communicator& c, KernelWriter&) {
            c.run(collective, CommSite::kFirst, elements, 2, {});
            c.run(collective, CommSite::kSecond, elements, 2, {});
          });
          EXPECT_EQ(sent(job), 6 * vectors * (n - 1) * elements * 2) << algorithm->name << " " << n << " " << elements;
          expect_runs(job);
        }
      }
    }
  }
}

TEST(Communicator, RunsWhateverTheRuntimeWouldTake) {
  for (const std::uint32_t n : {2U, 5U, 8U, 64U}) {
    for (const std::uint64_t elements : {64U, 1U << 20U, 1U << 26U}) {
      expect_runs(ranks(n, {}, [&](Communicator& c, KernelWriter&) {
        Handle done = c.run(Collective::kAllGather, CommSite::kFirst, elements, 2, {});
        done = c.run(Collective::kAllReduce, CommSite::kSecond, elements, 2, done);
        c.run_in_hbm(Collective::kReduceScatter, CommSite::kEnds, elements, 2, done);
      }));
    }
  }
}

TEST(Communicator, EmitsNothingForNoBytesOrOneRank) {
  for (const std::uint32_t n : {1U, 8U}) {
    const Job job = ranks(n, {}, [&](Communicator& c, KernelWriter&) {
      for (const Collective collective : {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter})
        c.run(collective, CommSite::kFirst, n == 1 ? 500 : 0, 2, {});
    });
    EXPECT_EQ(count_work(job.cores[0]).instructions, 0U);
  }
}

TEST(Communicator, StagesThroughHbmUnlessMessagesLeaveFromSbuf) {
  const auto staged = [](Space memory) {
    const Job job = ranks(2, {&collective::kMesh, memory}, [&](Communicator& c, KernelWriter&) {
      c.run(Collective::kAllReduce, CommSite::kFirst, 1000, 2, {});
    });
    return count_work(job.cores[0]).bytes[static_cast<std::size_t>(Traffic::kCollective)];
  };
  EXPECT_EQ(staged(Space::kHbm) - staged(Space::kSbuf), 3 * 2 * 2000U);
}

TEST(Communicator, DeliversRaggedAndEmptyRows) {
  Job job = ranks(
      4, {},
      [](Communicator& c, KernelWriter& w) {
        c.exchange_rows({w.segment().reserve_registers(3), 1, 100}, CommSite::kFirst, {});
      },
      1);
  for (std::size_t r = 0; r < 4; ++r) job.cores[r].registers = {r == 1 ? 7U : 0U, 0, static_cast<std::uint32_t>(r)};
  EXPECT_EQ(count_work(job.cores[1]).sent_bytes, 800U);
  EXPECT_EQ(count_work(job.cores[0]).sent_bytes, 0U);
  expect_runs(job);
}

TEST(Communicator, RanksOfAMeshShareTheirOutline) {
  const MachineSpec machine = test::machine("trn2-48xlarge");
  const CommGroup group = group_of(machine, 8);
  CollectiveCall call;
  call.task.elements = 1024;
  call.forced = &collective::kMesh;
  const auto seen_by = [&](std::uint32_t rank) {
    Seats seats;
    seats.by_kind[0] = {&group, rank};
    collective::Outline outline;
    outline_of(call, seats, machine, 1, outline);
    return outline;
  };
  for (std::uint32_t rank = 1; rank < 8; ++rank) EXPECT_EQ(seen_by(rank), seen_by(0));
}

}  // namespace
}  // namespace trnsim
