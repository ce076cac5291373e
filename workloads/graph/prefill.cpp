#include <algorithm>
#include <cmath>

#include "models/mechanism/error.h"
#include "workloads/graph/layer_writer.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kChoiceBytes = 8;
constexpr std::uint64_t kSmallTensors = 8192;
constexpr std::uint64_t kTileCopies = 4;  // loaded twice over, normed, and one result
constexpr std::uint64_t kTileShare = 45;  // percent of SBUF that tiles of tokens may take
constexpr std::uint32_t kTileBuffers = 2;

std::uint64_t bytes_per_token(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  const std::uint64_t width = features_per_tile(machine.core);
  const std::uint64_t qkv = attention_width(s.model, m);
  const std::uint64_t inner = (s.model.ffn_matrices - 1) * ceil_div(widest_inner(s.model, m), width);
  return (kTileCopies * ceil_div(s.model.hidden, width) + std::max(ceil_div(qkv, width), inner)) * kBf16Bytes;
}

}  // namespace

std::uint64_t prefill_tile_tokens(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  const std::uint64_t fit = machine.core.sbuf_per_partition.count() * kTileShare / 100 / bytes_per_token(s, m, machine);
  const std::uint64_t most = std::min<std::uint64_t>(fit, machine.core.moving_columns());
  const std::uint64_t whole = most >= machine.core.partitions ? most / machine.core.partitions * machine.core.partitions
                                                              : std::max<std::uint64_t>(1, most);
  return std::min(whole, std::max<std::uint64_t>(1, m.batch_per_replica * s.prompt_tokens));
}

std::uint64_t prefill_resident_bytes(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  return prefill_tile_tokens(s, m, machine) * bytes_per_token(s, m, machine) + kSmallTensors;
}

// Fully causal: the first 1/sqrt(2) of the queries have half of all pairs. With a window every query has as many.
QueryRange prefill_queries(std::uint64_t prompt, bool full, std::uint32_t lnc, std::uint32_t lane,
                           std::uint64_t multiple) {
  if (lnc == 1) return {0, prompt};
  const double part = full ? std::sqrt(0.5) : 0.5;
  const auto cut = static_cast<std::uint64_t>(static_cast<double>(prompt) * part) / multiple * multiple;
  return lane == 0 ? QueryRange{0, cut} : QueryRange{cut, prompt - cut};
}

LatentPrefill latent_prefill(const KernelWriter& w, const Settings& s, const Mapping& m) {
  return {.sequences = m.batch_per_replica,
          .heads = w.share(m.q_heads),
          .queries = s.prompt_tokens,
          .keys = s.prompt_tokens,
          .kv_rank = s.model.latent.kv_rank,
          .rope_dim = s.model.latent.rope_dim,
          .nope_dim = s.model.latent.nope_dim,
          .value_dim = s.model.value_dim};
}

PrefillWriter::PrefillWriter(KernelWriter& w, const Settings& settings, const Mapping& mapping, Seats& seats)
    : w_(w),
      settings_(settings),
      mapping_(mapping),
      model_(settings.model),
      tokens_(mapping.batch_per_replica * settings.prompt_tokens),
      tensor_(w, seats, CommKind::kTensor, {settings.collectives.algorithm, Space::kHbm}) {
  if (mapping.ep > mapping.tp) {
    throw InfeasibleError("prefill shares experts within a replica only: ep=" + std::to_string(mapping.ep) +
                          " exceeds tp=" + std::to_string(mapping.tp));
  }
  tile_ = prefill_tile_tokens(settings, mapping, w.machine());
  hidden_half_ = w.share(model_.hidden);
  // The buffers are part of what is resident: the ring only counts them.
  tile_buffers_ = {w.program().semaphore(WaitReason::kBuffer, kTileBuffers)};
  hidden_ready_ = w.program().semaphore(WaitReason::kEngine);
  if (w.lnc() > 1) {
    joined_ = w.sibling_arrival();
    routed_ = w.sibling_arrival();
    latent_ = w.sibling_arrival();
  }
}

ExpertShape PrefillWriter::expert_shape() const {
  ExpertShape e;
  e.hidden = model_.hidden;
  e.inner = w_.share(ceil_div(model_.ffn, mapping_.expert_split));
  e.dtype = settings_.expert_dtype;
  e.from_hbm = true;
  e.tokens = tokens_;
  e.entry_tokens = tokens_per_entry(w_, e.hidden, settings_.moe_block);
  e.bias = model_.ffn_bias;
  return e;
}

// Runs `body` for every tile of tokens; it returns its last handle on the collective engine, which waits for stores.
Handle PrefillWriter::tiles(const std::function<Handle(std::uint64_t)>& body) {
  Handle done = w_.times(tokens_ / tile_, Engine::kCollective, [&] { return body(tile_); });
  if (const std::uint64_t rest = tokens_ % tile_; rest > 0) done = body(rest);
  return done;
}

Handle PrefillWriter::load_tile(std::uint64_t tokens, std::uint64_t features, Handle ready) {
  return w_.move(Engine::kSync, Queue::kTiles, {.bytes = tokens * features * kBf16Bytes}, {ready});
}

Handle PrefillWriter::store_tile(std::uint64_t tokens, std::uint64_t features, Handle ready) {
  const Handle stored =
      w_.move(Engine::kGpSimd, Queue::kStore,
              {.bytes = tokens * features * kBf16Bytes, .source = Space::kSbuf, .destination = Space::kHbm}, {ready});
  return w_.segment().emit(Engine::kCollective, Instruction{}, {stored, ready});
}

// Residual stream plus what the ranks have summed up, kept for the rest of the layer by the two cores half each.
Handle PrefillWriter::load_sum(std::uint64_t tokens, Handle ready) {
  w_.segment().acquire(Engine::kSync, tile_buffers_);
  load_tile(tokens, model_.hidden, ready);
  const Handle loaded = load_tile(tokens, model_.hidden, {});
  const Handle sum =
      w_.run(Engine::kVector, {Op::kBinary, Count::constant(w_.free_elements(model_.hidden, tokens))}, {loaded});
  w_.segment().release(sum, tile_buffers_);
  store_tile(tokens, hidden_half_, sum);
  return sum;
}

// What both cores have stored is there for both.
Handle PrefillWriter::join(Handle ready) {
  return w_.exchange(joined_, 0, ready);
}

void PrefillWriter::embedding(SegmentBuilder& segment) {
  w_.write_to(segment);
  segment.operator_is("embedding");
  const std::uint64_t part = w_.share(ceil_div(model_.hidden, mapping_.tp)) * kBf16Bytes;
  Handle done = tiles([&](std::uint64_t tokens) {
    const Handle rows = w_.move(Engine::kGpSimd, Queue::kInput,
                                {.bytes = part * tokens,
                                 .descriptors = tokens,
                                 .traffic = Traffic::kWeights,
                                 .generation = DescriptorGeneration::kSoftware},
                                {});
    const Handle stored = w_.move(Engine::kGpSimd, Queue::kStore,
                                  {.bytes = part * tokens, .source = Space::kSbuf, .destination = Space::kHbm}, {rows});
    return segment.emit(Engine::kCollective, Instruction{}, {stored});
  });
  done = join(tensor_.run_in_hbm(Collective::kAllGather, CommSite::kEnds, model_.hidden * tokens_, kBf16Bytes, done));
  segment.signal(segment.emit(Engine::kVector, Instruction{}, {done}), hidden_ready_);
}

LayerRegisters PrefillWriter::layer(SegmentBuilder& segment, LayerKind kind, std::uint32_t max_trips) {
  w_.write_to(segment);
  LayerRegisters registers;
  if (kind.ffn == FfnKind::kExperts) registers.moe = MoeRegisters::reserve(segment, max_trips);
  segment.operator_is("qkv_proj");
  segment.wait(Engine::kScalar, hidden_ready_, 1);
  Handle done = segment.emit(Engine::kScalar, Instruction{});
  if (kind.attention == AttentionKind::kLatent) {
    done = join(project_latent(done));
    segment.operator_is("attention_latent");
    done = join(latent_attention(done));
  } else {
    done = join(project_qkv(done));
    segment.operator_is(kind.attention == AttentionKind::kFull ? "attention_full" : "attention_sliding");
    done = join(attention(kind.attention, done));
  }
  segment.operator_is("o_proj");
  done = project_output(done);
  segment.operator_is("all_reduce_attn");
  done = join(tensor_.run_in_hbm(Collective::kAllReduce, CommSite::kFirst, tokens_ * model_.hidden, kBf16Bytes, done));
  done = join(feed_forward_block(registers, kind.ffn, done));
  segment.operator_is("all_reduce_mlp");
  done = join(tensor_.run_in_hbm(Collective::kAllReduce, CommSite::kSecond, tokens_ * model_.hidden, kBf16Bytes, done));
  segment.signal(segment.emit(Engine::kVector, Instruction{}, {done}), hidden_ready_);
  return registers;
}

Handle PrefillWriter::feed_forward_block(const LayerRegisters& registers, FfnKind kind, Handle ready) {
  if (kind == FfnKind::kDense) {
    w_.segment().operator_is("mlp");
    return dense(ready);
  }
  w_.segment().operator_is("router");
  const Handle routed = join(route(ready));
  w_.segment().operator_is("experts");
  return moe(w_, expert_shape(), registers.moe, routed);
}

Handle PrefillWriter::project_qkv(Handle ready) {
  const std::uint64_t q = mapping_.q_heads * model_.head_dim;
  const std::uint64_t kv = 2 * mapping_.kv_heads * model_.head_dim;
  return tiles([&](std::uint64_t tokens) {
    const Handle normed = norm(w_, model_, tokens, load_sum(tokens, ready));
    const std::uint64_t columns = w_.share(q) + w_.share(kv);
    Handle done = project(w_,
                          {.contraction = model_.hidden,
                           .columns = columns,
                           .tokens = tokens,
                           .bias = model_.attention_bias != AttentionBias::kNone},
                          normed);
    if (model_.qk_norm) done = head_norm(w_, model_.head_dim, w_.share(q) + w_.share(kv) / 2, tokens, done);
    done = rope(w_, w_.share(q) + w_.share(kv) / 2, tokens, done);
    store_tile(tokens, w_.share(q), done);
    const Handle written = w_.move(Engine::kGpSimd, Queue::kKvWrite,
                                   {.bytes = tokens * w_.share(kv) * kBf16Bytes,
                                    .traffic = Traffic::kKvWrite,
                                    .source = Space::kSbuf,
                                    .destination = Space::kHbm},
                                   {done});
    return w_.segment().emit(Engine::kCollective, Instruction{}, {written, done});
  });
}

Handle PrefillWriter::attention(AttentionKind kind, Handle ready) {
  const bool full = kind != AttentionKind::kSliding;
  const QueryRange range = prefill_queries(settings_.prompt_tokens, full, w_.lnc(), w_.lane(), w_.tile_width());
  PrefillAttention a;
  a.sequences = mapping_.batch_per_replica;
  a.q_heads = mapping_.q_heads;
  a.kv_heads = mapping_.kv_heads;
  a.head_dim = model_.head_dim;
  a.first_query = range.first;
  a.queries = range.count;
  a.keys = settings_.prompt_tokens;
  a.window = full ? 0 : model_.window;
  return attention_prefill(w_, a, ready);
}

Handle PrefillWriter::project_latent(Handle ready) {
  const LatentShape& latent = model_.latent;
  const std::uint64_t heads = w_.share(mapping_.q_heads);
  return tiles([&](std::uint64_t tokens) {
    const Handle normed = norm(w_, model_, tokens, load_sum(tokens, ready));
    Handle done = latent_down(w_, model_, tokens, latent_, normed);
    done = latent_queries(w_, model_, heads, tokens, done);
    done = rope(w_, (heads + 1) * latent.rope_dim, tokens, done);
    store_tile(tokens, heads * model_.head_dim, done);
    const Handle written = w_.move(Engine::kGpSimd, Queue::kKvWrite,
                                   {.bytes = tokens * w_.share(latent.row()) * kBf16Bytes,
                                    .traffic = Traffic::kKvWrite,
                                    .source = Space::kSbuf,
                                    .destination = Space::kHbm},
                                   {done});
    return w_.segment().emit(Engine::kCollective, Instruction{}, {written, done});
  });
}

// The cores of a logical core share heads.
Handle PrefillWriter::latent_attention(Handle ready) {
  return latent_attention_prefill(w_, latent_prefill(w_, settings_, mapping_), ready);
}

Handle PrefillWriter::project_output(Handle ready) {
  const std::uint64_t q = mapping_.q_heads * model_.value_dim;
  return tiles([&](std::uint64_t tokens) {
    w_.segment().acquire(Engine::kSync, tile_buffers_);
    const Handle loaded = load_tile(tokens, q, ready);
    const Handle done = project(w_,
                                {.contraction = q,
                                 .columns = hidden_half_,
                                 .tokens = tokens,
                                 .bias = model_.attention_bias == AttentionBias::kQkvo},
                                loaded);
    w_.segment().release(done, tile_buffers_);
    return store_tile(tokens, hidden_half_, done);
  });
}

// Each core has summed over its part of the inner width; both add to what lies in the HBM that they share.
Handle PrefillWriter::store_partial(std::uint64_t tokens, Handle partial) {
  return w_.move(Engine::kGpSimd, Queue::kStore,
                 {.bytes = tokens * model_.hidden * kBf16Bytes,
                  .source = Space::kSbuf,
                  .destination = Space::kHbm,
                  .computes = true},
                 {partial});
}

Handle PrefillWriter::dense(Handle ready) {
  return tiles([&](std::uint64_t tokens) {
    const Handle normed = norm(w_, model_, tokens, load_sum(tokens, ready));
    const Handle partial = feed_forward(w_, dense_shape(w_, model_, mapping_, tokens), normed);
    const Handle stored = store_partial(tokens, partial);
    return w_.segment().emit(Engine::kCollective, Instruction{}, {stored, partial});
  });
}

Handle PrefillWriter::route(Handle ready) {
  return tiles([&](std::uint64_t tokens) {
    const Handle normed = norm(w_, model_, tokens, load_sum(tokens, ready));
    Handle shared;
    if (model_.shared_experts > 0) {
      const Handle partial = feed_forward(w_, shared_shape(w_, model_, mapping_, tokens), normed);
      shared = store_partial(tokens, partial);
    }
    const std::uint64_t own = w_.share(tokens);
    Handle routed = router(w_, {model_.hidden, model_.experts, model_.top_k, own, model_.router_bias()}, normed);
    routed = w_.exchange(routed_, own * model_.top_k * kChoiceBytes, routed);
    const Count lists = Count::constant(w_.free_elements(model_.experts, tokens));
    routed = w_.run(Engine::kGpSimd, {Op::kGather, lists}, {routed});
    const Handle stored = store_tile(tokens, hidden_half_, normed);
    return w_.segment().emit(Engine::kCollective, Instruction{}, {routed, stored, shared});
  });
}

void PrefillWriter::head(SegmentBuilder& segment) {
  w_.write_to(segment);
  segment.operator_is("lm_head");
  segment.wait(Engine::kScalar, hidden_ready_, 1);
  const Handle ready = segment.emit(Engine::kScalar, Instruction{});
  const std::uint64_t last = mapping_.batch_per_replica;  // the last token of each prompt
  const Handle loaded = load_tile(last, model_.hidden, ready);
  const Handle normed = norm(w_, model_, last, loaded);
  const std::uint64_t columns = w_.share(ceil_div(model_.vocabulary, mapping_.tp));
  const Handle best = lm_head(w_, model_.hidden, columns, last, normed);
  segment.operator_is("sample");
  const std::uint64_t choices = last * mapping_.tp * w_.lnc();
  const Handle all = tensor_.run(Collective::kAllGather, CommSite::kEnds, choices, kChoiceBytes, best);
  segment.emit(Engine::kVector, {.op = Op::kMax8, .rows = w_.partitions(), .free = Count::constant(mapping_.tp)},
               {all});
}

}  // namespace trnsim
