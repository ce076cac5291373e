#include "workloads/models/parameter_count.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kScaleBytes = 4;
constexpr std::uint64_t kScaleBlock = 128;  // FP8 elements of an index key that share a scale
constexpr std::uint64_t kFlopPerParameter = 2;

Wide product(std::uint64_t a, std::uint64_t b) {
  return Wide{a} * b;
}

std::uint64_t norm(const ModelShape& model) {
  return model.hidden * (model.norm_bias ? 2 : 1);
}

Wide grouped_query(const ModelShape& model) {
  const std::uint64_t qkv = model.q_width() + 2 * model.kv_width();
  Wide count = product(model.hidden, qkv) + product(model.q_width(), model.hidden);
  if (model.attention_bias != AttentionBias::kNone) count += qkv;
  if (model.attention_bias == AttentionBias::kQkvo) count += model.hidden;
  if (model.attention_sink) count += model.q_heads;
  return count;
}

Wide latent(const ModelShape& model) {
  const LatentShape& l = model.latent;
  const std::uint64_t values = model.q_heads * model.value_dim;
  Wide count = l.q_rank == 0 ? product(model.hidden, model.q_width())
                             : product(model.hidden, l.q_rank) + l.q_rank + product(l.q_rank, model.q_width());
  count += product(model.hidden, l.row()) + l.kv_rank;
  count += product(l.kv_rank, model.q_heads * l.nope_dim + values) + product(values, model.hidden);
  const IndexerShape& index = model.indexer;
  if (index.top_k == 0) return count;
  const std::uint64_t queries_from = l.q_rank == 0 ? model.hidden : l.q_rank;
  return count + product(queries_from, index.heads * index.dim) + product(model.hidden, index.dim + index.heads) +
         Wide(2) * index.dim;
}

Wide attention(const ModelShape& model, AttentionKind kind) {
  const std::uint64_t head_norms = 2 * model.head_dim;
  const std::uint64_t gates = 2;
  if (kind == AttentionKind::kLatent) return latent(model);
  if (kind == AttentionKind::kCross) return grouped_query(model) + head_norms + gates;
  return grouped_query(model) + (model.qk_norm ? head_norms : 0);
}

Wide feed_forward_matrices(const ModelShape& model, std::uint64_t width) {
  return model.ffn_matrices * product(model.hidden, width);
}

Wide feed_forward(const ModelShape& model, std::uint64_t width) {
  const std::uint64_t biases = model.ffn_bias ? (model.ffn_matrices - 1) * width + model.hidden : 0;
  return feed_forward_matrices(model, width) + biases;
}

Wide router(const ModelShape& model) {
  const std::uint64_t per_expert = model.hidden + (model.ffn_bias ? 1 : 0) + (model.router_correction ? 1 : 0);
  return product(model.experts, per_expert);
}

/// Parameters of a feed-forward part of which a token meets `experts` routed experts.
Wide feed_forward_part(const ModelShape& model, FfnKind kind, std::uint64_t experts) {
  if (kind == FfnKind::kDense) return feed_forward(model, model.dense_ffn);
  return router(model) + (experts + model.shared_experts) * feed_forward(model, model.ffn);
}

void count_cache(const ModelShape& model, ModelCounts& counts) {
  const std::uint64_t row = model.latent.kv_rank > 0 ? model.latent.row() : 2 * model.kv_width();
  for (const LayersOfKind& layers : model.kinds())
    if (layers.kind.attention != AttentionKind::kCross) counts.cached_elements += layers.count * row;
  counts.cached_bytes = counts.cached_elements * kBf16Bytes;
  if (model.indexer.top_k == 0) return;
  const std::uint64_t scales = (model.indexer.dim + kScaleBlock - 1) / kScaleBlock;
  counts.index_bytes = model.layers * (model.indexer.dim + scales * kScaleBytes);
}

}  // namespace

ModelCounts model_counts(const ModelShape& model) {
  ModelCounts counts;
  for (const LayersOfKind& layers : model.kinds()) {
    const auto& [attends, ffn] = layers.kind;
    const Wide rest = attention(model, attends) + Wide(2) * norm(model);
    counts.total += layers.count * (rest + feed_forward_part(model, ffn, model.experts));
    counts.active += layers.count * (rest + feed_forward_part(model, ffn, model.top_k));
  }
  counts.routed_expert_matrices =
      product(model.layers_with(FfnKind::kExperts), model.experts) * feed_forward_matrices(model, model.ffn);
  const Wide matrix = product(model.vocabulary, model.hidden);
  const Wide once =
      norm(model) + (model.tied_embedding ? 1 : 2) * matrix + product(model.extra_embedding_rows, model.hidden);
  counts.total += once;
  counts.active += once;
  counts.active_without_embedding = counts.active - (model.tied_embedding ? 0 : matrix);
  counts.linear_flop = kFlopPerParameter * counts.active_without_embedding;
  count_cache(model, counts);
  return counts;
}

}  // namespace trnsim
