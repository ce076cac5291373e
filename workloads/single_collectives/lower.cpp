#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/choice.h"
#include "workloads/collectives/emit.h"
#include "workloads/collectives/rules.h"
#include "workloads/graph/facts.h"
#include "workloads/single_collectives/group.h"
#include "workloads/single_collectives/halves.h"
#include "workloads/single_collectives/single_collectives.h"
#include "workloads/single_collectives/sizes.h"

namespace trnsim {
namespace {

using collective::Algorithm;
using collective::GroupShape;
using collective::Metadata;
using collective::Place;
using collective::Script;
using collective::Task;

constexpr std::array<std::string_view, 3> kLevels = {"device", "kernel", "framework"};
constexpr std::array kIntervals = {Interval::kSteady, Interval::kKernelLaunch, Interval::kGraphLaunch};

/// Throws InputError for a microscaled one, whose elements share scales.
Dtype plain_dtype(const SettingReader& read) {
  const Dtype dtype = read.dtype("dtype");
  if (!is_microscaled(dtype)) return dtype;
  throw InputError(read.need("dtype").place + ": dtype=" + read.word("dtype") +
                   ", but collectives carry plain elements; use fp32, bf16, fp16 or fp8");
}

/// One rank has nobody to send to, whatever the shift.
std::uint32_t shift_of(const SettingReader& read, std::uint32_t ranks) {
  const std::uint32_t shift = read.degree("shift");
  if (shift < ranks || ranks == 1) return shift;
  throw InputError(read.need("shift").place + ": shift=" + std::to_string(shift) + ", but the group has " +
                   std::to_string(ranks) + " ranks; use 1 to " + std::to_string(ranks - 1));
}

std::uint32_t root_of(const SettingReader& read, std::uint32_t ranks) {
  const std::uint32_t root = read.degree("root");
  if (root < ranks) return root;
  throw InputError(read.need("root").place + ": root=" + read.word("root") + ", but the group has ranks 0 to " +
                   std::to_string(ranks - 1));
}

Task task_of(const SettingReader& read, Collective collective, std::uint32_t ranks, const Sizes& sizes,
             const MachineSpec& machine) {
  Task task;
  task.collective = collective;
  task.elements = sizes.elements;
  task.counts = sizes.counts;
  task.slices = static_cast<std::uint32_t>(read.count_or("slices", machine.core.collective.slices));
  task.slots = static_cast<std::uint32_t>(read.count_or("slots", task.slots));
  if (task.collective == Collective::kPermute) task.shift = shift_of(read, ranks);
  if (task.collective == Collective::kBroadcast) task.root = root_of(read, ranks);
  return task;
}

/// A kernel and a framework move operands into a buffer that all ranks may write to, and results out of it.
void copy_through_buffer(collective::Operands& operands, Collective collective, const Sizes& sizes, std::uint32_t lnc) {
  const std::uint64_t vector = ceil_div(sizes.elements, lnc);
  const std::uint64_t shard = ceil_div(sizes.shard, lnc);
  operands.copied_in = collective == Collective::kAllGather ? shard : vector;
  operands.copied_out = collective == Collective::kReduceScatter ? shard : vector;
}

/// Whether the fabric has switches between chips.
bool is_switched(const Topology& topology) {
  return std::ranges::any_of(topology.links(), [](const Link& link) { return link.leaves_switch; });
}

/// Writes the programs of one group after the other.
class Groups {
 public:
  Groups(const SettingReader& read, const MachineSpec& machine, const collective::Operands& operands, Task task,
         LoweredWorkload& lowered)
      : read_(read),
        machine_(machine),
        topology_(machine.fabric, machine.chips, machine.link_bandwidth_scale),
        operands_(operands),
        task_(std::move(task)),
        lowered_(lowered) {
    lowered.job.cores.resize(machine.cores());
    if (!task_.counts.empty()) metadata_ = metadata_of(read, task_.collective, is_switched(topology_));
  }

  void add(const RankGroup& group, std::uint32_t lnc) {
    const GroupShape shape = collective::shape_of(group, lnc, machine_);
    enforce(collective::broken_rules(machine_.collective_rules, shape, task_, operands_.memory));
    task_.inner = inner_for(shape, task_, machine_.collective_rules);
    const Place place = place_of(group, lnc, machine_, topology_);
    const Algorithm& algorithm = chosen(place, shape, task_, forced_algorithm(read_, "algorithm"));
    enforce(collective::broken_rules(machine_.collective_rules, shape, algorithm));
    take(algorithm);
    if (metadata_ == Metadata::kKnown || place.ranks < 2) {
      return write(group, place, [&](Script& script) { algorithm.write(place, task_, script); });
    }
    const Task exchange = collective::WithMetadata::exchange_task(place, task_, operands_.element_bytes);
    const Algorithm& teller = chosen(place, shape, exchange, nullptr);
    const collective::WithMetadata both(place, task_, metadata_, operands_.element_bytes, algorithm, teller);
    write(group, place, [&](Script& script) { both.write(script); });
  }

 private:
  [[nodiscard]] const Algorithm& chosen(const Place& place, const GroupShape& shape, const Task& task,
                                        const Algorithm* forced) const {
    return algorithm_for(place, shape, task, task.elements * operands_.element_bytes, machine_, forced);
  }

  void take(const Algorithm& algorithm) {
    lowered_.facts.kernel = algorithm.name;
    if (std::ranges::find(taken_, &algorithm) != taken_.end()) return;
    taken_.push_back(&algorithm);
    std::string& names = lowered_.facts.algorithms;
    names += (names.empty() ? "" : ";") + std::string(algorithm.name);
  }

  void enforce(const std::vector<collective::BrokenRule>& rules) {
    collective::enforce(machine_.collective_rules, rules, broken_);
    std::string& names = lowered_.facts.broken_rules;
    names.clear();
    for (const std::string& rule : broken_) names += (names.empty() ? "" : ";") + rule;
  }

  template <class Write>
  void write(const RankGroup& group, const Place& place, const Write& write_member) {
    const std::uint32_t lnc = place.lanes;
    const auto core = [&](std::uint32_t member) { return core_of(group, lnc, member); };
    collective::Emitter emitter(machine_, operands_, lowered_.facts.kernel, core);
    Halves halves(place, group, machine_, topology_);
    ReplicaGroup replica;
    Script script(0);
    for (std::uint32_t member = 0; member < place.members(); ++member) {
      script.restart(member);
      write_member(script);
      halves.add(script);
      lowered_.job.cores[core(member).index()] = emitter.job_of(script);
      replica.cores.push_back(core(member));
    }
    std::sort(replica.cores.begin(), replica.cores.end());
    lowered_.job.replicas.push_back(std::move(replica));
    bound_by(halves);
  }

  /// Of several groups the facts hold those of the one that takes longest.
  void bound_by(const Halves& halves) {
    WorkloadFacts& facts = lowered_.facts;
    const double bound = halves.bound(operands_.element_bytes);
    if (facts.bisection_bytes_per_s > 0 && bound <= facts.bisection_bound_s) return;
    facts.bisection_bytes_per_s = halves.bandwidth();
    facts.bisection_bound_s = bound;
  }

  const SettingReader& read_;
  const MachineSpec& machine_;
  Topology topology_;
  const collective::Operands& operands_;
  Task task_;
  LoweredWorkload& lowered_;
  std::set<std::string> broken_;
  std::vector<const Algorithm*> taken_;
  Metadata metadata_ = Metadata::kKnown;
};

}  // namespace

LoweredWorkload lower_collective(const SettingReader& read, const MachineSpec& machine) {
  const std::uint32_t lnc = lnc_of(read, machine);
  const auto collective = read.choice<Collective, kCollectiveNames.size()>("phase", kCollectiveNames);
  const std::optional<CountsFile> file = counts_file(read, collective);
  const std::uint32_t cores = machine.cores() / lnc;
  const std::vector<RankGroup> groups = groups_of(read, cores, file && file->ranks() > 0 ? file->ranks() : cores);
  const auto ranks = static_cast<std::uint32_t>(groups.front().size());
  const auto level = read.choice<std::size_t, kLevels.size()>("level", kLevels);
  collective::Operands operands;
  operands.element_bytes = storage_bytes(1, plain_dtype(read));
  operands.memory = read.space("collective_memory", "hbm", Space::kHbm);
  const Sizes sizes = sizes_of(read, collective, ranks, operands.element_bytes, file);
  const Task task = task_of(read, collective, ranks, sizes, machine);
  if (kIntervals[level] != Interval::kSteady) copy_through_buffer(operands, collective, sizes, lnc);
  LoweredWorkload lowered;
  Groups writer(read, machine, operands, task, lowered);
  for (const RankGroup& group : groups) writer.add(group, lnc);
  WorkloadFacts& facts = lowered.facts;
  facts.interval = kIntervals[level];
  facts.lnc = lnc;
  facts.tp = ranks;
  facts.dp = static_cast<std::uint32_t>(groups.size());
  facts.idle_cores = machine.cores() - std::uint64_t{ranks} * lnc * groups.size();
  facts.vector_bytes = sizes.elements * operands.element_bytes;
  facts.ranks = ranks;
  facts.bus_factor = sizes.bus_factor;
  set_roofline(lowered, machine, Dtype::kBf16, 0);
  return lowered;
}

}  // namespace trnsim
