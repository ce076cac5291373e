#include "workloads/graph/facts.h"

#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/graph/count.h"
#include "workloads/graph/layer_writer.h"
#include "workloads/graph/work_list.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

/// Bytes of one group, from dimensions.
class GroupBytes {
 public:
  GroupBytes(const Settings& s, const Mapping& m, const MachineSpec& machine, const std::vector<LayerRouting>& routing,
             const GroupPrograms& programs)
      : s_(s),
        m_(m),
        model_(s.model),
        routing_(routing),
        rules_(programs.rules),
        programs_(programs),
        tokens_(m.batch_per_replica * (s.phase == Phase::kPrefill ? s.prompt_tokens : 1)),
        query_multiple_(features_per_tile(machine.core)) {
    if (s.phase == Phase::kPrefill) tile_ = prefill_tile_tokens(s, m, machine);
    if (tile_ > 0) tiles_ = ceil_div(tokens_, tile_);
    qkv_width_ = (m.q_heads + 2 * m.kv_heads) * model_.head_dim;
  }

  /// Times that a rank reads the router's matrix: once per core that gets a token, and per tile.
  [[nodiscard]] std::uint64_t routers() const {
    const auto lanes = [&](std::uint64_t tokens) { return std::min<std::uint64_t>(m_.lnc, tokens); };
    if (tile_ == 0) return lanes(tokens_);
    return tokens_ / tile_ * lanes(tile_) + lanes(tokens_ % tile_);
  }
  [[nodiscard]] std::uint64_t share(std::uint64_t count, std::uint32_t lane) const {
    return count / m_.lnc + static_cast<std::uint64_t>(lane < count % m_.lnc);
  }

  [[nodiscard]] std::uint64_t weights() const {
    const std::uint64_t h = model_.hidden;
    std::uint64_t elements = norm_elements() * m_.lnc;
    for (const LayersOfKind& layers : model_.kinds()) elements += layers.count * layer_elements(layers.kind.ffn);
    const std::uint64_t embedding = tokens_ * ceil_div(h, m_.tp);
    const std::uint64_t head = h * ceil_div(model_.vocabulary, m_.tp);
    return m_.group_ranks * kBf16Bytes * (elements + embedding + head) + expert_weights();
  }

  /// Of a rank in a layer, its core counts summed up; routed experts left out.
  [[nodiscard]] std::uint64_t layer_elements(FfnKind kind) const {
    const std::uint64_t h = model_.hidden;
    std::uint64_t norms = 2 * norm_elements() + (model_.qk_norm ? 2 * model_.head_dim : 0);
    std::uint64_t attention = m_.q_heads * model_.value_dim * h;
    std::uint64_t once = 0;
    if (is_latent()) {
      norms += model_.latent.q_rank + model_.latent.kv_rank;
      attention += latent_elements(model_, m_.q_heads) + indexer_elements(model_);
      once = model_.latent.kv_rank * m_.q_heads * (model_.latent.nope_dim + model_.value_dim);
    } else {
      attention += h * qkv_width_;
    }
    const std::uint64_t feed_forward = model_.ffn_matrices * h * inner(kind);
    const std::uint64_t router = kind == FfnKind::kExperts ? routers() * h * model_.experts : 0;
    return tiles_ * (m_.lnc * norms + attention + feed_forward) + router + once;
  }

  [[nodiscard]] bool is_latent() const { return model_.latent.kv_rank > 0; }
  /// Inner width of a rank, but for routed experts.
  [[nodiscard]] std::uint64_t inner(FfnKind kind) const {
    const std::uint64_t all = kind == FfnKind::kDense ? model_.dense_ffn : model_.shared_experts * model_.ffn;
    return ceil_div(all, m_.tp);
  }
  /// That every core reads, for it scales all features.
  [[nodiscard]] std::uint64_t norm_elements() const { return model_.norm_bias ? 2 * model_.hidden : model_.hidden; }

  [[nodiscard]] std::uint64_t expert_weights() const {
    const std::uint64_t inner = ceil_div(model_.ffn, m_.expert_split);
    std::uint64_t bytes = 0;
    for (std::uint32_t lane = 0; lane < m_.lnc; ++lane) {
      const std::uint64_t one = storage_bytes(3 * model_.hidden * share(inner, lane), s_.expert_dtype);
      for (const LayerRouting& layer : routing_) bytes += one * loads(layer, rules_[lane]) * m_.expert_split;
    }
    return bytes;
  }

  /// Times that an expert's weights are read in one layer, by each of the ranks that share it.
  [[nodiscard]] std::uint64_t loads(const LayerRouting& layer, const EntryRule& rule) const {
    std::uint64_t total = 0;
    for (std::uint64_t n : layer.tokens_per_expert(model_.experts)) {
      if (all_experts()) n = layer.tokens();
      if (n > 0) total += rule.weights_stay ? 1 : ceil_div(n, rule.most_tokens);
    }
    return total;
  }

  [[nodiscard]] std::uint64_t biases() const {
    std::uint64_t dense = 0;
    for (const LayersOfKind& layers : model_.kinds()) dense += layers.count * layer_biases(layers.kind.ffn);
    std::uint64_t experts = 0;
    for (const LayerRouting& layer : routing_)
      experts += all_experts() && layer.tokens() > 0 ? model_.experts : layer.distinct(model_.experts);
    const std::uint64_t of_expert =
        model_.ffn_bias ? (model_.ffn_matrices - 1) * ceil_div(model_.ffn, m_.expert_split) + model_.hidden : 0;
    return kBf16Bytes * (m_.group_ranks * dense + experts * m_.expert_split * of_expert);
  }

  [[nodiscard]] std::uint64_t layer_biases(FfnKind kind) const {
    std::uint64_t each_tile = 0;
    if (model_.attention_bias != AttentionBias::kNone) each_tile += qkv_width_;
    if (model_.attention_bias == AttentionBias::kQkvo) each_tile += model_.hidden;
    if (model_.ffn_bias && inner(kind) > 0) each_tile += (model_.ffn_matrices - 1) * inner(kind) + model_.hidden;
    const bool routes = kind == FfnKind::kExperts && model_.router_bias();
    return tiles_ * each_tile + (routes ? routers() * model_.experts : 0);
  }

  [[nodiscard]] std::uint64_t kv_read() const {
    if (s_.phase == Phase::kPrefill) return prefill_kv_read();
    std::uint64_t bytes = 0;
    for (const LayersOfKind& layers : model_.kinds()) {
      const std::uint64_t keys = model_.seen(layers.kind.attention, s_.context);
      bytes += layers.count * keys * cached_row();
      if (model_.indexer.top_k > 0) bytes += layers.count * s_.context * index_key();
    }
    return m_.group_ranks * tokens_ * bytes;
  }
  [[nodiscard]] std::uint64_t kv_write() const {
    std::uint64_t bytes = cached_row() + (model_.indexer.top_k > 0 ? index_key() : 0);
    if (is_latent() && s_.phase == Phase::kPrefill)  // keys and values of all heads
      bytes += m_.q_heads * (model_.latent.nope_dim + model_.value_dim) * kBf16Bytes;
    return m_.group_ranks * tokens_ * model_.layers * bytes;
  }

  /// Bytes of a token in the cache of a layer, its index key apart.
  [[nodiscard]] std::uint64_t cached_row() const {
    return kBf16Bytes * (is_latent() ? model_.latent.row() : 2 * m_.kv_heads * model_.head_dim);
  }
  [[nodiscard]] std::uint64_t index_key() const { return IndexerDecode{.dim = model_.indexer.dim}.key_bytes(); }

  /// Sent by all ranks of all groups to other ranks.
  [[nodiscard]] std::uint64_t sent() const {
    const bool exchanges = m_.ep > m_.tp && s_.moe_exchange == MoeExchange::kAllToAll;
    return programs_.collective_bytes +
           (exchanges ? std::uint64_t{2} * m_.groups * remote_rows() * model_.hidden * kBf16Bytes : 0);
  }

 private:
  [[nodiscard]] bool all_experts() const {
    return s_.moe_kernel == MoeKernel::kAllExpert && s_.phase == Phase::kDecode;
  }

  // Each core reads the keys that its queries see, once per pass of queries.
  [[nodiscard]] std::uint64_t prefill_kv_read() const {
    std::uint64_t bytes = 0;
    for (std::uint32_t lane = 0; lane < m_.lnc; ++lane) {
      for (const LayersOfKind& layers : model_.kinds())
        bytes += layers.count * (is_latent() ? expanded_read(lane) : prefill_keys(layers.kind, lane) * cached_row());
    }
    return m_.group_ranks * m_.batch_per_replica * bytes;
  }

  [[nodiscard]] std::uint64_t prefill_keys(LayerKind kind, std::uint32_t lane) const {
    const bool full = kind.attention != AttentionKind::kSliding;
    const QueryRange range = prefill_queries(s_.prompt_tokens, full, m_.lnc, lane, query_multiple_);
    PrefillAttention a;
    a.first_query = range.first;
    a.queries = range.count;
    a.keys = s_.prompt_tokens;
    a.window = full ? 0 : model_.window;
    return keys_read(a, pass_of(range.count));
  }

  // Keys and values of this core's heads, per sequence.
  [[nodiscard]] std::uint64_t expanded_read(std::uint32_t lane) const {
    PrefillAttention a;
    a.queries = a.keys = s_.prompt_tokens;
    return share(m_.q_heads, lane) * keys_read(a, pass_of(a.queries)) * (model_.head_dim + model_.value_dim) *
           kBf16Bytes;
  }

  [[nodiscard]] std::uint64_t pass_of(std::uint64_t queries) const {
    return programs_.pass_queries > 0 ? programs_.pass_queries : std::max<std::uint64_t>(1, queries);
  }

  // Over all layers: (token, rank) pairs such that the rank holds an expert of the token and is not the one that sends
  // it.
  [[nodiscard]] std::uint64_t remote_rows() const {
    std::uint64_t remote = 0;
    for (const LayerRouting& layer : routing_) {
      const std::vector<std::uint32_t> rows = dispatch_rows(s_, m_, layer);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i / m_.group_ranks != i % m_.group_ranks) remote += rows[i];
      }
    }
    return remote;
  }

  const Settings& s_;
  const Mapping& m_;
  const ModelShape& model_;
  const std::vector<LayerRouting>& routing_;
  const std::vector<EntryRule>& rules_;
  const GroupPrograms& programs_;
  std::uint64_t tokens_;          ///< per replica
  std::uint64_t query_multiple_;  ///< queries are dealt over the logical core in whole tiles
  std::uint64_t tile_ = 0;        ///< tokens of a prefill tile; dense weights are read once per tile
  std::uint64_t tiles_ = 1;
  std::uint64_t qkv_width_ = 0;
};

std::uint64_t issued_flop(const Mapping& m, const GroupPrograms& programs) {
  WorkCount count;
  for (std::uint32_t rank = 0; rank < m.group_ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < m.lnc; ++lane) {
      count.add(count_work(programs.cores[m.core(0, rank, lane).index()]), m.groups);
    }
  }
  std::uint64_t macs = 0;
  for (const std::uint64_t of_dtype : count.macs) macs += of_dtype;
  return 2 * macs;
}

}  // namespace

WorkloadFacts model_facts(const Settings& s, const Mapping& m, const MachineSpec& machine,
                          const std::vector<LayerRouting>& routing, const GroupPrograms& programs) {
  const bool decodes = s.phase == Phase::kDecode;
  const GroupBytes bytes(s, m, machine, routing, programs);
  WorkloadFacts facts;
  facts.useful_flop = useful_flop(s, m);
  facts.padding_flop = issued_flop(m, programs) - facts.useful_flop;
  const bool works = facts.useful_flop > 0;  // with no sequence in flight no weight is touched
  facts.weight_bytes = works ? m.groups * bytes.weights() : 0;
  facts.bias_bytes = works ? m.groups * bytes.biases() : 0;
  facts.kv_read_bytes = m.groups * bytes.kv_read();
  facts.kv_write_bytes = m.groups * bytes.kv_write();
  facts.collective_bytes_per_rank = bytes.sent() / (std::uint64_t{m.groups} * m.group_ranks);
  for (const LayerRouting& layer : routing) facts.distinct_experts += layer.distinct(s.model.experts);
  facts.tokens = m.batch * (decodes ? 1 : s.prompt_tokens);
  facts.sequences = m.batch;
  facts.batch_per_replica = m.batch_per_replica;
  facts.padded_sequences = m.padded_sequences;
  facts.tp = m.tp;
  facts.ep = m.ep;
  facts.dp = m.dp;
  facts.lnc = m.lnc;
  facts.idle_cores = m.idle_cores;
  facts.peak_dtype = std::string(name(s.expert_dtype));
  facts.unit_of_tokens = decodes ? "decode" : "prefill";
  return facts;
}

}  // namespace trnsim
