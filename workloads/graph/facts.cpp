#include "workloads/graph/facts.h"

#include <algorithm>

#include "workloads/collectives/collectives.h"
#include "workloads/graph/count.h"
#include "workloads/graph/work_list.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kChoiceBytes = 8;

/// Bytes of one group, from dimensions.
class GroupBytes {
 public:
  GroupBytes(const Settings& s, const Mapping& m, const std::vector<LayerRouting>& routing, const GroupPrograms& programs)
      : s_(s), m_(m), model_(s.model), routing_(routing), rules_(programs.rules), tokens_(m.batch_per_replica) {
    kv_width_ = m.kv_heads * model_.head_dim;
    qkv_width_ = m.q_heads * model_.head_dim + 2 * kv_width_;
  }

  /// Cores of a logical core that get at least one of `count` things.
  [[nodiscard]] std::uint64_t lanes(std::uint64_t count) const { return std::min<std::uint64_t>(m_.lnc, count); }
  [[nodiscard]] std::uint64_t share(std::uint64_t count, std::uint32_t lane) const {
    return count / m_.lnc + static_cast<std::uint64_t>(lane < count % m_.lnc);
  }

  [[nodiscard]] std::uint64_t weights() const {
    const std::uint64_t h = model_.hidden;
    const std::uint64_t norms = (2 * model_.layers + 1) * m_.lnc * h;  // every core scales all features
    const std::uint64_t dense = h * qkv_width_ + m_.q_heads * model_.head_dim * h + lanes(tokens_) * h * model_.experts;
    const std::uint64_t embedding = tokens_ * ceil_div(h, m_.tp);
    const std::uint64_t head = h * ceil_div(model_.vocabulary, m_.tp);
    return m_.group_ranks * kBf16Bytes * (norms + model_.layers * dense + embedding + head) + expert_weights();
  }

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
    const std::uint64_t inner = ceil_div(model_.ffn, m_.expert_split);
    std::uint64_t experts = 0;
    for (const LayerRouting& layer : routing_) experts += all_experts() ? model_.experts : layer.distinct(model_.experts);
    const std::uint64_t dense = qkv_width_ + model_.hidden + lanes(tokens_) * model_.experts;
    return kBf16Bytes * (m_.group_ranks * model_.layers * dense +
                         experts * m_.expert_split * (2 * inner + model_.hidden));
  }

  [[nodiscard]] std::uint64_t kv_read() const {
    const std::uint64_t full = model_.full_layers();
    const std::uint64_t keys = full * s_.context + (model_.layers - full) * std::min(s_.context, model_.window);
    return m_.group_ranks * tokens_ * keys * 2 * kv_width_ * kBf16Bytes;
  }
  [[nodiscard]] std::uint64_t kv_write() const {
    return m_.group_ranks * tokens_ * model_.layers * 2 * kv_width_ * kBf16Bytes;
  }

  /// Sent by all ranks of the group to other ranks.
  [[nodiscard]] std::uint64_t sent() const {
    std::uint64_t per_rank = 0;
    std::uint64_t exchanged = 0;
    for (std::uint32_t lane = 0; lane < m_.lnc; ++lane) {
      const std::uint64_t half = share(model_.hidden, lane);
      per_rank += all_gather_bytes(m_.tp, tokens_ * share(ceil_div(model_.hidden, m_.tp), lane) * kBf16Bytes);
      per_rank += all_gather_bytes(m_.tp, tokens_ * kChoiceBytes);
      const std::uint64_t sum = all_reduce_bytes(m_.tp, tokens_ * half, kBf16Bytes);
      if (m_.ep <= m_.tp) {
        per_rank += model_.layers * 2 * sum;
        continue;
      }
      const std::uint64_t slice = ceil_div(tokens_, m_.tp) * half * kBf16Bytes;
      per_rank += model_.layers * (sum + all_gather_bytes(m_.tp, slice));
      if (s_.moe_exchange == MoeExchange::kAllGather) per_rank += model_.layers * 2 * all_gather_bytes(m_.ep, slice);
      if (s_.moe_exchange == MoeExchange::kAllToAll) exchanged += 2 * remote_rows() * half * kBf16Bytes;
    }
    return m_.group_ranks * per_rank + exchanged;
  }

 private:
  [[nodiscard]] bool all_experts() const { return s_.moe_kernel == MoeKernel::kAllExpert; }

  // Over all layers: (token, rank) pairs such that the rank holds an expert of the token and is not the one that sends it.
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
  std::uint64_t tokens_;
  std::uint64_t kv_width_ = 0;
  std::uint64_t qkv_width_ = 0;
};

std::uint64_t decode_flop(const ModelShape& model, std::uint64_t tokens, std::uint64_t context) {
  const std::uint64_t full = model.full_layers();
  const LayerFlop all = layer_flop(model, tokens, tokens * context);
  const LayerFlop windowed = layer_flop(model, tokens, tokens * std::min(context, model.window));
  return full * all.sum() + (model.layers - full) * windowed.sum() + 2 * tokens * model.vocabulary * model.hidden;
}

std::uint64_t issued_flop(const Mapping& m, const GroupPrograms& programs) {
  WorkCount count;
  for (std::size_t i = 0; i < programs.registers.size(); ++i) {
    count.add(count_work({programs.by_lane[i % m.lnc], programs.registers[i], {}}), m.groups);
  }
  std::uint64_t macs = 0;
  for (const std::uint64_t of_dtype : count.macs) macs += of_dtype;
  return 2 * macs;
}

}  // namespace

LayerFlop layer_flop(const ModelShape& model, std::uint64_t tokens, std::uint64_t pairs) {
  LayerFlop flop;
  flop.qkv = 2 * tokens * model.hidden * (model.q_width() + 2 * model.kv_width());
  flop.scores = 2 * model.q_width() * pairs;
  flop.values = flop.scores;
  flop.output = 2 * tokens * model.q_width() * model.hidden;
  flop.router = 2 * tokens * model.hidden * model.experts;
  flop.experts = 6 * tokens * model.top_k * model.hidden * model.ffn;
  return flop;
}

std::uint64_t causal_pairs(std::uint64_t tokens, std::uint64_t window) {
  if (window == 0 || tokens <= window) return tokens * (tokens + 1) / 2;
  return window * (window + 1) / 2 + (tokens - window) * window;
}

std::uint64_t expert_flop(const Settings& s, const Mapping& m) {
  return s.model.layers * layer_flop(s.model, m.batch, 0).experts;
}

WorkloadFacts model_facts(const Settings& s, const Mapping& m, const MachineSpec&,
                          const std::vector<LayerRouting>& routing, const GroupPrograms& programs) {
  const GroupBytes bytes(s, m, routing, programs);
  WorkloadFacts facts;
  facts.useful_flop = decode_flop(s.model, m.batch, s.context);
  facts.padding_flop = issued_flop(m, programs) - facts.useful_flop;
  facts.weight_bytes = m.groups * bytes.weights();
  facts.bias_bytes = m.groups * bytes.biases();
  facts.kv_read_bytes = m.groups * bytes.kv_read();
  facts.kv_write_bytes = m.groups * bytes.kv_write();
  facts.collective_bytes_per_rank = bytes.sent() / m.group_ranks;
  for (const LayerRouting& layer : routing) facts.distinct_experts += layer.distinct(s.model.experts);
  facts.tokens = m.batch;
  facts.sequences = m.batch;
  facts.batch_per_replica = m.batch_per_replica;
  facts.padded_sequences = m.padded_sequences;
  facts.tp = m.tp;
  facts.ep = m.ep;
  facts.dp = m.dp;
  facts.lnc = m.lnc;
  facts.idle_cores = m.idle_cores;
  facts.peak_dtype = std::string(name(s.expert_dtype));
  facts.unit_of_tokens = "decode";
  return facts;
}

}  // namespace trnsim
