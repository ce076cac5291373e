// Where ranks sit and what they hold.
#pragma once

#include <cstdint>
#include <vector>

#include "models/mechanism/ids.h"
#include "models/system/machine_spec.h"
#include "workloads/settings.h"

namespace trnsim {

/// A rank is one logical core: `lnc` consecutive physical cores. The `tp` ranks of a replica are consecutive.
///
/// ep <= tp: each replica keeps all experts, spread over `ep` subgroups of its ranks; the ranks of a subgroup split
/// each expert's inner width. ep > tp: `ep` consecutive ranks, several replicas, share one set of experts; a rank holds
/// whole experts.
struct Mapping {
  std::uint32_t lnc = 1, tp = 1, ep = 1, dp = 1;
  std::uint32_t group_ranks = 1;    ///< ranks that exchange data: max(tp, ep)
  std::uint32_t groups = 1;         ///< of them on the machine
  std::uint32_t expert_split = 1;   ///< ranks that share one expert's inner width
  std::uint64_t local_experts = 0;  ///< per rank
  std::uint64_t q_heads = 0;        ///< per rank, padding counted
  std::uint64_t kv_heads = 0;       ///< per rank, copies and padding counted
  std::uint64_t batch_per_replica = 0;
  std::uint64_t batch = 0;  ///< asked for, whole machine
  std::uint64_t padded_sequences = 0;
  std::uint64_t idle_cores = 0;

  [[nodiscard]] std::uint32_t replicas_per_group() const { return group_ranks / tp; }
  [[nodiscard]] std::uint64_t used_cores() const { return std::uint64_t{groups} * group_ranks * lnc; }
  /// Physical core `lane` of rank `rank` of group `group`.
  [[nodiscard]] CoreId core(std::uint32_t group, std::uint32_t rank, std::uint32_t lane) const {
    return CoreId((group * group_ranks + rank) * lnc + lane);
  }
};

/// Degrees of tensor parallelism that the model's heads allow, ascending.
[[nodiscard]] std::vector<std::uint32_t> valid_tp(const ModelShape& model);

/// Throws InfeasibleError for degrees that the model does not allow, naming those that it does, and if the machine is
/// smaller than one group.
[[nodiscard]] Mapping map_onto(const Settings& settings, const MachineSpec& machine);

}  // namespace trnsim
