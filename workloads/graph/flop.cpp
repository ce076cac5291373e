#include "workloads/graph/flop.h"

#include <cstdio>
#include <string>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// Multiply-adds of all matrices of a feed-forward part `inner` wide, for one token.
Wide feed_forward_macs(const ModelShape& model, Wide inner) {
  return model.ffn_matrices * static_cast<Wide>(model.hidden) * inner;
}

void add_latent(const ModelShape& model, Wide tokens, const Pairs& pairs, LatentForm form, LayerFlop& flop) {
  const LatentShape& latent = model.latent;
  const Wide heads = model.q_heads;
  flop.qkv = 2 * tokens * latent_elements(model, model.q_heads);
  flop.latent = 2 * tokens * heads * latent.kv_rank * (latent.nope_dim + model.value_dim);
  const bool absorbed = form == LatentForm::kAbsorbed;
  flop.scores = 2 * heads * pairs.attended * (absorbed ? latent.row() : model.head_dim);
  flop.values = 2 * heads * pairs.attended * (absorbed ? latent.kv_rank : model.value_dim);
  const IndexerShape& index = model.indexer;
  if (index.top_k > 0) flop.indexer = 2 * tokens * indexer_elements(model) + 2 * pairs.cached * index.heads * index.dim;
}

}  // namespace

std::uint64_t latent_elements(const ModelShape& model, std::uint64_t heads) {
  const LatentShape& latent = model.latent;
  const std::uint64_t q = heads * model.head_dim;
  const std::uint64_t queries = latent.q_rank > 0 ? latent.q_rank * (model.hidden + q) : model.hidden * q;
  return queries + model.hidden * latent.row();
}

std::uint64_t indexer_elements(const ModelShape& model) {
  const IndexerShape& index = model.indexer;
  if (index.top_k == 0) return 0;
  return model.latent.q_rank * index.heads * index.dim + model.hidden * (index.dim + index.heads);
}

LayerFlop layer_flop(const ModelShape& model, LayerKind kind, Wide tokens, const Pairs& pairs, LatentForm form) {
  LayerFlop flop;
  if (kind.attention == AttentionKind::kLatent) {
    add_latent(model, tokens, pairs, form, flop);
  } else {
    flop.qkv = 2 * tokens * model.hidden * (model.q_width() + 2 * model.kv_width());
    flop.scores = pairs.attended * 2 * model.q_width();
    flop.values = flop.scores;
  }
  flop.output = 2 * tokens * model.q_heads * model.value_dim * model.hidden;
  if (kind.ffn == FfnKind::kDense) {
    flop.dense = 2 * tokens * feed_forward_macs(model, model.dense_ffn);
    return flop;
  }
  flop.router = 2 * tokens * model.hidden * model.experts;
  flop.experts = 2 * tokens * model.top_k * feed_forward_macs(model, model.ffn);
  flop.shared = 2 * tokens * model.shared_experts * feed_forward_macs(model, model.ffn);
  return flop;
}

Wide causal_pairs(Wide tokens, Wide window) {
  if (window == 0 || tokens <= window) return tokens * (tokens + 1) / 2;
  return window * (window + 1) / 2 + (tokens - window) * window;
}

Wide prefill_flop(const ModelShape& model, Wide sequences, Wide prompt, LatentForm form) {
  if (prompt == 0) return 0;  // no last token that would meet the output matrix
  Wide flop = 2 * sequences * model.vocabulary * model.hidden;
  for (const LayersOfKind& layers : model.kinds()) {
    const Wide most = layers.kind.attention == AttentionKind::kSliding ? model.window : model.indexer.top_k;
    const Pairs pairs{sequences * causal_pairs(prompt, most), sequences * causal_pairs(prompt, 0)};
    flop += layers.count * layer_flop(model, layers.kind, sequences * prompt, pairs, form).sum();
  }
  return flop;
}

Wide decode_flop(const ModelShape& model, Wide sequences, std::uint64_t context) {
  Wide flop = 2 * sequences * model.vocabulary * model.hidden;
  for (const LayersOfKind& layers : model.kinds()) {
    const Pairs pairs{sequences * model.seen(layers.kind.attention, context), sequences * context};
    flop += layers.count * layer_flop(model, layers.kind, sequences, pairs).sum();
  }
  return flop;
}

std::uint64_t countable(Wide flop) {
  constexpr int kBits = 62;
  if (flop < static_cast<Wide>(1) << kBits) return static_cast<std::uint64_t>(flop);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(flop));
  throw InfeasibleError("the job has " + std::string(text) +
                        " FLOP; at most 2^62 are counted: less tokens, keys or layers are needed");
}

std::uint64_t useful_flop(const Settings& s, const Mapping& m) {
  return countable(s.phase == Phase::kDecode ? decode_flop(s.model, m.batch, s.context)
                                             : prefill_flop(s.model, m.batch, s.prompt_tokens));
}

std::uint64_t expert_flop(const Settings& s, const Mapping& m) {
  const Wide tokens = static_cast<Wide>(m.batch) * (s.phase == Phase::kPrefill ? s.prompt_tokens : 1);
  const LayerKind kind{.ffn = FfnKind::kExperts};
  return countable(s.model.layers_with(FfnKind::kExperts) * layer_flop(s.model, kind, tokens, {}).experts);
}

}  // namespace trnsim
