#include "workloads/models/model_shape.h"

#include <map>

namespace trnsim {

std::vector<LayersOfKind> ModelShape::kinds() const {
  std::map<LayerKind, std::uint64_t> counts;
  for (std::uint64_t l = 0; l < layers; ++l) ++counts[kind(l)];
  std::vector<LayersOfKind> list;
  list.reserve(counts.size());
  for (const auto& [kind, count] : counts) list.push_back({kind, count});
  return list;
}

std::uint64_t ModelShape::layers_with(FfnKind kind) const {
  std::uint64_t count = 0;
  for (const LayersOfKind& layers_of : kinds()) count += layers_of.kind.ffn == kind ? layers_of.count : 0;
  return count;
}

}  // namespace trnsim
