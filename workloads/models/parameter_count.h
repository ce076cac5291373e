// What a model weighs and keeps per token, in closed form from its dimensions.
#pragma once

#include <cstdint>

#include "models/mechanism/units.h"
#include "workloads/models/model_shape.h"

namespace trnsim {

/// Counts of a whole model, nothing padded, copied or split. Every weight, bias, norm gain, sink and gate counts once.
struct ModelCounts {
  Wide total = 0;                     ///< parameters
  Wide routed_expert_matrices = 0;    ///< of these, the matrices of the experts that a router chooses from
  Wide active = 0;                    ///< parameters that one token meets: top_k experts and all else
  Wide active_without_embedding = 0;  ///< the same without the `vocabulary` rows of the embedding, if it is no output
                                      ///< matrix too: a token looks one row up and multiplies with none

  std::uint64_t cached_elements = 0;  ///< per token of context: keys and values, or latent rows; all layers that grow
  std::uint64_t cached_bytes = 0;     ///< of these elements in BF16
  std::uint64_t index_bytes = 0;      ///< per token: the indexer's FP8 keys and their FP32 scales

  /// Useful forward FLOP of the linear layers per token, 2 per active parameter without the embedding. This usual
  /// measure counts biases and norms, below 10^-4 of the whole; scores and weighted sums over the context come on top.
  Wide linear_flop = 0;
};

/// Per layer with hidden width h, and hq query heads, hkv key and value heads of d elements:
///   grouped-query   h (hq + 2 hkv) d + hq d h, biases, sinks, and 2 d gains of query and key norms
///   cross           the same with query and key norms and two gates, of attention and feed-forward
///   latent          h q + q + q hq d + h (c + r) + c + c hq (n + v) + hq v h, with latents q and c, each with a
///                   norm, a rotated part r, the rest n and values v; without a query latent h hq d for its terms
///   indexer         q hi di + h di + 2 di + h hi: queries from the query latent, one key with a layer norm, and
///                   a weight per head
///   feed-forward    matrices of h x width, biases; of experts also the router h E, its bias and its correction
///   norms           2, each h (twice that with a bias)
/// and once the final norm, the embedding and, unless it is tied, the output matrix.
[[nodiscard]] ModelCounts model_counts(const ModelShape& model);

}  // namespace trnsim
