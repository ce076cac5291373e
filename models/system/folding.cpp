#include "models/system/folding.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace trnsim {
namespace {

/// Everything that decides how a group behaves, as a list of numbers: equal lists behave alike.
using Signature = std::vector<std::uint64_t>;

std::uint32_t chip_of(const MachineSpec& machine, CoreId core) {
  return core.value() / machine.cores_per_chip;
}
std::uint32_t stack_of(const MachineSpec& machine, CoreId core) {
  return core.value() / machine.cores_per_stack();
}

/// Numbers things in the order in which they are first seen.
class Renaming {
 public:
  std::uint64_t operator()(std::uint64_t thing) { return names_.try_emplace(thing, names_.size()).first->second; }

 private:
  std::map<std::uint64_t, std::uint64_t> names_;
};

std::vector<std::uint32_t> chips_of(const MachineSpec& machine, const ReplicaGroup& group) {
  std::vector<std::uint32_t> chips;
  for (CoreId core : group.cores) {
    const std::uint32_t chip = chip_of(machine, core);
    if (std::find(chips.begin(), chips.end(), chip) == chips.end()) chips.push_back(chip);
  }
  return chips;
}

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

double scale_of(const std::map<std::uint32_t, double>& scales, std::uint32_t part) {
  const auto found = scales.find(part);
  return found == scales.end() ? 1.0 : found->second;
}

class Folder {
 public:
  Folder(const MachineSpec& machine, const Topology& topology, const Job& job)
      : machine_(machine), topology_(topology), job_(job) {}

  /// Empty if the group shares something with another. REQUIRES: its peers are its own cores.
  Signature signature(const ReplicaGroup& group, const std::set<std::uint32_t>& shared_links,
                      const std::set<std::uint32_t>& shared_stacks) {
    Signature signature;
    std::map<CoreId, std::uint64_t> position;
    for (CoreId core : group.cores) position.try_emplace(core, position.size());
    // Requests of the same instant are served by core number, so the cores must stand in the same order.
    for (const auto& [core, place] : position) signature.push_back(place);
    Renaming chip_name;
    Renaming stack_name;
    for (CoreId core : group.cores) {
      if (shared_stacks.count(stack_of(machine_, core)) > 0) return {};
      signature.push_back(chip_name(chip_of(machine_, core)));
      signature.push_back(stack_name(stack_of(machine_, core)));
      add_core(signature, core, position);
    }
    if (!add_routes(signature, group, shared_links)) return {};
    return signature;
  }

 private:
  void add_core(Signature& signature, CoreId core, const std::map<CoreId, std::uint64_t>& position) {
    const CoreJob& job = job_.cores[core.index()];
    signature.push_back(program_name_(reinterpret_cast<std::uint64_t>(job.program.get())));
    const std::uint32_t chip = chip_of(machine_, core);
    signature.push_back(bits_of(scale_of(machine_.core_clock_scale, core.value())));
    signature.push_back(bits_of(scale_of(machine_.chip_hbm_scale, chip)));
    signature.push_back(bits_of(scale_of(machine_.chip_dma_scale, chip)));
    signature.push_back(job.registers.size());
    signature.insert(signature.end(), job.registers.begin(), job.registers.end());
    signature.push_back(job.peers.size());
    for (CoreId peer : job.peers) signature.push_back(position.at(peer));
  }

  bool add_routes(Signature& signature, const ReplicaGroup& group, const std::set<std::uint32_t>& shared_links) const {
    Renaming link_name;
    const std::vector<std::uint32_t> chips = chips_of(machine_, group);
    for (std::uint32_t from : chips) {
      for (std::uint32_t to : chips) {
        const Route route = topology_.route(ChipId(from), ChipId(to));
        signature.push_back(route.hops.size());
        signature.push_back(route.switches);
        for (const Hop& hop : route.hops) {
          if (shared_links.count(hop.link.value()) > 0) return false;
          signature.push_back(link_name(hop.link.value()));
          signature.push_back(topology_.links()[hop.link.index()].bandwidth.count());
          signature.push_back(static_cast<std::uint64_t>(hop.latency.count()));
        }
      }
    }
    return true;
  }

  const MachineSpec& machine_;
  const Topology& topology_;
  const Job& job_;
  Renaming program_name_;
};

/// Whether a core of `group` speaks to one outside.
bool speaks_outside(const Job& job, const ReplicaGroup& group) {
  const std::set<CoreId> own(group.cores.begin(), group.cores.end());
  return std::any_of(group.cores.begin(), group.cores.end(), [&](CoreId core) {
    const std::vector<CoreId>& peers = job.cores[core.index()].peers;
    return std::any_of(peers.begin(), peers.end(), [&own](CoreId peer) { return own.count(peer) == 0; });
  });
}

/// Members of `used` that more than one group uses.
std::set<std::uint32_t> shared(const std::vector<std::set<std::uint32_t>>& used) {
  std::set<std::uint32_t> seen;
  std::set<std::uint32_t> twice;
  for (const auto& group : used) {
    for (std::uint32_t thing : group) {
      if (!seen.insert(thing).second) twice.insert(thing);
    }
  }
  return twice;
}

}  // namespace

std::vector<LinkId> links_in_order(const MachineSpec& machine, const Topology& topology, const ReplicaGroup& group) {
  std::vector<LinkId> order;
  std::set<std::uint32_t> seen;
  const std::vector<std::uint32_t> chips = chips_of(machine, group);
  for (std::uint32_t from : chips) {
    for (std::uint32_t to : chips) {
      for (const Hop& hop : topology.route(ChipId(from), ChipId(to)).hops) {
        if (seen.insert(hop.link.value()).second) order.push_back(hop.link);
      }
    }
  }
  return order;
}

std::vector<ReplicaClass> every_replica_apart(const Job& job) {
  std::vector<ReplicaClass> classes;
  for (std::uint32_t i = 0; i < job.replicas.size(); ++i) classes.push_back({{i}});
  return classes;
}

std::vector<ReplicaClass> fold_replicas(const MachineSpec& machine, const Topology& topology, const Job& job) {
  if (job.replicas.size() == 1) return every_replica_apart(job);
  const auto leaves = [&job](const ReplicaGroup& group) { return speaks_outside(job, group); };
  if (std::any_of(job.replicas.begin(), job.replicas.end(), leaves)) return every_replica_apart(job);
  std::vector<std::set<std::uint32_t>> links;
  std::vector<std::set<std::uint32_t>> stacks;
  for (const ReplicaGroup& group : job.replicas) {
    links.emplace_back();
    for (LinkId link : links_in_order(machine, topology, group)) links.back().insert(link.value());
    stacks.emplace_back();
    for (CoreId core : group.cores) stacks.back().insert(stack_of(machine, core));
  }
  const std::set<std::uint32_t> shared_links = shared(links);
  const std::set<std::uint32_t> shared_stacks = shared(stacks);
  Folder folder(machine, topology, job);
  std::map<Signature, std::size_t> class_of;
  std::vector<ReplicaClass> classes;
  for (std::uint32_t i = 0; i < job.replicas.size(); ++i) {
    const Signature signature = folder.signature(job.replicas[i], shared_links, shared_stacks);
    if (!signature.empty()) {
      const auto [found, fresh] = class_of.try_emplace(signature, classes.size());
      if (!fresh) {
        classes[found->second].members.push_back(i);
        continue;
      }
    }
    classes.push_back({{i}});
  }
  return classes;
}

}  // namespace trnsim
