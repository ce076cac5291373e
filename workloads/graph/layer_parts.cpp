// What decode steps and prefills write alike.
#include <algorithm>

#include "workloads/graph/layer_writer.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

FeedForward part_of(const KernelWriter& w, const ModelShape& model, std::uint64_t inner, std::uint64_t tokens) {
  return {.hidden = model.hidden,
          .inner = w.share(inner),
          .tokens = tokens,
          .matrices = model.ffn_matrices,
          .bias = model.ffn_bias};
}

}  // namespace

Handle norm(KernelWriter& w, const ModelShape& model, std::uint64_t tokens, Handle ready) {
  return model.norm == NormKind::kRms ? rms_norm(w, model.hidden, tokens, ready)
                                      : layer_norm(w, model.hidden, model.norm_bias, tokens, ready);
}

FeedForward dense_shape(const KernelWriter& w, const ModelShape& model, const Mapping& mapping, std::uint64_t tokens) {
  return part_of(w, model, ceil_div(model.dense_ffn, mapping.tp), tokens);
}

FeedForward shared_shape(const KernelWriter& w, const ModelShape& model, const Mapping& mapping, std::uint64_t tokens) {
  return part_of(w, model, ceil_div(model.shared_experts * model.ffn, mapping.tp), tokens);
}

Handle latent_down(KernelWriter& w, const ModelShape& model, std::uint64_t tokens, SemaphoreId arrival, Handle normed) {
  const LatentShape& latent = model.latent;
  const std::uint64_t down = w.share(latent.q_rank + latent.row());
  Handle done = project(w, {.contraction = model.hidden, .columns = down, .tokens = tokens, .bias = false}, normed);
  done = w.exchange(arrival, tokens * down * kBf16Bytes, done);
  if (latent.q_rank > 0) done = rms_norm(w, latent.q_rank, tokens, done);
  return rms_norm(w, latent.kv_rank, tokens, done);
}

Handle latent_queries(KernelWriter& w, const ModelShape& model, std::uint64_t heads, std::uint64_t tokens,
                      Handle latents) {
  const std::uint64_t from = model.latent.q_rank > 0 ? model.latent.q_rank : model.hidden;
  return project(w, {.contraction = from, .columns = heads * model.head_dim, .tokens = tokens, .bias = false}, latents);
}

std::uint64_t attention_width(const ModelShape& model, const Mapping& mapping) {
  const LatentShape& latent = model.latent;
  if (latent.kv_rank == 0) return (mapping.q_heads + 2 * mapping.kv_heads) * model.head_dim;
  const std::uint64_t head = std::max(model.head_dim, latent.row());
  return latent.q_rank + latent.row() + mapping.q_heads * head + model.indexer.heads * model.indexer.dim;
}

std::uint64_t widest_inner(const ModelShape& model, const Mapping& mapping) {
  const std::uint64_t widest = std::max(model.dense_ffn, model.shared_experts * model.ffn);
  return ceil_div(ceil_div(widest, mapping.tp), mapping.lnc);
}

}  // namespace trnsim
