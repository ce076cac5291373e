// From a workload and a machine to programs on cores.
#include <algorithm>
#include <string>
#include <utility>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/graph/program_set.h"
#include "workloads/mapping/mapping.h"
#include "workloads/routing/routing.h"
#include "workloads/settings.h"
#include "workloads/single_collectives/single_collectives.h"
#include "workloads/single_kernels/single_kernels.h"
#include "workloads/workload.h"

namespace trnsim {
namespace {

void check_capacity(const Program& program, const MachineSpec& machine) {
  const CoreSpec& core = machine.core;
  const auto check_one = [](const char* what, Bytes need, Bytes has) {
    if (need <= has) return;
    throw InfeasibleError("buffers need " + std::to_string(need.count()) + " bytes of " + what +
                          " per partition, has " + std::to_string(has.count()));
  };
  check_one("SBUF", program.sbuf_per_partition, core.sbuf_per_partition);
  check_one("PSUM", program.psum_per_partition, core.psum_per_partition);
  const auto check_count = [](std::uint64_t need, const char* what, std::uint64_t has) {
    if (need <= has) return;
    throw InfeasibleError("the program needs " + std::to_string(need) + " " + what + ", a core has " +
                          std::to_string(has));
  };
  check_count(program.semaphores.size(), "semaphores", core.control.semaphores);
  check_count(program.dma_queues, "DMA queues", machine.dma.queues_per_engine);
}

Job place(GroupPrograms& programs, const Mapping& m, const MachineSpec& machine) {
  Job job;
  job.cores = std::move(programs.cores);
  job.cores.resize(machine.cores());
  for (std::uint32_t g = 0; g < m.groups; ++g) {
    ReplicaGroup group;
    for (std::uint32_t r = 0; r < m.group_ranks; ++r) {
      for (std::uint32_t lane = 0; lane < m.lnc; ++lane) group.cores.push_back(m.core(g, r, lane));
    }
    job.replicas.push_back(std::move(group));
  }
  return job;
}

LoweredWorkload lower_model(const Settings& s, const MachineSpec& machine, std::uint64_t seed) {
  const Mapping m = map_onto(s, machine);
  const Wide memory = check_memory(s, m, machine);
  static_cast<void>(useful_flop(s, m));  // before anything is drawn or written for a job that cannot be counted
  std::vector<LayerRouting> routing;
  const std::uint64_t tokens =
      m.batch_per_replica * m.replicas_per_group() * (s.phase == Phase::kPrefill ? s.prompt_tokens : 1);
  for (std::uint64_t l = 0; l < s.model.layers; ++l) routing.push_back(draw_routing(s, tokens, l, seed));
  GroupPrograms programs = model_programs(s, m, machine, routing);
  LoweredWorkload lowered;
  lowered.facts = model_facts(s, m, machine, routing, programs);
  lowered.job = place(programs, m, machine);
  lowered.facts.memory_gib_per_chip = static_cast<double>(memory) / 1073741824.0;
  set_roofline(lowered, machine, s.expert_dtype, expert_flop(s, m));
  return lowered;
}

}  // namespace

LoweredWorkload lower(const Workload& workload, const MachineSpec& machine, std::uint64_t seed) {
  const SettingReader read(workload, seed);
  const LowerKernel kernel = find_single_kernel(read.word("phase"));
  LoweredWorkload lowered =
      kernel != nullptr ? kernel(read, machine) : lower_model(settings_of(workload, machine), machine, seed);
  if (kernel != nullptr) read.check_all_read();
  const CoreId first = lowered.job.replicas.front().cores.front();
  for (std::uint32_t lane = 0; lane < lowered.facts.lnc; ++lane) {
    check_capacity(*lowered.job.cores[first.index() + lane].program, machine);
  }
  return lowered;
}

}  // namespace trnsim
