// What a transformer is made of: dimensions and kinds of its layers, nothing about how it is run.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace trnsim {

/// What one layer does before its feed-forward part.
enum class AttentionKind : std::uint8_t {
  kFull,     ///< grouped-query (multi-head if every query head has its own keys), all earlier tokens
  kSliding,  ///< the same over the last `window` tokens
  kLatent,   ///< multi-latent: one compressed row per token serves all heads; sparse if the model has an indexer
  kCross,    ///< grouped-query over the tokens of another modality, whose keys do not grow
};
enum class FfnKind : std::uint8_t { kDense, kExperts };
struct LayerKind {
  AttentionKind attention = AttentionKind::kFull;
  FfnKind ffn = FfnKind::kDense;
  auto operator<=>(const LayerKind&) const = default;
};
/// A kind of layer and how many a model has of it.
struct LayersOfKind {
  LayerKind kind;
  std::uint64_t count = 0;
};
enum class AttentionBias : std::uint8_t { kNone, kQkv, kQkvo };
enum class NormKind : std::uint8_t { kRms, kLayer };  ///< a layer norm has a bias beside its gain if the model says so

/// Low-rank projections of multi-latent attention. All 0: the model has none.
struct LatentShape {
  std::uint64_t q_rank = 0;    ///< width of the query latent; 0 with a kv_rank: queries straight from the hidden state
  std::uint64_t kv_rank = 0;   ///< width of the latent that is cached
  std::uint64_t nope_dim = 0;  ///< elements of a query or key head that are not rotated
  std::uint64_t rope_dim = 0;  ///< elements that are, one key for all heads, cached beside the latent
  [[nodiscard]] std::uint64_t row() const { return kv_rank + rope_dim; }  ///< cached elements of a token and layer
  bool operator==(const LatentShape&) const = default;
};

/// Indexer that picks the tokens which latent attention sees. All 0: none.
struct IndexerShape {
  std::uint64_t heads = 0, dim = 0, top_k = 0;
  bool operator==(const IndexerShape&) const = default;
};

/// Dimensions of a decoder-only transformer. What a model does not have is 0 or the first of its enumeration.
struct ModelShape {
  std::uint64_t layers = 0, hidden = 0, vocabulary = 0, max_context = 0;
  std::uint64_t extra_embedding_rows = 0;  ///< that the output matrix has not, of another modality's tokens
  bool tied_embedding = false;             ///< the output matrix is the embedding's
  bool parallel_ffn = false;  ///< attention and feed-forward both read the layer's input and are added up together
  NormKind norm = NormKind::kRms;
  bool norm_bias = false;

  std::uint64_t q_heads = 0, kv_heads = 0;
  std::uint64_t head_dim = 0;   ///< of queries and keys
  std::uint64_t value_dim = 0;  ///< of values; equals head_dim but for latent attention
  AttentionBias attention_bias = AttentionBias::kNone;
  bool attention_sink = false;      ///< a learned logit per head that only the denominator takes in
  bool qk_norm = false;             ///< RMS norm of each query and key head
  std::uint64_t window = 0;         ///< keys seen by layers with a window; 0: no layer has one
  std::uint64_t window_period = 1;  ///< one layer of this many is fully causal, the last of each period; 0: none is
  std::uint64_t cross_period = 0;   ///< one layer of this many attends to other tokens; 0: none does
  std::uint64_t cross_offset = 0;   ///< the first such layer
  LatentShape latent;
  IndexerShape indexer;

  std::uint64_t dense_layers = 0;  ///< the first layers, whose feed-forward part has no experts
  std::uint64_t dense_ffn = 0;     ///< inner width of theirs
  std::uint64_t ffn_matrices = 3;  ///< 3: gate, up, down; 2: up, down
  bool ffn_bias = false;           ///< of all feed-forward matrices and of the router
  bool router_correction = false;  ///< a learned correction per expert that counts in choosing experts alone
  std::uint64_t experts = 0, top_k = 0, ffn = 0, shared_experts = 0;  ///< ffn: inner width of one expert

  [[nodiscard]] AttentionKind attention(std::uint64_t layer) const {
    if (latent.kv_rank > 0) return AttentionKind::kLatent;
    if (cross_period > 0 && layer % cross_period == cross_offset) return AttentionKind::kCross;
    const bool sees_all = window == 0 || (window_period > 0 && (layer + 1) % window_period == 0);
    return sees_all ? AttentionKind::kFull : AttentionKind::kSliding;
  }
  [[nodiscard]] FfnKind feed_forward(std::uint64_t layer) const {
    return experts == 0 || layer < dense_layers ? FfnKind::kDense : FfnKind::kExperts;
  }
  bool operator==(const ModelShape&) const = default;
  [[nodiscard]] LayerKind kind(std::uint64_t layer) const { return {attention(layer), feed_forward(layer)}; }
  /// Every kind that a layer has, once, in order.
  [[nodiscard]] std::vector<LayersOfKind> kinds() const;
  [[nodiscard]] std::uint64_t layers_with(FfnKind kind) const;
  /// Tokens that a layer keeps keys of, after `tokens`.
  [[nodiscard]] std::uint64_t cached(AttentionKind kind, std::uint64_t tokens) const {
    return kind == AttentionKind::kSliding && window < tokens ? window : tokens;
  }
  /// Those that a query at the end of `tokens` tokens attends to.
  [[nodiscard]] std::uint64_t seen(AttentionKind kind, std::uint64_t tokens) const {
    return indexer.top_k > 0 && indexer.top_k < tokens ? indexer.top_k : cached(kind, tokens);
  }
  [[nodiscard]] std::uint64_t q_width() const { return q_heads * head_dim; }
  [[nodiscard]] std::uint64_t kv_width() const { return kv_heads * head_dim; }
};

}  // namespace trnsim
