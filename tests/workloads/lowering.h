// Machines and workloads for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platforms/platform.h"
#include "tests/models/program/interpreter.h"
#include "workloads/graph/count.h"
#include "workloads/workload.h"

namespace trnsim::test {

using Changes = std::vector<std::pair<std::string, std::string>>;

inline Workload workload(const std::string& name, const Changes& changes = {}) {
  std::vector<WorkloadOverride> overrides;
  for (const auto& [parameter, value] : changes) overrides.push_back({parameter, value, "--set"});
  return load_workload(name, overrides, TRNSIM_ROOT);
}

inline LoweredWorkload lowered(const MachineSpec& machine, const std::string& name, const Changes& changes = {},
                               std::uint64_t seed = 1) {
  return lower(workload(name, changes), machine, seed);
}

inline MachineSpec machine(const std::string& name) {
  return load_platform(name).machine;
}

/// A chip that nobody sells: other SBUF, PSUM and array sizes, so that nothing can lean on the usual ones.
inline MachineSpec invented_machine() {
  MachineSpec m = machine("trn2-48xlarge");
  m.name = "invented";
  m.core.partitions = 96;
  m.core.sbuf_per_partition = Bytes(300000);
  m.core.psum_per_partition = Bytes(24 * 1024);
  m.core.tensor.rows = 96;
  m.core.tensor.columns = 80;
  m.core.tensor.fp8_rows = 160;
  m.core.tensor.mx_rows = 400;
  m.core.tensor.mxfp4_rows = 720;
  m.core.tensor.max_moving = 384;
  m.core.vector.quantize_mx_rate = 2;
  m.core.control.semaphores = 100;
  m.dma.max_descriptor = Bytes(4096);
  return m;
}

/// All work of the job.
inline WorkCount counted(const LoweredWorkload& lowered) {
  WorkCount count;
  for (const CoreJob& core : lowered.job.cores) count.add(count_work(core), 1);
  return count;
}

/// Runs the first replica group without time; expects it to finish with every semaphore at its initial value.
inline void expect_runs(const LoweredWorkload& lowered) {
  Job job;
  for (const CoreId core : lowered.job.replicas.front().cores) job.cores.push_back(lowered.job.cores[core.index()]);
  for (const bool last_first : {false, true}) {
    Interpreter interpreter(job, last_first);
    EXPECT_EQ(interpreter.run(), "");
    EXPECT_EQ(interpreter.leftovers(), "");
  }
}

/// Bytes and FLOPs of the programs equal the closed forms.
inline void expect_conserved(const LoweredWorkload& lowered) {
  const WorkCount count = counted(lowered);
  const WorkloadFacts& facts = lowered.facts;
  const auto bytes = [&](Traffic traffic) { return count.bytes[static_cast<std::size_t>(traffic)]; };
  EXPECT_EQ(bytes(Traffic::kWeights), facts.weight_bytes);
  EXPECT_EQ(bytes(Traffic::kBiases), facts.bias_bytes);
  EXPECT_EQ(bytes(Traffic::kKvRead), facts.kv_read_bytes);
  EXPECT_EQ(bytes(Traffic::kKvWrite), facts.kv_write_bytes);
  std::uint64_t macs = 0;
  for (const std::uint64_t of_dtype : count.macs) macs += of_dtype;
  EXPECT_EQ(2 * macs, facts.useful_flop + facts.padding_flop);
  EXPECT_EQ(count.sent_bytes / (std::uint64_t{facts.tp} * facts.dp), facts.collective_bytes_per_rank);
}

}  // namespace trnsim::test
