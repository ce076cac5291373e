// Multi-latent attention, dense or picked by an indexer, for one physical core of a logical core. One file each.
//
// A token's cached row, kv_rank + rope_dim BF16 elements, serves all heads: its first kv_rank elements are the latent
// of keys and values, the others one rotated key. Queries come with rotation done. Source of the forms: DeepSeek-V2 and
// DeepSeek-V3 Technical Reports; of the indexer: DeepSeek-V3.2-Exp repository.
#pragma once

#include <cstdint>

#include "workloads/kernels/kernels.h"

namespace trnsim {

/// One decode step in absorbed form: queries go into the latent space, rows are keys and values as they are cached.
struct LatentDecode {
  std::uint64_t sequences = 0, heads = 0;
  std::uint64_t keys = 0;     ///< rows that a query sees, per sequence, on this core
  std::uint64_t written = 0;  ///< sequences whose new row this core writes
  std::uint64_t kv_rank = 0, rope_dim = 0, nope_dim = 0, value_dim = 0;
  bool gathered = false;  ///< rows are picked by index, each with a descriptor of its own; else they are contiguous

  [[nodiscard]] std::uint64_t row() const { return kv_rank + rope_dim; }
};
/// Queries into the latent, attention over the rows, values out of the latent. Weights pass through SBUF once each.
Handle latent_attention_decode(KernelWriter& w, const LatentDecode& a, Handle ready);
/// Its three parts, for cores that share heads in the first and last, and rows or sequences in the second.
Handle latent_absorb(KernelWriter& w, const LatentDecode& a, Handle ready);
Handle latent_attend(KernelWriter& w, const LatentDecode& a, Handle ready);
Handle latent_value_up(KernelWriter& w, const LatentDecode& a, Handle ready);

/// Arrivals from the other core of a logical core; one set per place in a program.
struct LatentArrivals {
  SemaphoreId queries = 0, outputs = 0, picked = 0;
  static LatentArrivals reserve(KernelWriter& w);
};
/// `whole` is the work of the logical core, this core does its part: heads are shared for the projections, sequences
/// for the attention if the cores divide them, else rows. Results are those of this core's heads, w.share(heads).
Handle latent_attention_shared(KernelWriter& w, const LatentDecode& whole, const LatentArrivals& arrivals,
                               Handle ready);
/// Whether the cores of a logical core of `lnc` share `sequences`; if not they share each one's rows.
[[nodiscard]] bool shares_sequences(std::uint64_t sequences, std::uint32_t lnc);
/// Bytes per partition that each core holds meanwhile: queries and outputs of its heads, and in the latent space those
/// of all heads for its sequences.
[[nodiscard]] std::uint64_t latent_resident_bytes(const CoreSpec& core, const LatentDecode& whole, std::uint32_t lnc);

/// Consecutive queries of each sequence in expanded form: rows become keys and values of every head in HBM, which
/// causal attention then reads. The cores of a logical core best share heads.
struct LatentPrefill {
  std::uint64_t sequences = 0, heads = 0;
  std::uint64_t first_query = 0;  ///< position of the first query
  std::uint64_t queries = 0;      ///< per sequence, on this core
  std::uint64_t keys = 0;         ///< per sequence; a query at position p sees keys up to p
  std::uint64_t kv_rank = 0, rope_dim = 0, nope_dim = 0, value_dim = 0;

  /// The same as attention whose heads each have their own keys, nope_dim + rope_dim wide.
  [[nodiscard]] PrefillAttention attention() const;
};
Handle latent_attention_prefill(KernelWriter& w, const LatentPrefill& a, Handle ready);
/// Its first part: weights stay while all rows pass, and pass once.
Handle latent_expand(KernelWriter& w, const LatentPrefill& a, Handle ready);
/// Bytes of keys and values that its second part reads: the rotated key again with each head.
[[nodiscard]] std::uint64_t latent_prefill_kv_bytes(const KernelWriter& w, const LatentPrefill& a);

/// attention_prefill() of heads whose values are `value_dim` wide and whose keys may take several passes of the array.
Handle attention_prefill(KernelWriter& w, const PrefillAttention& a, std::uint64_t value_dim, Handle ready);
[[nodiscard]] std::uint64_t queries_per_pass(const KernelWriter& w, const PrefillAttention& a, std::uint64_t value_dim);

/// The indexer of one decode step: queries, keys and head weights from the query latent and the hidden state, FP8
/// scores over the cached keys, the best rows of each sequence.
struct IndexerDecode {
  std::uint64_t sequences = 0;
  std::uint64_t hidden = 0, q_rank = 0;  ///< widths of its inputs
  std::uint64_t heads = 0, dim = 0;
  std::uint64_t keys = 0;     ///< cached, per sequence, on this core
  std::uint64_t written = 0;  ///< sequences whose new key this core writes
  std::uint64_t top_k = 0;    ///< rows kept of each sequence; all if there are no more

  [[nodiscard]] std::uint64_t key_bytes() const;  ///< FP8 elements and an FP32 scale
  [[nodiscard]] std::uint64_t kept() const { return keys < top_k ? keys : top_k; }
};
/// Projections, scores and top-k. Throws InfeasibleError if there are too many keys to pick from, or the core has no
/// top-k.
Handle indexer_decode(KernelWriter& w, const IndexerDecode& a, Handle ready);
/// Its parts. Projections: columns of queries and keys are this core's, all tokens.
Handle indexer_project(KernelWriter& w, const IndexerDecode& a, Handle ready);
Handle indexer_pick(KernelWriter& w, const IndexerDecode& a, Handle ready);

/// Indexer and attention over what it picks; `whole` and `attention` are the work of the logical core, with
/// `attention.keys` those cached. Each core scores the keys that it would attend to if it were dense.
Handle sparse_attention_shared(KernelWriter& w, const IndexerDecode& whole, const LatentDecode& attention,
                               const LatentArrivals& arrivals, Handle ready);

/// What the operators have to do, whatever the program: FLOPs are 2 per multiply-add, bytes move once.
struct LatentCount {
  Wide absorb_flop = 0, score_flop = 0, value_flop = 0, value_up_flop = 0;
  Wide expand_flop = 0;  ///< expanded form
  Wide weight_bytes = 0;
  Wide kv_read_bytes = 0, kv_write_bytes = 0;
  [[nodiscard]] Wide flop() const { return absorb_flop + score_flop + value_flop + value_up_flop + expand_flop; }
};
[[nodiscard]] LatentCount count_of(const LatentDecode& a);
/// kv_write_bytes are the expanded keys and values, kv_read_bytes each of them and each rotated key once.
[[nodiscard]] LatentCount count_of(const LatentPrefill& a);

struct IndexerCount {
  Wide query_flop = 0, key_flop = 0, head_weight_flop = 0, score_flop = 0;
  Wide vector_operations = 0;  ///< ReLU, head weight and sum over heads
  Wide weight_bytes = 0;
  Wide kv_read_bytes = 0, kv_write_bytes = 0;
  [[nodiscard]] Wide flop() const { return query_flop + key_flop + head_weight_flop + score_flop; }
};
[[nodiscard]] IndexerCount count_of(const IndexerDecode& a);

}  // namespace trnsim
