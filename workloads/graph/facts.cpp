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
    kv_width_ = m.kv_heads * model_.head_dim;
    qkv_width_ = m.q_heads * model_.head_dim + 2 * kv_width_;
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
    const std::uint64_t norms = 2 * norm_elements() + (model_.qk_norm ? 2 * model_.head_dim : 0);
    const std::uint64_t attention = h * qkv_width_ + m_.q_heads * model_.head_dim * h;
    const std::uint64_t feed_forward = model_.ffn_matrices * h * inner(kind);
    const std::uint64_t router = kind == FfnKind::kExperts ? routers() * h * model_.experts : 0;
    return tiles_ * (m_.lnc * norms + attention + feed_forward) + router;
  }

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
    if (!model_.ffn_bias) return tiles_ * each_tile;
    if (inner(kind) > 0) each_tile += (model_.ffn_matrices - 1) * inner(kind) + model_.hidden;
    return tiles_ * each_tile + (kind == FfnKind::kExperts ? routers() * model_.experts : 0);
  }

  [[nodiscard]] std::uint64_t kv_read() const {
    if (s_.phase == Phase::kPrefill) return prefill_kv_read();
    std::uint64_t keys = 0;
    for (const LayersOfKind& layers : model_.kinds())
      keys += layers.count * model_.seen(layers.kind.attention, s_.context);
    return m_.group_ranks * tokens_ * keys * 2 * kv_width_ * kBf16Bytes;
  }
  [[nodiscard]] std::uint64_t kv_write() const {
    return m_.group_ranks * tokens_ * model_.layers * 2 * kv_width_ * kBf16Bytes;
  }

  /// Sent by all ranks of all groups to other ranks.
  [[nodiscard]] std::uint64_t sent() const {
    const bool exchanges = m_.ep > m_.tp && s_.moe_exchange == MoeExchange::kAllToAll;
    return programs_.collective_bytes + (exchanges ? m_.groups * 2 * remote_rows() * model_.hidden * kBf16Bytes : 0);
  }

 private:
  [[nodiscard]] bool all_experts() const {
    return s_.moe_kernel == MoeKernel::kAllExpert && s_.phase == Phase::kDecode;
  }

  // Each core reads the keys that its queries see, once per pass of queries.
  [[nodiscard]] std::uint64_t prefill_kv_read() const {
    std::uint64_t keys = 0;
    for (std::uint32_t lane = 0; lane < m_.lnc; ++lane) {
      for (std::uint64_t l = 0; l < model_.layers; ++l) {
        const bool full = model_.attention(l) != AttentionKind::kSliding;
        const QueryRange range = prefill_queries(s_.prompt_tokens, full, m_.lnc, lane, query_multiple_);
        PrefillAttention a;
        a.first_query = range.first;
        a.queries = range.count;
        a.keys = s_.prompt_tokens;
        a.window = full ? 0 : model_.window;
        keys +=
            keys_read(a, programs_.pass_queries > 0 ? programs_.pass_queries : std::max<std::uint64_t>(1, range.count));
      }
    }
    return m_.group_ranks * m_.batch_per_replica * keys * 2 * kv_width_ * kBf16Bytes;
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
  std::uint64_t kv_width_ = 0;
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
