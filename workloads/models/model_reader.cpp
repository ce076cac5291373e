#include "workloads/models/model_reader.h"

#include <string>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

[[noreturn]] void refuse(const SettingReader& read, std::string_view name, const std::string& why) {
  throw InputError(read.need(name).place + ": " + why);
}

void read_heads(const SettingReader& read, ModelShape& model) {
  model.q_heads = read.count("q_heads");
  model.kv_heads = read.count("kv_heads");
  model.head_dim = read.count("head_dim");
  model.value_dim = read.count_or("value_dim", model.head_dim);
  check_heads(read, model.q_heads, model.kv_heads);
  if (read.find("attention_bias") != nullptr)
    model.attention_bias = read.choice<AttentionBias, 3>("attention_bias", {"none", "qkv", "qkvo"});
  model.attention_sink = read.is_yes("attention_sink");
  model.qk_norm = read.is_yes("qk_norm");
}

void read_latent(const SettingReader& read, ModelShape& model) {
  LatentShape& latent = model.latent;
  latent.kv_rank = read.count_or("kv_lora_rank", 0);
  if (latent.kv_rank == 0) {
    if (model.value_dim != model.head_dim)
      refuse(read, "value_dim",
             "values as wide as keys, " + std::to_string(model.head_dim) +
                 ", is what grouped-query attention has; set kv_lora_rank for latent attention");
    return;
  }
  latent.q_rank = read.count_or("q_lora_rank", 0);
  latent.nope_dim = read.count("qk_nope_dim");
  latent.rope_dim = read.count("qk_rope_dim");
  if (latent.nope_dim + latent.rope_dim != model.head_dim)
    refuse(read, "qk_rope_dim",
           "qk_nope_dim and qk_rope_dim must add up to head_dim, which is " + std::to_string(model.head_dim));
  model.indexer.top_k = read.count_or("index_topk", 0);
  if (model.indexer.top_k == 0) return;
  model.indexer.heads = read.count("index_heads");
  model.indexer.dim = read.count("index_dim");
}

// Layers that differ in what their queries see.
void read_patterns(const SettingReader& read, ModelShape& model) {
  model.window = read.count_or("sliding_window", 0);
  if (model.window > 0) model.window_period = read.count("window_period");
  if (model.window_period > 0 && model.layers % model.window_period != 0) {
    refuse(read, "window_period",
           "window_period must divide layers, which is " + std::to_string(model.layers) + "; choose a divisor");
  }
  model.cross_period = read.count_or("cross_attention_period", 0);
  if (model.cross_period == 0) return;
  model.cross_offset = read.count("cross_attention_offset");
  if (model.cross_offset >= model.cross_period)
    refuse(read, "cross_attention_offset",
           "the first layer with cross-attention is one of the first period; use less "
           "than " +
               std::to_string(model.cross_period));
}

void read_feed_forward(const SettingReader& read, ModelShape& model) {
  model.ffn_matrices = read.count_or("ffn_matrices", 3);
  model.ffn_bias = read.is_yes("ffn_bias");
  model.parallel_ffn = read.is_yes("parallel_ffn");
  model.experts = read.count_or("experts", 0);
  if (model.parallel_ffn && model.experts > 0)
    refuse(read, "parallel_ffn", "layers with experts add them up after attention; use no");
  model.dense_layers = model.experts == 0 ? model.layers : read.count_or("dense_layers", 0);
  if (model.dense_layers > model.layers)
    refuse(read, "dense_layers", "there are " + std::to_string(model.layers) + " layers; use at most as many");
  if (model.dense_layers > 0) model.dense_ffn = read.count("dense_ffn");
  if (model.experts == 0) return;
  if (model.ffn_matrices != 3) refuse(read, "ffn_matrices", "experts have gate, up and down; use 3");
  model.top_k = read.count("experts_per_token");
  model.ffn = read.count("expert_ffn");
  model.shared_experts = read.count_or("shared_experts", 0);
  model.router_correction = read.is_yes("router_correction");
  if (model.top_k > model.experts)
    refuse(read, "experts_per_token",
           "a token takes at most all experts; use " + std::to_string(model.experts) + " or less");
}

}  // namespace

ModelShape model_of(const SettingReader& read) {
  ModelShape model;
  model.layers = read.count("layers");
  model.hidden = read.count("hidden");
  model.vocabulary = read.count("vocabulary");
  model.max_context = read.count_or("max_context", 0);
  model.extra_embedding_rows = read.count_or("extra_embedding_rows", 0);
  model.tied_embedding = read.is_yes("tied_embedding");
  if (read.find("norm") != nullptr) model.norm = read.choice<NormKind, 2>("norm", {"rms_norm", "layer_norm"});
  model.norm_bias = read.is_yes("norm_bias");
  read_heads(read, model);
  read_latent(read, model);
  read_patterns(read, model);
  read_feed_forward(read, model);
  return model;
}

}  // namespace trnsim
