#include "models/topology/tree.h"

namespace trnsim {
namespace {

std::uint32_t switches_of(const FabricSpec& spec) {
  std::uint32_t groups = spec.shape_chips();
  std::uint32_t switches = 0;
  for (const LineSpec& level : spec.levels) switches += groups /= level.size;
  return switches;
}

}  // namespace

Tree::Tree(const FabricSpec& spec) : Shape(spec, spec.shape_chips(), switches_of(spec)), span_{1}, first_{0} {
  for (std::size_t i = 0; i < spec.levels.size(); ++i) {
    const std::uint32_t below = chips() / span_[i];
    span_.push_back(span_[i] * spec.levels[i].size);
    first_.push_back(first_[i] + below);
    for (std::uint32_t child = 0; child < below; ++child) {
      const std::uint32_t above = first_[i + 1] + child / spec.levels[i].size;
      const std::string level = "level" + std::to_string(i);
      connect(first_[i] + child, above, level, spec.levels[i].bandwidth, spec.levels[i].latency);
      connect(above, first_[i] + child, level, spec.levels[i].bandwidth, spec.levels[i].latency);
    }
  }
}

std::size_t Tree::tier(std::uint32_t node) const {
  std::size_t tier = first_.size() - 1;
  while (node < first_[tier]) --tier;
  return tier;
}

// Nodes below the top are numbered as the pairs of links from them up and back.
Step Tree::next(std::uint32_t node, std::uint32_t to, bool /*even*/) const {
  const std::size_t at = tier(node);
  if (at > 0 && to / span_[at] == node - first_[at]) {
    const std::uint32_t child = first_[at - 1] + to / span_[at - 1];
    return {2 * child + 1, child};
  }
  return {2 * node, first_[at + 1] + (node - first_[at]) * span_[at] / span_[at + 1]};
}

std::string Tree::switch_name(std::uint32_t node) const {
  const std::size_t at = tier(node);
  return "level" + std::to_string(at - 1) + ".switch" + std::to_string(node - first_[at]);
}

}  // namespace trnsim
