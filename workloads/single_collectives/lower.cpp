#include <algorithm>
#include <array>
#include <string>

#include "models/mechanism/error.h"
#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/choice.h"
#include "workloads/collectives/emit.h"
#include "workloads/graph/facts.h"
#include "workloads/single_collectives/group.h"
#include "workloads/single_collectives/single_collectives.h"

namespace trnsim {
namespace {

using collective::Algorithm;
using collective::Place;
using collective::Script;
using collective::Task;

constexpr std::array<std::string_view, 3> kLevels = {"device", "kernel", "framework"};
constexpr std::array kIntervals = {Interval::kSteady, Interval::kKernelLaunch, Interval::kGraphLaunch};

/// Bytes of the vector, in whole elements.
std::uint64_t elements_of(const SettingReader& read, std::uint64_t element_bytes) {
  const std::uint64_t bytes = read.count("bytes");
  if (bytes % element_bytes == 0) return bytes / element_bytes;
  const WorkloadParameter& parameter = read.need("bytes");
  throw InputError(parameter.place + ": bytes=" + parameter.value + " is no whole number of elements of " +
                   std::to_string(element_bytes) + " bytes; make it a multiple");
}

Task task_of(const SettingReader& read, const MachineSpec& machine, std::uint64_t element_bytes) {
  Task task;
  task.collective = read.choice<Collective, kCollectiveNames.size()>("phase", kCollectiveNames);
  task.elements = elements_of(read, element_bytes);
  task.slices = static_cast<std::uint32_t>(read.count_or("slices", machine.core.collective.slices));
  task.slots = static_cast<std::uint32_t>(read.count_or("slots", task.slots));
  if (task.collective == Collective::kPermute) task.shift = read.degree("shift");
  if (task.collective == Collective::kBroadcast) task.root = read.degree("root");
  return task;
}

/// A kernel and a framework move operands into a buffer that all ranks may write to, and results out of it.
void copy_through_buffer(collective::Operands& operands, const Task& task, std::uint64_t ranks, std::uint32_t lnc) {
  const std::uint64_t vector = ceil_div(task.elements, lnc);
  const std::uint64_t shard = ceil_div(vector, ranks);
  operands.copied_in = task.collective == Collective::kAllGather ? shard : vector;
  operands.copied_out = task.collective == Collective::kReduceScatter ? shard : vector;
}

/// Bytes of the wire per byte of the vector that a rank cannot do with less of.
double bus_factor(Collective collective, double ranks) {
  if (ranks < 2) return 0;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * (ranks - 1) / ranks;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
      return (ranks - 1) / ranks;
    default:
      return 1;
  }
}

}  // namespace

LoweredWorkload lower_collective(const SettingReader& read, const MachineSpec& machine) {
  const std::uint32_t lnc = lnc_of(read, machine);
  const std::vector<RankGroup> groups = groups_of(read, machine.cores() / lnc);
  const Topology topology(machine.fabric, machine.chips, machine.link_bandwidth_scale);
  const auto level = read.choice<std::size_t, kLevels.size()>("level", kLevels);
  collective::Operands operands;
  operands.element_bytes = storage_bytes(1, read.dtype("dtype"));
  operands.memory = read.space("collective_memory", "hbm", Space::kHbm);
  const Task task = task_of(read, machine, operands.element_bytes);
  if (kIntervals[level] != Interval::kSteady) copy_through_buffer(operands, task, groups.front().size(), lnc);
  const Algorithm* forced = forced_algorithm(read, "algorithm");
  LoweredWorkload lowered;
  lowered.job.cores.resize(machine.cores());
  for (const RankGroup& group : groups) {
    const Place place = place_of(group, lnc, machine, topology);
    const Algorithm& algorithm = algorithm_for(place, task, read.count("bytes"), machine.core.collective, forced);
    const auto core = [&](std::uint32_t member) { return core_of(group, lnc, member); };
    collective::Emitter emitter(machine, operands, std::string(algorithm.name), core);
    ReplicaGroup replica;
    Script script(0);
    for (std::uint32_t member = 0; member < place.members(); ++member) {
      script.restart(member);
      algorithm.write(place, task, script);
      lowered.job.cores[core(member).index()] = emitter.job_of(script);
      replica.cores.push_back(core(member));
    }
    std::sort(replica.cores.begin(), replica.cores.end());
    lowered.job.replicas.push_back(std::move(replica));
    lowered.facts.kernel = algorithm.name;
  }
  WorkloadFacts& facts = lowered.facts;
  const auto ranks = static_cast<std::uint32_t>(groups.front().size());
  facts.interval = kIntervals[level];
  facts.lnc = lnc;
  facts.tp = ranks;
  facts.dp = static_cast<std::uint32_t>(groups.size());
  facts.idle_cores = machine.cores() - std::uint64_t{ranks} * lnc * groups.size();
  facts.vector_bytes = read.count("bytes");
  facts.ranks = ranks;
  facts.bus_factor = bus_factor(task.collective, ranks);
  set_roofline(lowered, machine, Dtype::kBf16, 0);
  return lowered;
}

}  // namespace trnsim
