// Exact folding of replicas: which replica groups do exactly the same thing on equal hardware of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "models/program/program.h"
#include "models/system/machine_spec.h"
#include "models/topology/topology.h"

namespace trnsim {

/// Replica groups that behave alike to the picosecond. The first is simulated, all are counted.
struct ReplicaClass {
  std::vector<std::uint32_t> members;  ///< indices into Job::replicas, ascending
};

/// Sorts the job's replica groups into classes.
///
/// Two groups are equivalent if, core by core in order, they run the same Program object with equal registers and equal
/// scales of core and chip, their peers are the same positions within the group, their core numbers ascend in the same
/// order, their cores sit alike on chips, stacks and DMA engines, and for every pair of their chips the routes have
/// hops of equal bandwidth, latency and switch count with the same sharing pattern (links renamed in order of first
/// use). A group that shares an HBM stack or a link with another group is a class of its own. If any core speaks to one
/// outside of its group, every group is: its messages may hold up any other.
[[nodiscard]] std::vector<ReplicaClass> fold_replicas(const MachineSpec& machine, const Topology& topology,
                                                      const Job& job);

/// A class for each replica group: nothing is folded.
[[nodiscard]] std::vector<ReplicaClass> every_replica_apart(const Job& job);

/// Links that `group` uses, in the order of first use over its (from chip, to chip) pairs. Equivalent groups give lists
/// of equal length whose i-th links correspond.
[[nodiscard]] std::vector<LinkId> links_in_order(const MachineSpec& machine, const Topology& topology,
                                                 const ReplicaGroup& group);

}  // namespace trnsim
