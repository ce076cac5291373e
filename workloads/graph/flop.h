// Matmul FLOPs of a model from its dimensions: 2 per multiply-add, nothing padded, nothing copied.
#pragma once

#include "models/mechanism/units.h"
#include "workloads/mapping/mapping.h"
#include "workloads/models/model_shape.h"
#include "workloads/settings.h"

namespace trnsim {

/// What latent attention multiplies: cached rows as they are, or keys and values made of them.
enum class LatentForm : std::uint8_t { kAbsorbed, kExpanded };

/// Elements of the matrices that a token meets before latent attention, for `heads` query heads: down to the latents
/// and up to the queries; and of the indexer, 0 if there is none.
[[nodiscard]] std::uint64_t latent_elements(const ModelShape& model, std::uint64_t heads);
[[nodiscard]] std::uint64_t indexer_elements(const ModelShape& model);

/// FLOPs of one layer.
struct LayerFlop {
  Wide qkv = 0, scores = 0, values = 0, output = 0, router = 0, experts = 0, shared = 0, dense = 0;
  Wide latent = 0;   ///< latent attention: queries into the latent and values out of it, or rows expanded
  Wide indexer = 0;  ///< projections and scores
  [[nodiscard]] Wide sum() const {
    return qkv + scores + values + output + router + experts + shared + dense + latent + indexer;
  }
};
/// (query, key) pairs of one head, all sequences together.
struct Pairs {
  Wide attended = 0;
  Wide cached = 0;  ///< that an indexer scores
};
/// Of some tokens in a layer of `kind`.
[[nodiscard]] LayerFlop layer_flop(const ModelShape& model, LayerKind kind, Wide tokens, const Pairs& pairs,
                                   LatentForm form = LatentForm::kAbsorbed);
/// Pairs of a causal prefill of `tokens`, with a window or without (0).
[[nodiscard]] Wide causal_pairs(Wide tokens, Wide window);

/// `sequences` prompts of `prompt` tokens; the output matrix for the last token of each.
[[nodiscard]] Wide prefill_flop(const ModelShape& model, Wide sequences, Wide prompt,
                                LatentForm form = LatentForm::kExpanded);
/// One more token for each of `sequences`, which sees `context` tokens, itself included; the output matrix for each.
[[nodiscard]] Wide decode_flop(const ModelShape& model, Wide sequences, std::uint64_t context);

/// Of the whole job, as WorkloadFacts::useful_flop. Throws InfeasibleError if they are too many to count.
[[nodiscard]] std::uint64_t useful_flop(const Settings& settings, const Mapping& mapping);
/// Of all routed experts of the job.
[[nodiscard]] std::uint64_t expert_flop(const Settings& settings, const Mapping& mapping);
/// `flop` in 64 bits. Throws InfeasibleError if it is 2^62 or more.
[[nodiscard]] std::uint64_t countable(Wide flop);

}  // namespace trnsim
