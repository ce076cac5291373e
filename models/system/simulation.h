// The one entry to the hardware model: a machine, a job, a record of what happened. No SystemC in sight.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/observe/run_record.h"
#include "models/observe/timeline.h"
#include "models/program/program.h"
#include "models/system/machine_spec.h"

namespace trnsim {

enum class Detail : std::uint8_t { kTile, kInstruction };
/// kAuto: in space (folding.h), and in time (folding_in_time.h) where that is exact; kBounded: also where it is within
/// a bound; kReplicas: in space alone.
enum class Fold : std::uint8_t { kAuto, kBounded, kReplicas, kNone };

struct SimulationOptions {
  Detail detail = Detail::kTile;
  Fold fold = Fold::kAuto;
  std::uint32_t idle_modules = 0;  ///< extra modules that do nothing; tests use it to show that order never matters
  /// Records the run, if there is one, with nothing folded in time; must outlive it, as must the job.
  Timeline* timeline = nullptr;
};

/// Runs `job` on `machine`. Call at most once per process: SystemC elaborates only once (see
/// sweeps/isolated.h). Throws DeadlockError, with the engines that wait and on what; with a timeline also what
/// Timeline::check_open() throws, before anything runs.
[[nodiscard]] RunRecord simulate(const MachineSpec& machine, const Job& job, const SimulationOptions& options);

/// Throws InputError, without a place, if links that are down leave no way between chips.
void check_ways(const MachineSpec& machine);

/// Links of the fabric, each direction by itself: what link[i].bandwidth_scale may name.
[[nodiscard]] std::size_t link_count(const MachineSpec& machine);

}  // namespace trnsim
