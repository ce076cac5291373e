// From drawn routing to the work list of each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/mapping.h"
#include "workloads/routing/routing.h"
#include "workloads/settings.h"

namespace trnsim {

/// One piece of an expert's tokens.
struct MoeEntry {
  std::uint32_t loads = 0;  ///< 1: brings the expert's weights from HBM
  std::uint32_t tokens = 0;
};

/// How entries are cut.
struct EntryRule {
  std::uint64_t most_tokens = 1;
  bool weights_stay = true;  ///< weights serve all entries of an expert, else each entry reads them again
};

/// What rank `rank` of a group does in one layer.
struct RankWork {
  std::vector<MoeEntry> entries;
  std::uint32_t experts = 0;  ///< with at least one token (all local ones for all_expert)
};
[[nodiscard]] RankWork rank_work(const Settings& settings, const Mapping& mapping, const LayerRouting& routing,
                                 std::uint32_t rank, const EntryRule& rule);

/// Rows that ranks of an expert group exchange: rows[source * ranks + destination] tokens go to a rank that holds at
/// least one of their experts. Rank r of a replica sends the r-th slice of the replica's tokens.
[[nodiscard]] std::vector<std::uint32_t> dispatch_rows(const Settings& settings, const Mapping& mapping,
                                                       const LayerRouting& routing);

}  // namespace trnsim
