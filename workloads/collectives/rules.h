// The group rules of a machine (collective.rule.*), held against a collective.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/program/instruction.h"
#include "models/system/machine_spec.h"
#include "workloads/collectives/algorithms/algorithm.h"

namespace trnsim::collective {

/// What rules ask about a group.
struct GroupShape {
  std::uint32_t ranks = 1;
  std::uint32_t lanes = 1;  ///< physical cores of a rank
  std::uint32_t chips = 1;
  std::uint32_t instances = 1;
  bool whole_chips = true;       ///< all ranks of each of its chips are in it
  bool same_local_ranks = true;  ///< the same local ranks in every instance
  bool in_order = true;          ///< each rank is the machine's next one after the rank before
};

/// Of the logical cores `group`, each of `lnc` physical ones.
[[nodiscard]] GroupShape shape_of(std::span<const std::uint32_t> group, std::uint32_t lnc, const MachineSpec& machine);

struct BrokenRule {
  std::string name;   ///< "collective.rule.mesh_chips"
  std::string value;  ///< as the platform has it
  std::string why;    ///< what the group has; what would be right
};

/// The rules about groups and operands that `task` on operands in `memory` breaks. One rank breaks none.
[[nodiscard]] std::vector<BrokenRule> broken_rules(const CollectiveRulesSpec& rules, const GroupShape& group,
                                                   const Task& task, Space memory);

/// The rules about `algorithm` that the group breaks. One rank breaks none.
[[nodiscard]] std::vector<BrokenRule> broken_rules(const CollectiveRulesSpec& rules, const GroupShape& group,
                                                   const Algorithm& algorithm);

/// Adds the names of `broken` to `names`. Throws InfeasibleError about the first one where rules are enforced.
void enforce(const CollectiveRulesSpec& rules, const std::vector<BrokenRule>& broken, std::set<std::string>& names);

}  // namespace trnsim::collective
