#include "workloads/collectives/collectives.h"

#include <functional>

#include "tests/workloads/lowering.h"

namespace trnsim {
namespace {

using Write = std::function<void(const Communicator&)>;

// One core per rank, all running the collective that `write` emits `calls` times.
Job ranks(std::uint32_t n, AllReduce algorithm, const Write& write, std::uint32_t calls = 3) {
  const MachineSpec machine = test::machine("trn2-48xlarge");
  ProgramBuilder program("collective");
  KernelWriter w(program, machine, 1, 0, 4096, 0);
  Settings settings;
  settings.all_reduce = algorithm;
  const Communicator c = communicator(w, {n, 1}, settings);
  const std::uint32_t segment = program.segment("call", [&](SegmentBuilder& s) {
    w.write_to(s);
    write(c);
  });
  for (std::uint32_t i = 0; i < calls; ++i) program.call(segment);
  Job job;
  const auto finished = program.finish();
  for (std::uint32_t r = 0; r < n; ++r) {
    CoreJob core{finished, {}, {CoreId(r)}};
    for (std::uint32_t d = 1; d < n; ++d) core.peers.push_back(CoreId((r + d) % n));
    job.cores.push_back(core);
  }
  return job;
}

void expect_runs(const Job& job) {
  for (const bool last_first : {false, true}) {
    test::Interpreter interpreter(job, last_first);
    EXPECT_EQ(interpreter.run(), "");
    EXPECT_EQ(interpreter.leftovers(), "");
  }
}

TEST(Collectives, AllReduceSendsItsClosedFormForAnyGroup) {
  for (const AllReduce algorithm : {AllReduce::kMesh, AllReduce::kRing}) {
    for (const std::uint32_t n : {1U, 2U, 3U, 5U, 6U, 7U, 12U, 24U, 63U, 64U}) {
      for (const std::uint64_t units : {0U, 1U, 2880U, 100000U}) {
        const Job job = ranks(n, algorithm, [&](const Communicator& c) { all_reduce(c, units, 2, {}); });
        EXPECT_EQ(count_work(job.cores[0]).sent_bytes, 3 * all_reduce_bytes(n, units, 2)) << n << " " << units;
        expect_runs(job);
      }
    }
  }
}

TEST(Collectives, GatherScatterAndExchangeRunForAnyGroup) {
  for (const AllReduce algorithm : {AllReduce::kMesh, AllReduce::kRing}) {
    for (const std::uint32_t n : {1U, 2U, 3U, 7U, 24U}) {
      const Job gather = ranks(n, algorithm, [](const Communicator& c) { all_gather(c, 1000, {}); });
      EXPECT_EQ(count_work(gather.cores[0]).sent_bytes, 3 * all_gather_bytes(n, 1000));
      expect_runs(gather);
      const Job scatter = ranks(n, algorithm, [](const Communicator& c) { reduce_scatter(c, 1000, {}); });
      EXPECT_EQ(count_work(scatter.cores[0]).sent_bytes, 3 * all_gather_bytes(n, 1000));
      expect_runs(scatter);
    }
  }
}

TEST(Collectives, NoBytesOrOneRankEmitNothing) {
  for (const std::uint32_t n : {1U, 8U}) {
    const Job job = ranks(n, AllReduce::kAuto, [&](const Communicator& c) {
      all_reduce(c, n == 1 ? 500 : 0, 2, {});
      all_gather(c, n == 1 ? 500 : 0, {});
      reduce_scatter(c, n == 1 ? 500 : 0, {});
    });
    EXPECT_EQ(count_work(job.cores[0]).instructions, 0U);
  }
}

TEST(Collectives, UnevenExchangeDeliversRaggedAndEmptyMessages) {
  Job job = ranks(
      4, AllReduce::kAuto,
      [](const Communicator& c) {
        const std::uint32_t first = c.writer->segment().reserve_registers(3);
        all_to_all(c, {first, 100}, c.first_phase, {});
      },
      1);
  for (std::size_t r = 0; r < 4; ++r) job.cores[r].registers = {r == 1 ? 7U : 0U, 0, static_cast<std::uint32_t>(r)};
  EXPECT_EQ(count_work(job.cores[1]).sent_bytes, 800U);
  EXPECT_EQ(count_work(job.cores[0]).sent_bytes, 0U);
  expect_runs(job);
}

TEST(Collectives, AutoChangesFromMeshToRingAtTheRuntimesLimit) {
  const std::uint64_t limit = test::machine("trn2-48xlarge").core.collective.mesh_limit.count();
  ranks(8, AllReduce::kAuto, [&](const Communicator& c) {
    EXPECT_FALSE(c.uses_ring(limit));
    EXPECT_TRUE(c.uses_ring(limit + 1));
  });
}

}  // namespace
}  // namespace trnsim
