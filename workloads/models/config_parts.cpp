#include "workloads/models/config_parts.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace trnsim {

void pass_over_common(ConfigReader& c) {
  // Number formats are a choice of the workload (`precision`); rotary tables stay on chip whatever their base.
  c.ignore({"_name_or_path",
            "architectures",
            "auto_map",
            "model_type",
            "transformers_version",
            "torch_dtype",
            "dtype",
            "quantization_config",
            "tokenizer_class",
            "bos_token_id",
            "eos_token_id",
            "pad_token_id",
            "sep_token_id",
            "initializer_range",
            "rms_norm_eps",
            "layer_norm_eps",
            "use_cache",
            "rope_theta",
            "rope_scaling",
            "rope_parameters",
            "attention_dropout",
            "hidden_dropout",
            "classifier_dropout",
            "pretraining_tp",
            "output_attentions",
            "output_hidden_states",
            "return_dict",
            "id2label",
            "label2id",
            "problem_type",
            "finetuning_task",
            "task_specific_params",
            "decoder_start_token_id"});
  // Settings of text generation that older files repeat.
  c.ignore({"bad_words_ids",
            "begin_suppress_tokens",
            "chunk_size_feed_forward",
            "diversity_penalty",
            "do_sample",
            "early_stopping",
            "length_penalty",
            "max_length",
            "exponential_decay_length_penalty",
            "min_length",
            "no_repeat_ngram_size",
            "encoder_no_repeat_ngram_size",
            "num_beam_groups",
            "num_beams",
            "num_return_sequences",
            "output_scores",
            "prefix",
            "remove_invalid_values",
            "repetition_penalty",
            "forced_bos_token_id",
            "forced_eos_token_id",
            "suppress_tokens",
            "temperature",
            "return_dict_in_generate",
            "tf_legacy_loss",
            "tie_encoder_decoder",
            "torchscript",
            "top_k",
            "top_p",
            "typical_p",
            "use_bfloat16",
            "is_decoder"});
  c.expect("is_encoder_decoder", {"false"});
  c.expect("add_cross_attention", {"false"});
  c.expect("cross_attention_hidden_size", {"null"});
  c.expect("pruned_heads", {"{}"});
}

ConfigWidth read_width(ConfigReader& c) {
  pass_over_common(c);
  const ConfigWidth width = {c.count("num_hidden_layers", "layers"), c.count("hidden_size", "hidden")};
  c.count("vocab_size", "vocabulary");
  c.count_or("max_position_embeddings", "max_context", std::nullopt);
  c.put_if(c.flag("tie_word_embeddings", false), "tied_embedding", "tie_word_embeddings");
  return width;
}

void put_head_share(ConfigReader& c, std::string_view key, std::uint64_t hidden, std::uint64_t heads) {
  if (hidden % heads != 0)
    c.refuse(key, "is " + std::to_string(heads) + ", which does not divide the hidden width " + std::to_string(hidden) +
                      "; choose a divisor, or add head_dim");
  c.put("head_dim", hidden / heads, key);
}

void read_heads(ConfigReader& c, std::uint64_t hidden, std::uint64_t head_dim) {
  const std::uint64_t heads = c.count("num_attention_heads", "q_heads");
  c.count_or("num_key_value_heads", "kv_heads", heads);
  if (c.has("head_dim") || head_dim > 0) {
    c.count_or("head_dim", "head_dim", head_dim);
  } else {
    c.ignore({"head_dim"});
    put_head_share(c, "num_attention_heads", hidden, heads);
  }
}

void read_windows(ConfigReader& c, const std::vector<bool>& sees_all) {
  constexpr std::string_view kKey = "layer_types";
  std::vector<bool> pattern = sees_all;
  const std::vector<std::string> types = c.words(kKey);
  const bool has_types = c.has(kKey);
  if (has_types) {
    if (types.size() != sees_all.size())
      c.refuse(kKey, "has " + std::to_string(types.size()) + " entries; one for each of the " +
                         std::to_string(sees_all.size()) + " layers is needed");
    for (std::size_t l = 0; l < types.size(); ++l) {
      if (types[l] != "full_attention" && types[l] != "sliding_attention")
        c.refuse(kKey, "has '" + shown(types[l]) + "', which is not covered; full_attention and sliding_attention are");
      pattern[l] = types[l] == "full_attention";
    }
  }
  const auto first = std::find(pattern.begin(), pattern.end(), true);
  if (std::find(pattern.begin(), pattern.end(), false) == pattern.end()) {
    c.ignore({"sliding_window"});
    return;
  }
  const std::string_view key = has_types ? kKey : "sliding_window";
  const auto period = first == pattern.end() ? std::size_t{0} : static_cast<std::size_t>(first - pattern.begin()) + 1;
  for (std::size_t l = 0; l < pattern.size() && period > 0; ++l) {
    if (pattern[l] != ((l + 1) % period == 0))
      c.refuse(key, "puts layers with and without a window in an order that is not covered; the last layer of every " +
                        std::string("period, and no other, may see all tokens"));
  }
  c.count("sliding_window", "sliding_window");
  c.put("window_period", std::uint64_t{period}, key);
}

void read_cross_layers(ConfigReader& c, std::string_view key, std::uint64_t layers) {
  const std::vector<std::uint64_t> list = c.numbers(key);
  if (list.empty()) return;
  const std::uint64_t offset = list.front();
  const std::uint64_t period = list.size() == 1 ? layers : list[1] - offset;
  bool even = offset < layers && period > offset && period <= layers;
  for (std::size_t i = 0; even && i < list.size(); ++i) even = list[i] == offset + i * period;
  if (!even || offset + list.size() * period < layers)
    c.refuse(key, "is no even pattern over the " + std::to_string(layers) +
                      " layers; one layer of every period is covered, always the same");
  if (list.back() >= layers)
    c.refuse(key,
             "names layer " + std::to_string(list.back()) + " of " + std::to_string(layers) + "; layers count from 0");
  c.put("cross_attention_period", period, key);
  c.put("cross_attention_offset", offset, key);
}

}  // namespace trnsim
