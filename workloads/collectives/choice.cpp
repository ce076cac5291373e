#include "workloads/collectives/choice.h"

#include <string>
#include <string_view>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/collectives/algorithms/list.h"

namespace trnsim {
namespace {

using collective::Algorithm;
using collective::Place;
using collective::Task;

/// Names in order of preference.
std::vector<std::string_view> preferred(const Place& place, const Task& task, std::uint64_t bytes,
                                        const CollectiveCoreSpec& spec) {
  switch (task.collective) {
    case Collective::kAllToAll:
      return {"hierarchical", "direct"};
    case Collective::kPermute:
      return {"permute"};
    case Collective::kBroadcast:
      if (bytes <= spec.mesh_limit.count()) return {"broadcast_tree"};
      return {"broadcast_chain"};
    case Collective::kSendReceive:
      return {"send_receive"};
    default:
      break;
  }
  std::vector<std::string_view> names = {"hierarchical"};
  // Two ranks exchange as much in one step as in two.
  if (place.ranks == 2) names.emplace_back("single_step_mesh");
  if (bytes <= spec.mesh_limit.count() && bytes / place.ranks <= spec.mesh_shard_limit.count())
    names.emplace_back("mesh");
  if (bytes <= spec.recursive_limit.count() && !place.cube.empty()) names.emplace_back("recursive");
  if (spec.pairs_ranks) names.emplace_back("kangaring");
  names.emplace_back("ring");
  return names;
}

}  // namespace

const Algorithm& algorithm_for(const Place& place, const Task& task, std::uint64_t bytes,
                               const CollectiveCoreSpec& spec, const Algorithm* forced) {
  if (forced != nullptr) {
    const std::string why = collective::refusal(*forced, place, task);
    if (!why.empty()) throw InfeasibleError("algorithm " + std::string(forced->name) + ": " + why);
    return *forced;
  }
  for (const std::string_view name : preferred(place, task, bytes, spec)) {
    const Algorithm* algorithm = collective::find_algorithm(name);
    if (algorithm != nullptr && collective::refusal(*algorithm, place, task).empty()) return *algorithm;
  }
  throw InvariantError("some algorithm fits every collective");
}

const Algorithm* forced_algorithm(const SettingReader& read, std::string_view name) {
  if (read.is_auto(name)) return nullptr;
  const WorkloadParameter& parameter = read.need(name);
  const Algorithm* algorithm = collective::find_algorithm(parameter.value);
  if (algorithm != nullptr) return algorithm;
  std::string list;
  for (const Algorithm* known : collective::algorithms()) list += (list.empty() ? "" : ", ") + std::string(known->name);
  throw InputError(parameter.place + ": unknown algorithm '" + parameter.value + "'; use " + list + " or auto");
}

}  // namespace trnsim
