#include "workloads/graph/facts.h"

#include <algorithm>
#include <cstdio>

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
    const std::uint64_t norms = (2 * model_.layers * tiles_ + 1) * m_.lnc * h;  // every core scales all features
    const std::uint64_t dense =
        tiles_ * (h * qkv_width_ + m_.q_heads * model_.head_dim * h) + routers() * h * model_.experts;
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
    for (const LayerRouting& layer : routing_)
      experts += all_experts() ? model_.experts : layer.distinct(model_.experts);
    const std::uint64_t dense = tiles_ * (qkv_width_ + model_.hidden) + routers() * model_.experts;
    return kBf16Bytes *
           (m_.group_ranks * model_.layers * dense + experts * m_.expert_split * (2 * inner + model_.hidden));
  }

  [[nodiscard]] std::uint64_t kv_read() const {
    if (s_.phase == Phase::kPrefill) return prefill_kv_read();
    const std::uint64_t full = model_.layers_with(AttentionKind::kFull);
    const std::uint64_t keys = full * s_.context + (model_.layers - full) * std::min(s_.context, model_.window);
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
        const bool full = (model_.attention(l) == AttentionKind::kFull);
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

Wide prefill_flop(const ModelShape& model, Wide prompts, Wide prompt) {
  if (prompt == 0) return 0;  // no last token that would meet the output matrix
  const std::uint64_t full = model.layers_with(AttentionKind::kFull);
  const LayerFlop all = layer_flop(model, prompts * prompt, prompts * causal_pairs(prompt, 0));
  const LayerFlop windowed = layer_flop(model, prompts * prompt, prompts * causal_pairs(prompt, model.window));
  return full * all.sum() + (model.layers - full) * windowed.sum() + 2 * prompts * model.vocabulary * model.hidden;
}

Wide decode_flop(const ModelShape& model, Wide tokens, std::uint64_t context) {
  const std::uint64_t full = model.layers_with(AttentionKind::kFull);
  const LayerFlop all = layer_flop(model, tokens, tokens * context);
  const LayerFlop windowed = layer_flop(model, tokens, tokens * std::min(context, model.window));
  return full * all.sum() + (model.layers - full) * windowed.sum() + 2 * tokens * model.vocabulary * model.hidden;
}

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

LayerFlop layer_flop(const ModelShape& model, Wide tokens, Wide pairs) {
  LayerFlop flop;
  flop.qkv = 2 * tokens * model.hidden * (model.q_width() + 2 * model.kv_width());
  flop.scores = pairs * 2 * model.q_width();
  flop.values = flop.scores;
  flop.output = 2 * tokens * model.q_width() * model.hidden;
  flop.router = 2 * tokens * model.hidden * model.experts;
  flop.experts = 6 * tokens * model.top_k * model.hidden * model.ffn;
  return flop;
}

Wide causal_pairs(Wide tokens, Wide window) {
  if (window == 0 || tokens <= window) return tokens * (tokens + 1) / 2;
  return window * (window + 1) / 2 + (tokens - window) * window;
}

std::uint64_t countable(Wide flop) {
  constexpr int kBits = 62;
  if (flop < static_cast<Wide>(1) << kBits) return static_cast<std::uint64_t>(flop);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(flop));
  throw InfeasibleError("the job has " + std::string(text) +
                        " FLOP; at most 2^62 are counted: less tokens, keys or layers are needed");
}

std::uint64_t useful_flop(const Settings& s, const Mapping& m) {
  return countable(s.phase == Phase::kDecode ? decode_flop(s.model, m.batch, s.context)
                                             : prefill_flop(s.model, m.batch, s.prompt_tokens));
}

std::uint64_t expert_flop(const Settings& s, const Mapping& m) {
  const Wide tokens = static_cast<Wide>(m.batch) * (s.phase == Phase::kPrefill ? s.prompt_tokens : 1);
  return countable(s.model.layers * layer_flop(s.model, tokens, 0).experts);
}

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
