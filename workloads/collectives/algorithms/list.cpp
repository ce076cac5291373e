#include "workloads/collectives/algorithms/list.h"

#include <algorithm>
#include <array>

namespace trnsim::collective {
namespace {

constexpr std::array kAlgorithms = {&kBroadcastChain, &kBroadcastTree, &kDirect,        &kHierarchical,
                                    &kKangaRing,      &kMesh,          &kPermute,       &kRecursive,
                                    &kRing,           &kSendReceive,   &kSingleStepMesh};

}  // namespace

std::span<const Algorithm* const> algorithms() {
  return kAlgorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto found = std::ranges::find(kAlgorithms, name, &Algorithm::name);
  return found == kAlgorithms.end() ? nullptr : *found;
}

bool Algorithm::carries_out(Collective collective) const {
  return std::ranges::find(forms, collective, &Form::collective) != forms.end();
}

std::string refusal(const Algorithm& algorithm, const Place& place, const Task& task) {
  if (!algorithm.carries_out(task.collective)) {
    return std::string(algorithm.name) + " is no algorithm for " + std::string(name_of(task.collective));
  }
  return algorithm.obstacle(place, task);
}

std::string_view name_of(Collective collective) {
  return kCollectiveNames[static_cast<std::size_t>(collective)];
}

}  // namespace trnsim::collective
