#include "workloads/models/dimensions.h"

#include <array>
#include <string_view>

namespace trnsim {
namespace {

using enum Dimension;
constexpr double kMany = 1e9;
constexpr std::string_view kModel = "decode|prefill";
constexpr std::string_view kWithHeads = "decode|prefill|attention|fused_attention|projection|transformer_block";
constexpr std::string_view kWithHidden =
    "decode|prefill|attention|fused_attention|mlp|moe|projection|rms_norm|router|sparse_attention|transformer_block";
constexpr std::string_view kWithLatent = "decode|prefill|latent_attention|sparse_attention";
constexpr std::string_view kWithIndexer = "decode|prefill|sparse_attention";
constexpr std::string_view kWithExperts = "decode|prefill|moe|router";

constexpr std::array kDimensions = {
    WorkloadParameterRow{"layers", kCount, 1, 1000, "", false,
                         "transformer layers; mlp: how often the last layer repeats", "decode|prefill|mlp"},
    WorkloadParameterRow{"hidden", kCount, 1, 1e6, "", false,
                         "width of the residual stream; attention: of schedule fused_block", kWithHidden},
    WorkloadParameterRow{"q_heads", kCount, 1, 4096, "", false, "query heads",
                         "decode|prefill|attention|fused_attention|latent_attention|projection|rope|sparse_attention|"
                         "transformer_block"},
    WorkloadParameterRow{"kv_heads", kCount, 1, 4096, "", false, "key and value heads", kWithHeads},
    WorkloadParameterRow{"head_dim", kCount, 1, 256, "", false, "elements per head",
                         "decode|prefill|attention|fused_attention|projection|rope|transformer_block"},
    WorkloadParameterRow{"experts", kCount, 1, 4096, "", false, "experts per layer", kWithExperts},
    WorkloadParameterRow{"experts_per_token", kCount, 1, 64, "", false, "experts that a token is sent to",
                         kWithExperts},
    WorkloadParameterRow{"expert_ffn", kCount, 1, 1e6, "", false, "inner width of one expert", "decode|prefill|moe"},
    WorkloadParameterRow{"vocabulary", kCount, 1, 1e7, "", false, "rows of the embedding and of the output matrix",
                         kModel},
    WorkloadParameterRow{"sliding_window", kCount, 1, kMany, "", false, "keys seen by the layers with a window",
                         kModel},
    WorkloadParameterRow{"window_period", kCount, 0, 1000, "", false,
                         "one layer of this many is fully causal, the others have the window; 0: all have it", kModel},
    WorkloadParameterRow{"value_dim", kCount, 1, 1024, "", false,
                         "elements of a value head, where it is not as wide as a key", kWithLatent},
    WorkloadParameterRow{"q_lora_rank", kCount, 1, 1e6, "", false,
                         "latent attention: width of the query latent; not set: queries come from the hidden state",
                         kWithIndexer},
    WorkloadParameterRow{"kv_lora_rank", kCount, 1, 1e6, "", false,
                         "latent attention: width of the cached latent of keys and values", kWithLatent},
    WorkloadParameterRow{"qk_nope_dim", kCount, 1, 1024, "", false,
                         "latent attention: elements of a query or key head that are not rotated", kWithLatent},
    WorkloadParameterRow{"qk_rope_dim", kCount, 1, 1024, "", false,
                         "latent attention: elements that are, one key for all heads", kWithLatent},
    WorkloadParameterRow{"index_heads", kCount, 1, 4096, "", false, "sparse attention: heads of the indexer",
                         kWithIndexer},
    WorkloadParameterRow{"index_dim", kCount, 1, 1024, "", false, "sparse attention: elements of an indexer head",
                         kWithIndexer},
    WorkloadParameterRow{"index_topk", kCount, 1, kMany, "", false,
                         "sparse attention: tokens that the indexer lets a query see; not set: no indexer",
                         kWithIndexer},
    WorkloadParameterRow{"attention_bias", kWord, 0, 0, "none|qkv|qkvo", false,
                         "biases of the projections before attention, or also of the one after it", kModel},
    WorkloadParameterRow{"attention_sink", kWord, 0, 0, "yes|no", false,
                         "a learned logit per head in the denominator of the softmax", kModel},
    WorkloadParameterRow{"qk_norm", kWord, 0, 0, "yes|no", false, "RMS norm of each query and key head", kModel},
    WorkloadParameterRow{"cross_attention_period", kCount, 1, 1000, "", false,
                         "one layer of this many attends to the tokens of another modality", kModel},
    WorkloadParameterRow{"cross_attention_offset", kCount, 0, 1000, "", false,
                         "the first layer that does, counted from 0", kModel},
    WorkloadParameterRow{"norm", kWord, 0, 0, "rms_norm|layer_norm", false, "how activations are normalised", kModel},
    WorkloadParameterRow{"norm_bias", kWord, 0, 0, "yes|no", false, "whether a norm adds a bias to its gain", kModel},
    WorkloadParameterRow{"parallel_ffn", kWord, 0, 0, "yes|no", false,
                         "attention and feed-forward both read the layer's input", kModel},
    WorkloadParameterRow{"dense_layers", kCount, 0, 1000, "", false,
                         "first layers whose feed-forward part has no experts; a model without experts: all", kModel},
    WorkloadParameterRow{"dense_ffn", kCount, 1, 1e6, "", false, "inner width of a feed-forward part without experts",
                         kModel},
    WorkloadParameterRow{"ffn_matrices", kCount, 2, 3, "", false, "3: gate, up and down; 2: up and down", kModel},
    WorkloadParameterRow{"ffn_bias", kWord, 0, 0, "yes|no", false, "biases of feed-forward matrices and of the router",
                         kModel},
    WorkloadParameterRow{"shared_experts", kCount, 0, 64, "", false, "experts that every token goes through", kModel},
    WorkloadParameterRow{"router_correction", kWord, 0, 0, "yes|no", false,
                         "a learned correction per expert that counts in choosing experts alone", kModel},
    WorkloadParameterRow{"extra_embedding_rows", kCount, 0, 1e6, "", false,
                         "rows of the embedding that the output matrix has not, of another modality's tokens", kModel},
    WorkloadParameterRow{"tied_embedding", kWord, 0, 0, "yes|no", false, "the output matrix is the embedding's",
                         kModel},
    WorkloadParameterRow{"max_context", kCount, 1, kMany, "", false, "tokens that the model was made for", kModel},
};

}  // namespace

std::span<const WorkloadParameterRow> model_dimensions() {
  return kDimensions;
}

}  // namespace trnsim
