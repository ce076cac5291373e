// Which experts the tokens of one layer choose.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/settings.h"

namespace trnsim {

/// The choices of one layer: token t takes experts choices[t * k .. t * k + k - 1], all different.
struct LayerRouting {
  std::uint64_t top_k = 0;
  std::vector<std::uint32_t> choices;

  [[nodiscard]] std::uint64_t tokens() const { return top_k == 0 ? 0 : choices.size() / top_k; }
  [[nodiscard]] std::vector<std::uint64_t> tokens_per_expert(std::uint64_t experts) const;
  /// Experts with at least one token.
  [[nodiscard]] std::uint64_t distinct(std::uint64_t experts) const;
};

/// Draws the choices of `tokens` tokens in `layer`; a layer without experts has none.
///   uniform: every token draws k of E experts, all sets equally likely;
///   balanced: experts are dealt in turn;
///   lognormal: each layer draws popularities exp(sigma z), tokens draw without replacement in proportion to them.
/// Layers are independent of each other; `seed` and `layer` fix the draw.
[[nodiscard]] LayerRouting draw_routing(const Settings& settings, std::uint64_t tokens, std::uint64_t layer,
                                        std::uint64_t seed);

}  // namespace trnsim
