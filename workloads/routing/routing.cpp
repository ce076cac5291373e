#include "workloads/routing/routing.h"

#include <algorithm>
#include <numeric>

#include "workloads/routing/popularity.h"
#include "workloads/routing/random.h"

namespace trnsim {
namespace {

// Robert Floyd's sampling: k different numbers below `experts`, each set equally likely.
void draw_uniform(Random& random, std::uint64_t experts, std::uint64_t top_k, std::vector<std::uint32_t>& choices) {
  const auto first = static_cast<std::ptrdiff_t>(choices.size());
  for (std::uint64_t j = experts - top_k; j < experts; ++j) {
    auto pick = static_cast<std::uint32_t>(random.below(j + 1));
    if (std::find(choices.begin() + first, choices.end(), pick) != choices.end()) pick = static_cast<std::uint32_t>(j);
    choices.push_back(pick);
  }
}

void draw_weighted(Random& random, std::vector<double> weights, std::uint64_t top_k,
                   std::vector<std::uint32_t>& choices) {
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::uint64_t j = 0; j < top_k; ++j) {
    double left = random.unit() * total;
    std::size_t pick = 0;
    std::size_t last = 0;  // the last open one catches what rounding leaves over
    bool found = false;
    for (std::size_t e = 0; e < weights.size() && !found; ++e) {
      if (weights[e] == 0) continue;
      last = e;
      found = left < weights[e];
      left -= weights[e];
    }
    pick = last;
    choices.push_back(static_cast<std::uint32_t>(pick));
    total -= weights[pick];
    weights[pick] = 0;
  }
}

}  // namespace

std::vector<std::uint64_t> LayerRouting::tokens_per_expert(std::uint64_t experts) const {
  std::vector<std::uint64_t> counts(experts);
  for (const std::uint32_t expert : choices) ++counts[expert];
  return counts;
}

std::uint64_t LayerRouting::distinct(std::uint64_t experts) const {
  const std::vector<std::uint64_t> counts = tokens_per_expert(experts);
  return experts - static_cast<std::uint64_t>(std::count(counts.begin(), counts.end(), 0U));
}

LayerRouting draw_routing(const Settings& settings, std::uint64_t tokens, std::uint64_t layer, std::uint64_t seed) {
  const ModelShape& model = settings.model;
  LayerRouting routing;
  if (model.feed_forward(layer) == FfnKind::kDense) return routing;
  routing.top_k = model.top_k;
  routing.choices.reserve(tokens * model.top_k);
  Random random(Random(seed ^ (layer * 0xd1342543de82ef95)).next());
  std::vector<double> popularity;
  if (settings.routing == Routing::kLognormal) {
    popularity = lognormal_popularity(random, model.experts, settings.routing_sigma);
  }
  for (std::uint64_t t = 0; t < tokens; ++t) {
    if (settings.routing == Routing::kUniform) draw_uniform(random, model.experts, model.top_k, routing.choices);
    if (settings.routing == Routing::kLognormal) draw_weighted(random, popularity, model.top_k, routing.choices);
    for (std::uint64_t j = 0; settings.routing == Routing::kBalanced && j < model.top_k; ++j) {
      routing.choices.push_back(static_cast<std::uint32_t>((t * model.top_k + j) % model.experts));
    }
  }
  return routing;
}

}  // namespace trnsim
