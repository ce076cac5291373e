#include "workloads/single_kernels/job.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/graph/count.h"
#include "workloads/graph/facts.h"

namespace trnsim {
namespace {

constexpr std::array<std::string_view, 10> kIntervals = {
    "run",    "call",        "steady", "dma_active",        "clock_ramp",
    "packet", "engine_busy", "issue",  "trigger_to_packet", "occupancy"};

/// Parts of a copy are timed in copies alone, parts of a run in kernels of more than one instruction.
Interval interval_of(const SettingReader& read, const std::string& workload) {
  const auto interval = read.choice<Interval, kIntervals.size()>("interval", kIntervals);
  const Interval last = workload == "dma_copy"      ? Interval::kOccupancy
                        : workload == "instruction" ? Interval::kSteady
                                                    : Interval::kClockRamp;
  if (interval <= last) return interval;
  std::string list;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
    list += (i == 0 ? "" : ", ") + std::string(kIntervals[i]);
  const WorkloadParameter& parameter = read.need("interval");
  throw InputError(parameter.place + ": interval=" + parameter.value + " times what " + workload + " has not; use " +
                   list);
}

/// What one physical core runs.
template <class Writer>
std::shared_ptr<const Program> finished(ProgramBuilder& program, Writer& w, const std::string& kernel,
                                        const std::function<void(Writer&)>& write) {
  const auto segment = [&](const std::string& name, const std::function<void()>& emit) {
    return program.segment(name, [&](SegmentBuilder& b) {
      w.write_to(b);
      b.operator_is(kernel);
      emit();
    });
  };
  program.call(segment("kernel", [&] { write(w); }));
  for (const std::function<void()>& next : w.launches()) program.call(segment("launched", next), true);
  return program.finish();
}

void check_fits(const char* memory, Bytes needs, Bytes has) {
  if (needs <= has) return;
  throw InfeasibleError("the kernel's tiles and buffers need " + std::to_string(needs.count()) + " bytes of " + memory +
                        " per partition, has " + std::to_string(has.count()));
}

Job placed(const Placement& p, const MachineSpec& machine,
           const std::function<std::shared_ptr<const Program>(std::uint32_t lane)>& program_of) {
  std::vector<std::shared_ptr<const Program>> programs;
  for (std::uint32_t lane = 0; lane < p.lnc; ++lane) programs.push_back(program_of(lane));
  Job job;
  job.cores.resize(machine.cores());
  for (std::uint32_t first = 0; first < p.physical_cores(); first += p.lnc) {
    ReplicaGroup group;
    for (std::uint32_t lane = 0; lane < p.lnc; ++lane) {
      const std::uint32_t sibling = p.lnc == 1 ? lane : 1 - lane;
      job.cores[first + lane] = {programs[lane], {}, {CoreId(first + sibling)}};
      group.cores.push_back(CoreId(first + lane));
    }
    job.replicas.push_back(group);
  }
  return job;
}

bool multiplies(const WorkCount& count) {
  return std::any_of(count.macs.begin(), count.macs.end(), [](std::uint64_t macs) { return macs > 0; });
}

/// Cores whose share of the kernel is nothing.
std::uint64_t without_work(const Job& job) {
  return static_cast<std::uint64_t>(std::count_if(job.cores.begin(), job.cores.end(), [](const CoreJob& core) {
    return core.program != nullptr && !has_work(core);
  }));
}

void check_clock_ramp(const Placement& p, const MachineSpec& machine, const WorkCount& count) {
  if (p.interval != Interval::kClockRamp) return;
  if (machine.core.tensor.limiter && multiplies(count)) return;
  throw InfeasibleError("interval=clock_ramp: " +
                        (multiplies(count) ? "the tensor engine of " + machine.name + " has no clock limiter"
                                           : p.kernel + " multiplies nothing here") +
                        "; use run");
}

}  // namespace

Placement placement_of(const SettingReader& read, const MachineSpec& machine) {
  Placement placement{read.word("phase"), lnc_of(read, machine), static_cast<std::uint32_t>(read.count_or("cores", 1))};
  if (read.find("interval") != nullptr) placement.interval = interval_of(read, placement.kernel);
  const std::uint64_t has = machine.cores() / placement.lnc;
  if (placement.cores > has) {
    throw InfeasibleError("cores=" + std::to_string(placement.cores) + ": this machine has " + std::to_string(has) +
                          " logical cores");
  }
  return placement;
}

std::uint64_t share_of(std::uint64_t count, std::uint32_t lnc, std::uint32_t lane) {
  return count / lnc + static_cast<std::uint64_t>(lane < count % lnc);
}

Job job_of(const Placement& p, const MachineSpec& machine, std::uint64_t resident,
           const std::function<void(KernelWriter&)>& write) {
  return placed(p, machine, [&](std::uint32_t lane) {
    ProgramBuilder program(p.kernel);
    KernelWriter w(program, machine, p.lnc, lane, resident, 0);
    return finished(program, w, p.kernel, write);
  });
}

Job tile_job_of(const Placement& p, const MachineSpec& machine, const std::function<void(TileWriter&)>& write) {
  return placed(p, machine, [&](std::uint32_t lane) {
    ProgramBuilder program(p.kernel);
    TileWriter w(program, machine, p.lnc, lane);
    std::shared_ptr<const Program> done = finished(program, w, p.kernel, write);
    check_fits("SBUF", done->sbuf_per_partition, machine.core.sbuf_per_partition);
    check_fits("PSUM", done->psum_per_partition, machine.core.psum_per_partition);
    return done;
  });
}

void finish_facts(LoweredWorkload& lowered, const Placement& p, const MachineSpec& machine, Dtype dtype,
                  std::uint64_t useful) {
  WorkloadFacts& facts = lowered.facts;
  WorkCount count;
  for (const CoreJob& core : lowered.job.cores) count.add(count_work(core), 1);
  check_clock_ramp(p, machine, count);
  std::uint64_t macs = 0;
  for (const std::uint64_t of_dtype : count.macs) macs += of_dtype;
  facts.useful_flop = countable(static_cast<Wide>(useful) * p.cores);
  facts.padding_flop = 2 * macs - facts.useful_flop;
  facts.interval = p.interval;
  facts.kernel = p.kernel;
  facts.lnc = p.lnc;
  facts.tp = facts.ep = 1;
  facts.dp = p.cores;
  facts.idle_cores = machine.cores() - p.physical_cores();
  set_roofline(lowered, machine, dtype, facts.useful_flop);
  facts.idle_cores += without_work(lowered.job);  // the bound holds for any split over the logical core
}

void check_multiplies(const MachineSpec& machine, Dtype dtype) {
  if (machine.core.tensor.contraction_rows(dtype) > 0) return;
  throw InfeasibleError("dtype=" + std::string(name(dtype)) +
                        " needs a tensor engine that multiplies microscaled formats, which " + machine.name +
                        " has not; use bf16 or fp8");
}

}  // namespace trnsim
