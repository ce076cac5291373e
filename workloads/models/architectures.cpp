#include "workloads/models/architectures.h"

#include <array>
#include <string>

#include "workloads/models/config_parts.h"

namespace trnsim {
namespace {

// Rows that the embedding of a vision model has for image tokens beside its vocabulary.
constexpr std::uint64_t kImageRows = 8;
// Width of a head where a file of these kinds does not say.
constexpr std::uint64_t kQwen3HeadDim = 128;
constexpr std::uint64_t kGptOssHeadDim = 64;

void read_gated_ffn(ConfigReader& c) {
  c.count("intermediate_size", "dense_ffn");
  c.expect("hidden_act", {"\"silu\""});
}

/// Experts in every layer. Weights of the chosen ones come from a softmax whatever its order, which costs the same.
void read_experts(ConfigReader& c, std::string_view experts, std::string_view width) {
  c.count(experts, "experts");
  c.count("num_experts_per_tok", "experts_per_token");
  c.count(width, "expert_ffn");
  c.expect("hidden_act", {"\"silu\""});
  c.ignore({"output_router_logits", "router_aux_loss_coef", "router_jitter_noise", "norm_topk_prob"});
}

void read_llama(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_heads(c, width.hidden);
  read_gated_ffn(c);
  if (c.flag("attention_bias", false)) c.put("attention_bias", "qkvo", "attention_bias");
  c.put_if(c.flag("mlp_bias", false), "ffn_bias", "mlp_bias");
}

/// All layers have the window, if the file has one.
void read_one_window(ConfigReader& c, std::uint64_t layers) {
  read_windows(c, std::vector<bool>(layers, !c.has("sliding_window")));
}

void read_mistral(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_heads(c, width.hidden);
  read_gated_ffn(c);
  read_one_window(c, width.layers);
}

void read_mixtral(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_heads(c, width.hidden);
  read_experts(c, "num_local_experts", "intermediate_size");
  read_one_window(c, width.layers);
}

/// Layers from `max_window_layers` on have the window, if it is used.
void read_qwen_windows(ConfigReader& c, std::uint64_t layers) {
  const bool used = c.flag("use_sliding_window", false) && c.has("sliding_window");
  std::uint64_t full = layers;
  c.ignore({"max_window_layers"});
  if (used && c.has("max_window_layers")) full = c.number("max_window_layers");
  std::vector<bool> sees_all(layers, true);
  for (std::uint64_t l = full; l < layers; ++l) sees_all[l] = false;
  read_windows(c, sees_all);
}

void read_qwen2(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_heads(c, width.hidden);
  read_gated_ffn(c);
  c.put("attention_bias", "qkv", "model_type");
  read_qwen_windows(c, width.layers);
}

void read_qwen3_attention(ConfigReader& c, const ConfigWidth& width, std::uint64_t head_dim) {
  read_heads(c, width.hidden, head_dim);
  if (c.flag("attention_bias", false)) c.put("attention_bias", "qkvo", "attention_bias");
  c.put("qk_norm", "yes", "model_type");
  read_qwen_windows(c, width.layers);
}

void read_qwen3(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_qwen3_attention(c, width, kQwen3HeadDim);
  read_gated_ffn(c);
}

void read_qwen3_moe(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_qwen3_attention(c, width, 0);
  read_experts(c, "num_experts", "moe_intermediate_size");
  c.expect("decoder_sparse_step", {"1"});
  c.expect("mlp_only_layers", {"[]"});
  c.ignore({"intermediate_size"});  // of dense layers, which there are none of
}

void read_gpt_oss(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_heads(c, width.hidden, kGptOssHeadDim);
  c.put("attention_bias", c.flag("attention_bias", true) ? "qkvo" : "none", "attention_bias");
  c.put("attention_sink", "yes", "model_type");
  read_experts(c, "num_local_experts", "intermediate_size");
  c.put("ffn_bias", "yes", "model_type");
  c.ignore({"swiglu_limit", "initial_context_length"});
  // Published files say it twice.
  if (c.has("experts_per_token") && c.number("experts_per_token") != c.number("num_experts_per_tok"))
    c.refuse("experts_per_token", "differs from num_experts_per_tok; make them equal, or keep one");
  std::vector<bool> sees_all(width.layers);
  for (std::size_t l = 0; l < sees_all.size(); ++l) sees_all[l] = l % 2 == 1;
  read_windows(c, sees_all);
}

void read_latent_attention(ConfigReader& c) {
  const std::uint64_t heads = c.count("num_attention_heads", "q_heads");
  if (c.has("num_key_value_heads") && c.number("num_key_value_heads") != heads)
    c.refuse("num_key_value_heads", "differs from num_attention_heads; latent attention has as many of both");
  c.put("kv_heads", heads, "num_key_value_heads");
  c.count_or("q_lora_rank", "q_lora_rank", std::nullopt);
  c.count("kv_lora_rank", "kv_lora_rank");
  const std::uint64_t nope = c.count("qk_nope_head_dim", "qk_nope_dim");
  const std::uint64_t rope = c.count("qk_rope_head_dim", "qk_rope_dim");
  c.put("head_dim", nope + rope, "qk_nope_head_dim");
  c.count("v_head_dim", "value_dim");
  c.ignore({"qk_head_dim", "head_dim", "rope_interleave"});  // what follows from the others, and an order in memory
  c.expect("attention_bias", {"false"});
}

void read_deepseek(ConfigReader& c) {
  read_width(c);
  read_latent_attention(c);
  read_experts(c, "n_routed_experts", "moe_intermediate_size");
  c.count_or("n_shared_experts", "shared_experts", std::nullopt);
  if (c.count_or("first_k_dense_replace", "dense_layers", std::nullopt) > 0) c.count("intermediate_size", "dense_ffn");
  c.ignore({"intermediate_size"});
  c.expect("moe_layer_freq", {"1"});
  const std::string method = c.word("topk_method");
  c.expect("topk_method", {"\"noaux_tc\"", "\"greedy\"", "\"group_limited_greedy\""});
  c.put_if(method.empty() || method == "noaux_tc", "router_correction", "topk_method");
  // How scores become weights, and layers that predict further tokens, which no step runs.
  c.ignore({"n_group", "topk_group", "routed_scaling_factor", "scoring_func", "aux_loss_alpha", "seq_aux", "ep_size",
            "num_nextn_predict_layers"});
}

void read_deepseek_sparse(ConfigReader& c) {
  read_deepseek(c);
  c.count("index_n_heads", "index_heads");
  c.count("index_head_dim", "index_dim");
  c.count("index_topk", "index_topk");
}

void read_dbrx(ConfigReader& c) {
  pass_over_common(c);
  c.count("n_layers", "layers");
  const std::uint64_t hidden = c.count("d_model", "hidden");
  const std::uint64_t heads = c.count("n_heads", "q_heads");
  put_head_share(c, "n_heads", hidden, heads);
  c.count("vocab_size", "vocabulary");
  c.count_or("max_seq_len", "max_context", std::nullopt);
  c.put_if(c.flag("tie_word_embeddings", false), "tied_embedding", "tie_word_embeddings");
  c.put("norm", "layer_norm", "model_type");
  c.ignore({"emb_pdrop", "resid_pdrop", "output_router_logits", "router_aux_loss_coef"});
  ConfigReader attention = c.inner("attn_config");
  pass_over_common(attention);
  attention.count("kv_n_heads", "kv_heads");
  attention.ignore({"clip_qkv", "attn_pdrop"});
  attention.check_all_read();
  ConfigReader experts = c.inner("ffn_config");
  pass_over_common(experts);
  experts.count("moe_num_experts", "experts");
  experts.count("moe_top_k", "experts_per_token");
  experts.count("ffn_hidden_size", "expert_ffn");
  experts.expect("ffn_act_fn", {"{\"name\":\"silu\"}"});
  experts.expect("uniform_expert_assignment", {"false"});
  experts.ignore({"moe_jitter_eps", "moe_loss_weight", "moe_normalize_expert_weights"});
  experts.check_all_read();
}

void read_gpt_neox(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_heads(c, width.hidden);
  c.count("intermediate_size", "dense_ffn");
  c.put("ffn_matrices", std::uint64_t{2}, "model_type");
  c.put("ffn_bias", "yes", "model_type");
  c.put("norm", "layer_norm", "model_type");
  c.put("norm_bias", "yes", "model_type");
  c.put("attention_bias", c.flag("attention_bias", true) ? "qkvo" : "none", "attention_bias");
  c.put_if(c.flag("use_parallel_residual", true), "parallel_ffn", "use_parallel_residual");
  c.expect("hidden_act", {"\"gelu\"", "\"gelu_fast\"", "\"gelu_new\""});
  c.ignore({"rotary_pct", "rotary_emb_base", "attention_probs_dropout_prob", "hidden_dropout_prob"});
}

void read_mllama_text(ConfigReader& c) {
  const ConfigWidth width = read_width(c);
  read_heads(c, width.hidden);
  read_gated_ffn(c);
  read_cross_layers(c, "cross_attention_layers", width.layers);
  c.put("extra_embedding_rows", kImageRows, "model_type");
  c.ignore({"dropout"});
}

/// The text part; the vision tower runs once per image, not per token.
void read_mllama(ConfigReader& c) {
  pass_over_common(c);
  c.ignore({"vision_config", "image_token_index", "tie_word_embeddings"});
  ConfigReader text = c.inner("text_config");
  read_mllama_text(text);
  text.check_all_read();
}

constexpr std::array kArchitectures = {
    Architecture{"llama", "LlamaForCausalLM", &read_llama},
    Architecture{"mistral", "MistralForCausalLM", &read_mistral},
    Architecture{"mixtral", "MixtralForCausalLM", &read_mixtral},
    Architecture{"qwen2", "Qwen2ForCausalLM", &read_qwen2},
    Architecture{"qwen3", "Qwen3ForCausalLM", &read_qwen3},
    Architecture{"qwen3_moe", "Qwen3MoeForCausalLM", &read_qwen3_moe},
    Architecture{"gpt_oss", "GptOssForCausalLM", &read_gpt_oss},
    Architecture{"deepseek_v3", "DeepseekV3ForCausalLM", &read_deepseek},
    Architecture{"deepseek_v32", "DeepseekV32ForCausalLM", &read_deepseek_sparse},
    Architecture{"dbrx", "DbrxForCausalLM", &read_dbrx},
    Architecture{"gpt_neox", "GPTNeoXForCausalLM", &read_gpt_neox},
    Architecture{"mllama", "MllamaForConditionalGeneration", &read_mllama},
    Architecture{"mllama_text_model", "MllamaForCausalLM", &read_mllama_text},
};

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

}  // namespace trnsim
