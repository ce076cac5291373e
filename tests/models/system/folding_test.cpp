#include "models/system/folding.h"

#include <gtest/gtest.h>

#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

/// Pairs of cores, each pair on the two cores of one stack, `count` pairs.
Job pairs(const MachineSpec& machine, std::uint32_t count) {
  const auto program =
      program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(100)); });
  Job job;
  job.cores.resize(machine.cores());
  for (std::uint32_t i = 0; i < count; ++i) {
    const Job one = job_on(machine, program, {2 * i, 2 * i + 1});
    job.cores[2 * i] = one.cores[2 * i];
    job.cores[2 * i + 1] = one.cores[2 * i + 1];
    job.replicas.push_back(one.replicas[0]);
  }
  return job;
}

std::vector<ReplicaClass> folded(const MachineSpec& machine, const Job& job) {
  return fold_replicas(machine, Topology(machine.fabric, machine.chips, machine.link_bandwidth_scale), job);
}

TEST(Folding, EqualReplicasOnStacksOfTheirOwnAreOneClass) {
  const MachineSpec machine = small_machine();
  const std::vector<ReplicaClass> classes = folded(machine, pairs(machine, 8));
  ASSERT_EQ(classes.size(), 1U);
  EXPECT_EQ(classes[0].members.size(), 8U);
}

TEST(Folding, ReplicasOnASlowChipAreAClassOfTheirOwn) {
  for (auto scale : {&MachineSpec::chip_hbm_scale, &MachineSpec::chip_dma_scale}) {
    MachineSpec machine = small_machine();
    (machine.*scale)[1] = 0.5;
    const std::vector<ReplicaClass> classes = folded(machine, pairs(machine, 8));
    ASSERT_EQ(classes.size(), 2U);
    EXPECT_EQ(classes[1].members, (std::vector<std::uint32_t>{2, 3}));
  }
}

TEST(Folding, AReplicaWithASlowCoreIsItsOwnClass) {
  MachineSpec machine = small_machine();
  machine.core_clock_scale[3] = 0.5;
  const std::vector<ReplicaClass> classes = folded(machine, pairs(machine, 8));
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[1].members, (std::vector<std::uint32_t>{1}));
}

TEST(Folding, AReplicaWithOtherRegistersIsItsOwnClass) {
  const MachineSpec machine = small_machine();
  Job job = pairs(machine, 4);
  job.cores[4].registers = {7};
  EXPECT_EQ(folded(machine, job).size(), 2U);
}

TEST(Folding, ReplicasThatShareAStackAreSimulatedEach) {
  const MachineSpec machine = small_machine();
  const auto program =
      program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(100)); });
  Job job = job_on(machine, program, {0});
  const Job other = job_on(machine, program, {1});
  job.cores[1] = other.cores[1];
  job.replicas.push_back(other.replicas[0]);
  EXPECT_EQ(folded(machine, job).size(), 2U);
}

TEST(Folding, AReplicaWithASlowLinkIsItsOwnClass) {
  MachineSpec machine = small_machine();
  const auto program =
      program_of([](ProgramBuilder&, SegmentBuilder& s) { s.emit(Engine::kVector, vector_copy(100)); });
  // Chips 0-1 and chips 2-3 of a 2x2 torus: neighbours along X, no link in common.
  Job job = job_on(machine, program, {0, 4});
  const Job other = job_on(machine, program, {8, 12});
  for (std::uint32_t core : {8U, 12U}) job.cores[core] = other.cores[core];
  job.replicas.push_back(other.replicas[0]);
  EXPECT_EQ(folded(machine, job).size(), 1U);
  machine.link_bandwidth_scale[0] = 0.5;
  EXPECT_EQ(folded(machine, job).size(), 2U);
}

TEST(Folding, TheFoldedRecordIsTheFlatOne) {
  const MachineSpec machine = small_machine();
  const RunRecord record = simulate(machine, pairs(machine, 8), {});
  EXPECT_EQ(record.replicas, 8U);
  EXPECT_EQ(record.replicas_simulated, 1U);
  EXPECT_EQ(record.simulated_cores, 2U);
  EXPECT_EQ(record.cores_with_program, 16U);
  EXPECT_EQ(record.activity.vector_elements, 16U * 128U * 100U);
  EXPECT_EQ(record.engines[0].sum.total(), record.elapsed * 16);
}

}  // namespace
}  // namespace trnsim
