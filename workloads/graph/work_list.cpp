#include "workloads/graph/work_list.h"

#include <algorithm>

namespace trnsim {

RankWork rank_work(const Settings& s, const Mapping& m, const LayerRouting& routing, std::uint32_t rank,
                   const EntryRule& rule) {
  const std::uint64_t first = (rank / m.expert_split) * m.local_experts;
  const std::vector<std::uint64_t> counts = routing.tokens_per_expert(s.model.experts);
  RankWork work;
  for (std::uint64_t e = first; e < first + m.local_experts; ++e) {
    const bool all = s.moe_kernel == MoeKernel::kAllExpert && s.phase == Phase::kDecode;
    const std::uint64_t tokens = all ? routing.tokens() : counts[e];
    if (tokens == 0) continue;
    ++work.experts;
    const std::uint64_t entries = ceil_div(tokens, rule.most_tokens);
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::uint64_t part = tokens * (i + 1) / entries - tokens * i / entries;
      const bool loads = i == 0 || !rule.weights_stay;
      work.entries.push_back({static_cast<std::uint32_t>(loads), static_cast<std::uint32_t>(part)});
    }
  }
  return work;
}

std::vector<std::uint32_t> dispatch_rows(const Settings& s, const Mapping& m, const LayerRouting& routing) {
  const std::uint64_t ranks = m.group_ranks;
  const std::uint64_t tokens_per_replica = routing.tokens() / m.replicas_per_group();
  const std::uint64_t slice = std::max<std::uint64_t>(1, ceil_div(tokens_per_replica, m.tp));
  std::vector<std::uint32_t> rows(ranks * ranks);
  std::vector<std::uint32_t> destinations(s.model.top_k);
  for (std::uint64_t t = 0; t < routing.tokens(); ++t) {
    const std::uint64_t source = t / tokens_per_replica * m.tp + t % tokens_per_replica / slice;
    for (std::uint64_t j = 0; j < s.model.top_k; ++j) {
      destinations[j] = static_cast<std::uint32_t>(routing.choices[t * s.model.top_k + j] / m.local_experts);
    }
    std::sort(destinations.begin(), destinations.end());
    const auto end = std::unique(destinations.begin(), destinations.end());
    for (auto d = destinations.begin(); d != end; ++d) ++rows[source * ranks + *d];
  }
  return rows;
}

}  // namespace trnsim
