// Machines on which nothing but links takes time, and collectives on them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "models/mechanism/fair_share.h"
#include "models/system/simulation.h"
#include "sweeps/isolated.h"
#include "workloads/workload.h"

namespace trnsim {

/// `chips` chips of one core: engines and memory are infinitely fast and no step costs anything. The fabric is to be
/// chosen.
inline MachineSpec ideal_machine(std::uint32_t chips) {
  MachineSpec machine;
  machine.name = "ideal";
  machine.chips = chips;
  machine.cores_per_chip = machine.default_lnc = 1;
  CoreSpec& core = machine.core;
  core.tensor.clock = core.vector.clock = core.scalar.clock = core.gpsimd.clock = Hertz(1'000'000'000);
  core.tensor.rows = core.tensor.columns = 128;
  core.control.semaphores = 1024;
  core.partitions = 128;
  core.psum_banks = 1;
  core.collective.slices = 1;
  machine.dma.engines = 1;
  machine.dma.queues_per_engine = 64;
  machine.dma.ring_descriptors = 1U << 30;
  machine.dma.engine_bandwidth = machine.dma.wire_bandwidth = kUnlimited;
  machine.dma.max_descriptor = machine.dma.packet = machine.dma.collective_packet = Bytes(std::uint64_t{1} << 30);
  machine.hbm.stacks = 1;
  machine.hbm.capacity = Bytes(std::uint64_t{1} << 60);
  machine.hbm.bandwidth = kUnlimited;
  machine.hbm.read_fraction = machine.hbm.write_fraction = machine.hbm.mixed_fraction = 1;
  machine.fabric.link_sustained_fraction = 1;
  return machine;
}

/// The same on a torus of these dimensions.
inline MachineSpec ideal_torus(const std::vector<std::uint32_t>& sizes, BytesPerSecond link, Time hop = {}) {
  std::uint32_t chips = 1;
  for (const std::uint32_t size : sizes) chips *= size;
  MachineSpec machine = ideal_machine(chips);
  machine.fabric.kind = FabricKind::kTorus;
  for (const std::uint32_t size : sizes) machine.fabric.dimensions.push_back({size, true, link, hop});
  return machine;
}

/// All chips around one switch.
inline MachineSpec ideal_switch(std::uint32_t chips, BytesPerSecond port) {
  MachineSpec machine = ideal_machine(chips);
  machine.fabric.kind = FabricKind::kTree;
  machine.fabric.levels = {{chips, true, port, Time()}};
  return machine;
}

struct CollectiveRun {
  Time elapsed;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::vector<LinkRecord> links;
};

struct CollectiveOptions {
  std::uint32_t slices = 1;
  std::uint32_t slots = 2;
};

inline std::string text_of(const RunRecord& record) {
  std::ostringstream text;
  text << record.elapsed.count() << ' ' << record.bytes_sent << ' ' << record.bytes_received;
  for (const LinkRecord& link : record.links) {
    text << ' ' << link.name << ' ' << link.bytes << ' ' << link.messages << ' ' << link.busy.count();
  }
  return text.str();
}

inline CollectiveRun run_of(const std::string& record) {
  CollectiveRun run;
  std::istringstream text(record);
  std::int64_t elapsed = 0, busy = 0;
  text >> elapsed >> run.sent >> run.received;
  run.elapsed = Time(elapsed);
  for (LinkRecord link; text >> link.name >> link.bytes >> link.messages >> busy;) {
    link.busy = Time(busy);
    run.links.push_back(link);
  }
  return run;
}

/// One collective over all ranks of `machine`, in elements of one byte; simulated in a child.
inline CollectiveRun run_collective(const MachineSpec& machine, const std::string& collective,
                                    const std::string& algorithm, std::uint64_t bytes,
                                    const CollectiveOptions& options = {}) {
  std::vector<WorkloadOverride> settings = {{"bytes", std::to_string(bytes) + "B", "test"},
                                            {"dtype", "fp8", "test"},
                                            {"slices", std::to_string(options.slices), "test"},
                                            {"algorithm", algorithm, "test"}};
  if (algorithm == "ring") settings.push_back({"slots", std::to_string(options.slots), "test"});
  const Outcome outcome = run_isolated([&] {
    const Workload workload = load_workload(collective, settings, TRNSIM_ROOT);
    return text_of(simulate(machine, lower(workload, machine, 1).job, {}));
  });
  EXPECT_EQ(outcome.end, Outcome::End::kReturned) << outcome.text;
  return run_of(outcome.text);
}

}  // namespace trnsim
