#include "workloads/models/model_shape.h"

namespace trnsim {

std::uint64_t ModelShape::layers_with(AttentionKind kind) const {
  std::uint64_t count = 0;
  for (std::uint64_t l = 0; l < layers; ++l) count += static_cast<std::uint64_t>(attention(l) == kind);
  return count;
}

std::uint64_t ModelShape::layers_with(FfnKind kind) const {
  std::uint64_t count = 0;
  for (std::uint64_t l = 0; l < layers; ++l) count += static_cast<std::uint64_t>(feed_forward(l) == kind);
  return count;
}

}  // namespace trnsim
