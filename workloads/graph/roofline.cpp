// The bound that array, HBM, DMA and links put on a job. Raw rates and perfectly even load, so nothing can beat it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

#include "workloads/graph/count.h"
#include "workloads/graph/facts.h"

namespace trnsim {
namespace {

double rate(BytesPerSecond bandwidth) {
  return static_cast<double>(bandwidth.count());
}

// The fastest of parts that users made faster or slower one by one; the bound holds for any of them.
double fastest_scale(const std::map<std::uint32_t, double>& scales) {
  double fastest = 1;
  for (const auto& [part, scale] : scales) fastest = std::max(fastest, scale);
  return fastest;
}

// Everything that leaves one chip in one second, whichever way: all its links of all levels at their raw rate.
double chip_egress(const MachineSpec& machine) {
  const FabricSpec& f = machine.fabric;
  const auto raw = [&](const LinkLevelSpec& level) {
    return rate(f.reading == LinkReading::kLanes ? level.lanes_bandwidth : level.level_table_bandwidth);
  };
  double total = 0;
  // Two neighbours per torus dimension at most; one link to each chip of a sled at most; one per other rack.
  if (f.kind == FabricKind::kTorus) {
    for (const LineSpec& dimension : f.dimensions)
      total += std::min(2U, dimension.size - 1) * rate(dimension.bandwidth);
  }
  if (f.kind == FabricKind::kSwitched) {
    return raw(f.sled) * std::max(1U, f.chips_per_sled - 1) + raw(f.rack) * std::max(1U, f.sleds_per_rack) +
           raw(f.cross_rack) * std::max(1U, f.racks);
  }
  if (f.kind == FabricKind::kTree) total = rate(f.levels.front().bandwidth);
  std::map<std::uint32_t, double> leaving;
  for (const EdgeSpec& edge : f.edges) leaving[edge.from] += rate(edge.bandwidth);
  for (const auto& [node, bandwidth] : leaving) total = std::max(total, node < f.edge_chips ? bandwidth : 0.0);
  return total;
}

// Chips or stacks, of so many cores each, that some of `cores` are on.
std::size_t parts_with(const std::vector<CoreId>& cores, std::size_t cores_per_part) {
  std::set<std::size_t> parts;
  for (const CoreId core : cores) parts.insert(core.index() / cores_per_part);
  return parts.size();
}

std::vector<CoreId> working_cores(const Job& job) {
  std::vector<CoreId> working;
  for (std::size_t core = 0; core < job.cores.size(); ++core) {
    if (has_work(job.cores[core])) working.emplace_back(static_cast<std::uint32_t>(core));
  }
  return working;
}

// Bytes that messages carry from chip to chip; those between cores of one chip take no link.
double chip_to_chip_bytes(const LoweredWorkload& lowered, const MachineSpec& machine) {
  double total = 0;
  const Job& job = lowered.job;
  const std::size_t cores_per_chip = machine.cores_per_chip;
  if (job.replicas.empty()) return 0;
  // Groups run the same programs on as many cores; how these lie on chips may differ, so take one on the fewest
  // chips, of whose bytes the least leave a chip.
  const auto chips_of = [&](const ReplicaGroup& group) { return parts_with(group.cores, cores_per_chip); };
  const auto& least = *std::ranges::min_element(job.replicas, {}, chips_of);
  for (const CoreId core : least.cores) {
    const CoreJob& work = job.cores[core.index()];
    for (const auto& [peer, bytes] : count_work(work).bytes_to_peer) {
      if (work.peers[peer].index() / cores_per_chip != core.index() / cores_per_chip)
        total += static_cast<double>(bytes);
    }
  }
  return total * static_cast<double>(job.replicas.size());
}

}  // namespace

void set_roofline(LoweredWorkload& lowered, const MachineSpec& machine, Dtype fastest, std::uint64_t fast_flop) {
  const WorkloadFacts& facts = lowered.facts;
  const double used = static_cast<double>(machine.cores() - facts.idle_cores) / machine.cores();
  const std::vector<CoreId> working = working_cores(lowered.job);
  if (working.empty()) return;
  const auto fast = static_cast<double>(fast_flop);
  const auto slow = static_cast<double>(facts.useful_flop) - fast;
  // Of a kernel alone it is known what must move; what its schedule reads again is no part of the bound.
  const auto bytes = static_cast<double>(facts.operand_bytes > 0 ? facts.operand_bytes
                                                                 : facts.weight_bytes + facts.bias_bytes +
                                                                       facts.kv_read_bytes + facts.kv_write_bytes);
  const auto copied = static_cast<double>(facts.copy_bytes) + static_cast<double>(facts.collective_copy_bytes);
  const auto stacks = static_cast<double>(parts_with(working, machine.cores_per_stack()));
  const auto chips = static_cast<double>(parts_with(working, machine.cores_per_chip));
  struct Bound {
    const char* name;
    double seconds;
  };
  const std::array<Bound, 4> bounds{
      Bound{"tensor", (fast / machine.array_peak(fastest) + slow / machine.array_peak(Dtype::kBf16)) / used /
                          fastest_scale(machine.core_clock_scale)},
      Bound{"hbm",
            (bytes + copied * static_cast<double>(facts.copy_hbm_ends)) / (rate(machine.hbm.bandwidth) * stacks)},
      Bound{"dma",
            (bytes + copied) / (rate(machine.dma.engine_bandwidth) * machine.dma.engines * machine.cores() * used)},
      Bound{"link", chip_egress(machine) > 0
                        ? chip_to_chip_bytes(lowered, machine) /
                              (chip_egress(machine) * fastest_scale(machine.link_bandwidth_scale) * chips)
                        : 0.0}};
  const auto largest = std::max_element(bounds.begin(), bounds.end(),
                                        [](const Bound& a, const Bound& b) { return a.seconds < b.seconds; });
  lowered.roofline_ps = static_cast<std::uint64_t>(largest->seconds * 1e12);
  lowered.roofline_limit = largest->name;
}

}  // namespace trnsim
