// A small machine and small programs written by hand, for tests of the hardware model alone.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/program/builder.h"
#include "models/system/simulation.h"

namespace trnsim {

inline void set_engines(CoreSpec& core) {
  core.tensor.clock = Hertz(2'000'000'000);
  core.tensor.rows = core.tensor.columns = 128;
  core.tensor.max_moving = 512;
  core.tensor.minimum_interval = 64;
  core.tensor.weight_load = 32;
  core.tensor.fp32_passes = core.tensor.fp32_row_cycles = 2;
  core.tensor.fp32_transpose_passes = 1;
  core.tensor.fp8_rows = 256;
  core.tensor.max_moving = 512;
  core.tensor.fill = Time(150'000);
  core.vector.clock = core.scalar.clock = core.gpsimd.clock = Hertz(1'000'000'000);
  core.vector.copy_rate_16bit = 4;
  core.vector.copy_rate = 2;
  core.vector.psum_rate = core.vector.binary_cycles = core.vector.reduce_rate = 1;
  core.vector.binary_rate_16bit = 2;
  core.vector.completion = Time(80'000);
  core.scalar.rate = core.scalar.rate_16bit = 1;
  core.scalar.completion = Time(110'000);
  core.gpsimd.start = 150;
  core.gpsimd.rate = 1;
  core.control.semaphore = Time(30'000);
  core.control.program_entry = Time(5'000'000);
  core.control.program_exit = Time(4'000'000);
  core.control.semaphores = 256;
  core.collective.message_issue = Time(25'000);
  core.collective.step = Time(700'000);
  core.partitions = 128;
  core.sbuf_per_partition = Bytes(200'000);
  core.psum_per_partition = Bytes(16'384);
  core.psum_banks = 8;
}

/// 2x2 torus, 4 cores and 2 stacks per chip. Round numbers: an engine moves 10 GB/s, a stack 400 GB/s, a link 100 GB/s.
inline MachineSpec small_machine() {
  MachineSpec machine;
  machine.name = "hand-made";
  machine.chips = 4;
  machine.cores_per_chip = 4;
  machine.default_lnc = 1;
  set_engines(machine.core);
  machine.dma.engines = 16;
  machine.dma.queues_per_engine = 16;
  machine.dma.ring_descriptors = 1024;
  machine.dma.engine_bandwidth = BytesPerSecond(10'000'000'000);
  machine.dma.packet = machine.dma.collective_packet = Bytes(65536);
  machine.dma.wire_bandwidth = machine.dma.engine_bandwidth;
  machine.dma.hardware_generators = 2;
  machine.dma.hardware_issue = Time(600'000);
  machine.dma.software_issue = Time(200'000);
  machine.dma.software_descriptor = Time(10'000);
  machine.dma.prebuilt_issue = Time(50'000);
  machine.dma.dispatch = Time(700'000);
  machine.dma.read_latency = Time(300'000);
  machine.dma.write_latency = Time(150'000);
  machine.dma.notify = Time(300'000);
  machine.hbm.stacks = 2;
  machine.hbm.capacity = Bytes(std::uint64_t{1} << 30);
  machine.hbm.bandwidth = BytesPerSecond(400'000'000'000);
  machine.hbm.read_fraction = machine.hbm.write_fraction = machine.hbm.mixed_fraction = 1.0;
  FabricSpec& fabric = machine.fabric;
  fabric.kind = FabricKind::kTorus;
  fabric.link_sustained_fraction = 1.0;
  fabric.dimensions.assign(2, {2, true, BytesPerSecond(100'000'000'000), Time(400'000)});
  fabric.chip_forward_latency = Time(100'000);
  fabric.on_chip_latency = Time(100'000);
  return machine;
}

inline Instruction vector_copy(std::uint64_t free, std::uint64_t repeat = 1) {
  Instruction i;
  i.op = Op::kCopy;
  i.dtype = Dtype::kFp32;
  i.rows = 128;
  i.free = Count::constant(free);
  i.repeat = Count::constant(repeat);
  return i;
}

inline Instruction bf16_matmul(std::uint64_t free, std::uint64_t repeat = 1) {
  Instruction i;
  i.op = Op::kMatmul;
  i.rows = i.columns = 128;
  i.destination = Space::kPsum;
  i.free = Count::constant(free);
  i.repeat = Count::constant(repeat);
  return i;
}

/// A transfer of `bytes` from HBM to SBUF over all 16 engines.
inline Transfer load(std::uint64_t bytes, std::uint8_t queue = 0) {
  Transfer t;
  t.bytes_per_repeat = Bytes(bytes);
  t.descriptors_per_repeat = 16;
  t.queue = queue;
  t.traffic = Traffic::kWeights;
  return t;
}

/// A program of one segment, called once.
template <class Write>
std::shared_ptr<const Program> program_of(Write write) {
  ProgramBuilder builder("hand-made");
  builder.call(builder.segment("all", [&](SegmentBuilder& s) { write(builder, s); }));
  return builder.finish();
}

/// A job that runs `program` on `cores`, all in one replica group. Each core's peer 0 is the next one in the list.
inline Job job_on(const MachineSpec& machine, const std::shared_ptr<const Program>& program,
                  const std::vector<std::uint32_t>& cores) {
  Job job;
  job.cores.resize(machine.cores());
  ReplicaGroup group;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    job.cores[cores[i]].program = program;
    job.cores[cores[i]].peers = {CoreId(cores[(i + 1) % cores.size()])};
    group.cores.emplace_back(cores[i]);
  }
  job.replicas = {group};
  return job;
}

}  // namespace trnsim
