// The algorithms there are. Each has one file of its name here, and one row.
#pragma once

#include <span>
#include <string_view>

#include "workloads/collectives/algorithms/algorithm.h"

namespace trnsim::collective {

/// In order of name.
[[nodiscard]] std::span<const Algorithm* const> algorithms();

/// Null if there is none of this name.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view name);

extern const Algorithm kBroadcastChain;
extern const Algorithm kBroadcastTree;
extern const Algorithm kDirect;
extern const Algorithm kHierarchical;
extern const Algorithm kKangaRing;
extern const Algorithm kMesh;
extern const Algorithm kPermute;
extern const Algorithm kRecursive;
extern const Algorithm kRing;
extern const Algorithm kSendReceive;
extern const Algorithm kSingleStepMesh;

}  // namespace trnsim::collective
