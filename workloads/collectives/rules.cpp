#include "workloads/collectives/rules.h"

#include <bit>
#include <map>
#include <utility>

#include "models/mechanism/error.h"
#include "workloads/collectives/algorithms/list.h"

namespace trnsim::collective {
namespace {

/// Collects what is broken.
class Findings {
 public:
  void add(const char* rule, std::string value, std::string why) {
    broken_.push_back({std::string("collective.rule.") + rule, std::move(value), std::move(why)});
  }
  /// A rule that is a number.
  void add(const char* rule, std::uint32_t value, std::string why) { add(rule, std::to_string(value), std::move(why)); }

  [[nodiscard]] std::vector<BrokenRule> take() { return std::move(broken_); }

 private:
  std::vector<BrokenRule> broken_;
};

std::string number_of(std::uint32_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string group_of(std::uint32_t count, const char* what) {
  return "the group has " + number_of(count, what);
}

/// Two physical cores per logical core, as collectives of different sizes want it.
bool is_paired(const GroupShape& group) {
  return group.lanes > 1;
}

bool runs_from_sbuf(const Task& task) {
  const bool reduces_or_gathers = task.collective == Collective::kAllReduce ||
                                  task.collective == Collective::kAllGather ||
                                  task.collective == Collective::kReduceScatter;
  return reduces_or_gathers && task.counts.empty();
}

void check_all_to_all(Findings& found, const CollectiveRulesSpec& rules, std::uint32_t ranks) {
  if (ranks < rules.all_to_all_least) {
    found.add(
        "all_to_all_least", rules.all_to_all_least,
        group_of(ranks, "rank") + "; take at least " + std::to_string(rules.all_to_all_least) + " for an all_to_all");
  }
  const std::uint32_t multiple = rules.all_to_all_multiple;
  if (multiple > 0 && !std::has_single_bit(ranks) && ranks % multiple != 0) {
    found.add("all_to_all_multiple", multiple,
              group_of(ranks, "rank") + "; take a power of two or a multiple of " + std::to_string(multiple) +
                  " for an all_to_all");
  }
}

void check_variable(Findings& found, const CollectiveRulesSpec& rules, const GroupShape& group, const Task& task) {
  const std::string chips = "lnc=" + std::to_string(group.lanes) + " and " + number_of(group.ranks, "rank") + " on " +
                            number_of(group.chips, "chip") + "; ";
  if (rules.equal_sizes) found.add("equal_sizes", "yes", "ranks give different sizes; give all the same");
  if (task.collective == Collective::kAllGather && rules.variable_all_gather_one_chip &&
      !(is_paired(group) && group.whole_chips && group.chips == 1)) {
    found.add("variable_all_gather_one_chip", "yes",
              "the group has " + chips + "take all ranks of one chip with lnc=2 for an all_gather of different sizes");
  }
  if (task.collective != Collective::kAllToAll) return;
  if (rules.variable_all_to_all == VariableAllToAll::kSameLocalRank &&
      !(group.same_local_ranks && group.ranks == group.instances)) {
    found.add("variable_all_to_all", "same_local_rank",
              group_of(group.ranks, "rank") + " in " + number_of(group.instances, "instance") +
                  "; take one of each, of equal local number, for an all_to_all of different sizes");
  }
  if (rules.variable_all_to_all == VariableAllToAll::kWholeChips &&
      !(is_paired(group) && group.whole_chips && group.in_order && group.chips > 1)) {
    found.add("variable_all_to_all", "whole_chips",
              "the group has " + chips +
                  "take all ranks of several chips in order with lnc=2 for an all_to_all of different sizes");
  }
}

}  // namespace

GroupShape shape_of(std::span<const std::uint32_t> group, std::uint32_t lnc, const MachineSpec& machine) {
  const std::uint32_t chip_ranks = machine.cores_per_chip / lnc;
  const std::uint32_t instance_ranks = chip_ranks * machine.chips_per_instance();
  std::set<std::uint32_t> chips;
  std::map<std::uint32_t, std::set<std::uint32_t>> local;  // by instance
  GroupShape shape;
  for (std::size_t i = 0; i < group.size(); ++i) {
    chips.insert(group[i] / chip_ranks);
    local[group[i] / instance_ranks].insert(group[i] % instance_ranks);
    shape.in_order = shape.in_order && (i == 0 || group[i] == group[i - 1] + 1);
  }
  shape.ranks = static_cast<std::uint32_t>(group.size());
  shape.lanes = lnc;
  shape.chips = static_cast<std::uint32_t>(chips.size());
  shape.instances = static_cast<std::uint32_t>(local.size());
  shape.whole_chips = shape.ranks == shape.chips * chip_ranks;
  for (const auto& [instance, ranks] : local) {
    shape.same_local_ranks = shape.same_local_ranks && ranks == local.begin()->second;
  }
  return shape;
}

std::vector<BrokenRule> broken_rules(const CollectiveRulesSpec& rules, const GroupShape& group, const Task& task,
                                     Space memory) {
  if (group.ranks == 1) return {};
  Findings found;
  if (rules.same_local_ranks && !group.same_local_ranks) {
    found.add("same_local_ranks", "yes",
              "the group has other local ranks in one instance than in another; take the same in each");
  }
  if (memory == Space::kSbuf && rules.sbuf == SbufCollectives::kReduceAndGather && !runs_from_sbuf(task)) {
    found.add("sbuf", "reduce_and_gather",
              std::string(name_of(task.collective)) + (task.counts.empty() ? "" : " of different sizes") +
                  " cannot run from SBUF; take collective_memory=hbm");
  }
  if (!task.counts.empty()) {
    check_variable(found, rules, group, task);
  } else if (task.collective == Collective::kAllToAll) {
    check_all_to_all(found, rules, group.ranks);
  }
  return found.take();
}

std::vector<BrokenRule> broken_rules(const CollectiveRulesSpec& rules, const GroupShape& group,
                                     const Algorithm& algorithm) {
  if (group.ranks == 1) return {};
  Findings found;
  if (&algorithm == &kMesh || &algorithm == &kSingleStepMesh) {
    if (rules.mesh_chips > 0 && group.chips > rules.mesh_chips) {
      found.add("mesh_chips", rules.mesh_chips,
                group_of(group.chips, "chip") + "; take at most " + std::to_string(rules.mesh_chips) + " for a mesh");
    }
  }
  if (&algorithm == &kKangaRing) {
    if (rules.kangaring_ranks > 0 && group.ranks > rules.kangaring_ranks) {
      found.add("kangaring_ranks", rules.kangaring_ranks,
                group_of(group.ranks, "rank") + "; take at most " + std::to_string(rules.kangaring_ranks) +
                    " for a kangaring");
    }
    if (rules.kangaring_whole_chips && !group.whole_chips) {
      found.add("kangaring_whole_chips", "yes",
                group_of(group.ranks, "rank") + " on " + number_of(group.chips, "chip") +
                    ", some of which have more; take all ranks of a chip for a kangaring");
    }
  }
  return found.take();
}

void enforce(const CollectiveRulesSpec& rules, const std::vector<BrokenRule>& broken, std::set<std::string>& names) {
  for (const BrokenRule& rule : broken) {
    if (rules.enforced) {
      throw InfeasibleError(rule.name + "=" + rule.value + ": " + rule.why +
                            ", or collective.rules=report to run it all the same");
    }
    names.insert(rule.name);
  }
}

}  // namespace trnsim::collective
