// A kernel alone on a machine: which cores run it, and what is known of it before it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "models/system/machine_spec.h"
#include "workloads/kernels/writer.h"
#include "workloads/setting_reader.h"
#include "workloads/workload.h"

namespace trnsim {

/// The first `cores` logical cores, of `lnc` physical cores each, do the same; all others stay idle.
struct Placement {
  std::string kernel;  ///< operator and segment that the instructions belong to
  std::uint32_t lnc = 1;
  std::uint32_t cores = 1;
  Interval interval = Interval::kRun;

  [[nodiscard]] std::uint32_t physical_cores() const { return lnc * cores; }
};

/// From `phase`, `lnc`, `cores` and `interval`. Throws InfeasibleError if the machine has not as many.
[[nodiscard]] Placement placement_of(const SettingReader& read, const MachineSpec& machine);

/// Things of `count` that physical core `lane` of the logical core takes: the first ones take one more.
[[nodiscard]] std::uint64_t share_of(std::uint64_t count, std::uint32_t lnc, std::uint32_t lane);

/// `write` emits the program of one physical core; it is called once per lane of a logical core. `resident` bytes per
/// partition of SBUF stay with the kernel, the rest is shared out to the writer's rings.
[[nodiscard]] Job job_of(const Placement& placement, const MachineSpec& machine, std::uint64_t resident,
                         const std::function<void(KernelWriter&)>& write);

/// The same for a kernel that lays out SBUF and PSUM by itself.
[[nodiscard]] Job tile_job_of(const Placement& placement, const MachineSpec& machine,
                              const std::function<void(TileWriter&)>& write);

/// Completes facts and roofline from the programs. `useful` FLOPs are those of one logical core.
void finish_facts(LoweredWorkload& lowered, const Placement& placement, const MachineSpec& machine, Dtype dtype,
                  std::uint64_t useful);

/// Throws InfeasibleError if the core does not multiply `dtype`.
void check_multiplies(const MachineSpec& machine, Dtype dtype);

}  // namespace trnsim
