#include <algorithm>

#include "workloads/graph/layer_writer.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kFp32Bytes = 4;
constexpr std::uint64_t kChoiceBytes = 8;      // a router weight and an expert number, or a score and a token number
constexpr std::uint64_t kSmallTensors = 8192;  // per partition: gains, biases, tables, statistics

enum Exchange : std::size_t { kQkv, kAttention, kHidden, kRouting, kPartial, kRows };

}  // namespace

std::uint64_t decode_resident_bytes(const Settings& s, const Mapping& m, const MachineSpec& machine) {
  const std::uint64_t width = features_per_tile(machine.core);
  const std::uint64_t tokens = m.batch_per_replica;
  const std::uint64_t qkv = attention_width(s.model, m);
  const std::uint64_t inner = (s.model.ffn_matrices - 1) * ceil_div(widest_inner(s.model, m), width);
  // Residual stream, normed copy and expert sums; queries, keys, values and attention output; inner activation.
  return (3 * ceil_div(s.model.hidden, width) + 2 * ceil_div(qkv, width) + inner) * tokens * kBf16Bytes + kSmallTensors;
}

DecodeWriter::DecodeWriter(KernelWriter& w, const Settings& settings, const Mapping& mapping, Seats& seats)
    : w_(w),
      settings_(settings),
      mapping_(mapping),
      model_(settings.model),
      tokens_(mapping.batch_per_replica),
      tensor_(w, seats, CommKind::kTensor, settings.collectives),
      experts_(w, seats, CommKind::kExperts, settings.collectives) {
  hidden_half_ = w.share(model_.hidden);
  by_batch_ = shares_sequences(tokens_, w.lnc());
  hidden_ready_ = w.program().semaphore(WaitReason::kEngine);
  if (w.lnc() > 1) {
    for (SemaphoreId& semaphore : from_sibling_) semaphore = w.sibling_arrival();
    if (model_.latent.kv_rank > 0) latent_arrivals_ = LatentArrivals::reserve(w);
  }
}

ExpertShape DecodeWriter::expert_shape() const {
  ExpertShape e;
  e.hidden = model_.hidden;
  e.inner = w_.share(ceil_div(model_.ffn, mapping_.expert_split));
  e.dtype = settings_.expert_dtype;
  e.from_hbm = mapping_.ep > mapping_.tp;
  e.tokens = tokens_ * mapping_.replicas_per_group();
  e.gathers = e.tokens > 1 && settings_.moe_kernel == MoeKernel::kSelected;
  e.entry_tokens = tokens_per_entry(w_, e.hidden, e.tokens);
  e.bias = model_.ffn_bias;
  return e;
}

void DecodeWriter::embedding(SegmentBuilder& segment) {
  w_.write_to(segment);
  segment.operator_is("embedding");
  // The table is split over the tensor-parallel ranks by columns; each fetches its part of every token's row.
  const std::uint64_t part = w_.share(ceil_div(model_.hidden, mapping_.tp)) * kBf16Bytes;
  Handle rows = w_.move(Engine::kGpSimd, Queue::kInput,
                        {.bytes = part * tokens_,
                         .descriptors = tokens_,
                         .traffic = Traffic::kWeights,
                         .generation = DescriptorGeneration::kSoftware},
                        {});
  rows = tensor_.run(Collective::kAllGather, CommSite::kEnds, model_.hidden * tokens_, kBf16Bytes, rows);
  rows = w_.exchange(from_sibling_[kHidden], tokens_ * hidden_half_ * kBf16Bytes, rows);
  const Handle ready = segment.emit(Engine::kVector, Instruction{}, {rows});
  segment.signal(ready, hidden_ready_);
}

// The first instruction of a segment that reads the residual stream is a scalar one.
void DecodeWriter::starts_from_hidden() {
  w_.segment().wait(Engine::kScalar, hidden_ready_, 1);
}

LayerRegisters DecodeWriter::layer(SegmentBuilder& segment, LayerKind kind, std::uint32_t max_trips) {
  w_.write_to(segment);
  LayerRegisters registers;
  if (kind.ffn == FfnKind::kExperts) {
    registers.moe = MoeRegisters::reserve(segment, max_trips);
    if (mapping_.ep > mapping_.tp) {
      registers.dispatch = segment.reserve_registers(mapping_.ep - 1);
      registers.combine = segment.reserve_registers(mapping_.ep - 1);
    }
  }
  segment.operator_is("rmsnorm_attn");
  starts_from_hidden();
  Handle done = norm(w_, model_, tokens_, {});
  done = attention_block(kind.attention, done);
  segment.operator_is("all_reduce_attn");
  done = reduce_and_add(CommSite::kFirst, done);
  segment.operator_is("rmsnorm_mlp");
  done = norm(w_, model_, tokens_, model_.parallel_ffn ? Handle{} : done);
  done = kind.ffn == FfnKind::kExperts ? moe_block(registers, done) : dense_block(done);
  segment.signal(done, hidden_ready_);
  return registers;
}

Handle DecodeWriter::attention_block(AttentionKind kind, Handle normed) {
  if (kind == AttentionKind::kLatent) return latent_block(normed);
  SegmentBuilder& segment = w_.segment();
  const std::uint64_t q = mapping_.q_heads * model_.head_dim;
  const std::uint64_t kv = mapping_.kv_heads * model_.head_dim;
  const std::uint64_t columns = w_.share(q + 2 * kv);
  const std::uint64_t own = by_batch_ ? tokens_ / w_.lnc() : tokens_;
  segment.operator_is("qkv_proj");
  Handle done = project(w_,
                        {.contraction = model_.hidden,
                         .columns = columns,
                         .tokens = tokens_,
                         .bias = model_.attention_bias != AttentionBias::kNone},
                        normed);
  done = w_.exchange(from_sibling_[kQkv], own * columns * kBf16Bytes, done);
  segment.operator_is("rope");
  if (model_.qk_norm) done = head_norm(w_, model_.head_dim, q + kv, own, done);
  done = rope(w_, q + kv, own, done);
  segment.operator_is(kind == AttentionKind::kFull ? "attention_full" : "attention_sliding");
  const std::uint64_t keys = model_.seen(kind, settings_.context);
  DecodeAttention a;
  a.sequences = own;
  a.q_heads = mapping_.q_heads;
  a.kv_heads = mapping_.kv_heads;
  a.head_dim = model_.head_dim;
  a.keys = by_batch_ ? keys : w_.share(keys);
  a.written = by_batch_ ? own : w_.share(tokens_);
  done = join_attention(attention_decode(w_, a, done));
  segment.operator_is("o_proj");
  return project(w_,
                 {.contraction = q,
                  .columns = hidden_half_,
                  .tokens = tokens_,
                  .bias = model_.attention_bias == AttentionBias::kQkvo},
                 done);
}

// The projections down to the latents, and the indexer, are on every rank; heads are dealt over the ranks.
Handle DecodeWriter::latent_block(Handle normed) {
  SegmentBuilder& segment = w_.segment();
  const LatentShape& latent = model_.latent;
  const std::uint64_t heads = w_.share(mapping_.q_heads);
  segment.operator_is("latent_down");
  Handle done = latent_down(w_, model_, tokens_, from_sibling_[kQkv], normed);
  segment.operator_is("q_up");
  done = latent_queries(w_, model_, heads, tokens_, done);
  segment.operator_is("rope");
  done = rope(w_, (heads + 1) * latent.rope_dim, tokens_, done);
  const LatentDecode attention{.sequences = tokens_,
                               .heads = mapping_.q_heads,
                               .keys = settings_.context,
                               .written = tokens_,
                               .kv_rank = latent.kv_rank,
                               .rope_dim = latent.rope_dim,
                               .nope_dim = latent.nope_dim,
                               .value_dim = model_.value_dim};
  if (model_.indexer.top_k > 0) {
    segment.operator_is("attention_sparse");
    const IndexerDecode index{.sequences = tokens_,
                              .hidden = model_.hidden,
                              .q_rank = latent.q_rank,
                              .heads = model_.indexer.heads,
                              .dim = model_.indexer.dim,
                              .keys = settings_.context,
                              .written = tokens_,
                              .top_k = model_.indexer.top_k};
    done = sparse_attention_shared(w_, index, attention, latent_arrivals_, done);
  } else {
    segment.operator_is("attention_latent");
    done = latent_attention_shared(w_, attention, latent_arrivals_, done);
  }
  done = w_.exchange(from_sibling_[kAttention], tokens_ * heads * model_.value_dim * kBf16Bytes, done);
  segment.operator_is("o_proj");
  return project(
      w_,
      {.contraction = mapping_.q_heads * model_.value_dim, .columns = hidden_half_, .tokens = tokens_, .bias = false},
      done);
}

// Both cores need the attention output of all tokens: by batch each sends its own rows, by context each sends its
// partial maximum, sum and output, and merges.
Handle DecodeWriter::join_attention(Handle attended) {
  const std::uint64_t q = mapping_.q_heads * model_.head_dim;
  if (w_.lnc() == 1) return attended;
  if (by_batch_) {
    return w_.exchange(from_sibling_[kAttention], tokens_ / w_.lnc() * q * kBf16Bytes, attended);
  }
  const std::uint64_t statistics = 2 * mapping_.q_heads;
  const Handle here = w_.exchange(from_sibling_[kAttention], tokens_ * (q + statistics) * kFp32Bytes, attended);
  const Count merged = Count::constant(ceil_div(tokens_ * (q + statistics), w_.partitions()));
  return w_.run(Engine::kVector, {Op::kBinary, merged, Space::kSbuf, Dtype::kFp32}, {here});
}

// Sums the half of the hidden width that this core holds over the ranks, fetches the other half from the other core,
// adds the residual.
Handle DecodeWriter::reduce_and_add(CommSite site, Handle partial) {
  const Handle summed = tensor_.run(Collective::kAllReduce, site, tokens_ * model_.hidden, kBf16Bytes, partial);
  return add_residual(w_.exchange(from_sibling_[kHidden], tokens_ * hidden_half_ * kBf16Bytes, summed));
}

Handle DecodeWriter::add_residual(Handle ready) {
  return w_.run(Engine::kVector, {Op::kBinary, Count::constant(w_.free_elements(model_.hidden, tokens_))}, {ready});
}

Handle DecodeWriter::dense_block(Handle normed) {
  w_.segment().operator_is("mlp");
  const Handle half = add_halves(tokens_, feed_forward(w_, dense_shape(w_, model_, mapping_, tokens_), normed));
  w_.segment().operator_is("all_reduce_mlp");
  return reduce_and_add(CommSite::kSecond, half);
}

Handle DecodeWriter::shared_experts(Handle normed) {
  if (model_.shared_experts == 0) return {};
  w_.segment().operator_is("shared_expert");
  return feed_forward(w_, shared_shape(w_, model_, mapping_, tokens_), normed);
}

Handle DecodeWriter::moe_block(const LayerRegisters& registers, Handle normed) {
  SegmentBuilder& segment = w_.segment();
  segment.operator_is("router");
  const std::uint64_t own = w_.share(tokens_);
  Handle routed = router(w_, {model_.hidden, model_.experts, model_.top_k, own, model_.router_bias()}, normed);
  routed = w_.exchange(from_sibling_[kRouting], own * model_.top_k * kChoiceBytes, routed);
  // Token lists per expert, experts on partitions.
  const Count lists = Count::constant(w_.free_elements(model_.experts, tokens_));
  routed = w_.run(Engine::kGpSimd, {Op::kGather, lists}, {routed, normed});
  const Handle shared = shared_experts(normed);
  return mapping_.ep > mapping_.tp ? experts_of_group(registers, routed, shared)
                                   : experts_of_replica(registers, routed, shared);
}

// Each core has summed over its part of the inner width. It keeps one half of the hidden width and sends the other.
Handle DecodeWriter::add_halves(std::uint64_t tokens, Handle partial) {
  if (w_.lnc() == 1) return partial;
  const Handle here =
      w_.exchange(from_sibling_[kPartial], tokens * (model_.hidden - hidden_half_) * kBf16Bytes, partial);
  return w_.run(Engine::kVector, {Op::kBinary, Count::constant(w_.free_elements(hidden_half_, tokens))}, {here});
}

Handle DecodeWriter::experts_of_replica(const LayerRegisters& registers, Handle routed, Handle shared) {
  w_.segment().operator_is("experts");
  Handle partial = moe(w_, expert_shape(), registers.moe, routed);
  if (shared.valid())
    partial = w_.run(Engine::kVector, {Op::kBinary, Count::constant(w_.free_elements(model_.hidden, tokens_))},
                     {partial, shared});
  const Handle half = add_halves(tokens_, partial);
  w_.segment().operator_is("all_reduce_mlp");
  return reduce_and_add(CommSite::kSecond, half);
}

// Experts spread over several replicas. Every rank brings its slice of its replica's tokens; afterwards the slices
// are gathered so that all ranks of a replica hold all its tokens again. What shared experts have made of the replica's
// tokens is summed up to the same slices.
Handle DecodeWriter::experts_of_group(const LayerRegisters& registers, Handle routed, Handle shared) {
  Handle done =
      settings_.moe_exchange == MoeExchange::kAllToAll ? dispatched(registers, routed) : gathered(registers, routed);
  const std::uint64_t padded = ceil_div(tokens_, mapping_.tp) * mapping_.tp;
  if (shared.valid()) {
    w_.segment().operator_is("reduce_scatter_shared");
    const Handle half = add_halves(tokens_, shared);
    const Handle slice =
        tensor_.run(Collective::kReduceScatter, CommSite::kShared, padded * model_.hidden, kBf16Bytes, half);
    const Count sums = Count::constant(w_.free_elements(hidden_half_, padded / mapping_.tp));
    done = w_.run(Engine::kVector, {Op::kBinary, sums}, {done, slice});
  }
  w_.segment().operator_is("all_gather_mlp");
  done = tensor_.run(Collective::kAllGather, CommSite::kSecond, padded * model_.hidden, kBf16Bytes, done);
  return add_residual(w_.exchange(from_sibling_[kHidden], tokens_ * hidden_half_ * kBf16Bytes, done));
}

Handle DecodeWriter::dispatched(const LayerRegisters& registers, Handle routed) {
  SegmentBuilder& segment = w_.segment();
  const std::uint64_t slice = ceil_div(tokens_, mapping_.tp);
  const std::uint64_t row = hidden_half_ * kBf16Bytes;
  segment.operator_is("dispatch");
  Handle done = experts_.stage(slice * row, routed);
  done = experts_.exchange_rows({registers.dispatch, kFirstExpertPeer, row}, CommSite::kFirst, done);
  done = w_.exchange(from_sibling_[kRows], 0, done);  // both halves of the rows are in the shared HBM
  segment.operator_is("experts");
  done = moe(w_, expert_shape(), registers.moe, done);
  done = w_.exchange(from_sibling_[kPartial], 0, done);  // both parts of the inner width are in the shared HBM
  segment.operator_is("combine");
  done = experts_.exchange_rows({registers.combine, kFirstExpertPeer, row}, CommSite::kSecond, done);
  done = experts_.unstage(slice * model_.top_k * row, done);
  const Count sums = Count::constant(w_.free_elements(hidden_half_, slice * model_.top_k));
  return w_.run(Engine::kVector, {Op::kBinary, sums}, {done});
}

Handle DecodeWriter::gathered(const LayerRegisters& registers, Handle routed) {
  SegmentBuilder& segment = w_.segment();
  const std::uint64_t elements = ceil_div(tokens_, mapping_.tp) * mapping_.ep * model_.hidden;
  segment.operator_is("dispatch");
  Handle done = experts_.run(Collective::kAllGather, CommSite::kFirst, elements, kBf16Bytes, routed);
  done = w_.exchange(from_sibling_[kRows], 0, done);
  segment.operator_is("experts");
  done = moe(w_, expert_shape(), registers.moe, done);
  done = w_.exchange(from_sibling_[kPartial], 0, done);
  segment.operator_is("combine");
  return experts_.run(Collective::kReduceScatter, CommSite::kSecond, elements, kBf16Bytes, done);
}

void DecodeWriter::head(SegmentBuilder& segment) {
  w_.write_to(segment);
  segment.operator_is("rmsnorm_final");
  starts_from_hidden();
  const Handle normed = norm(w_, model_, tokens_, {});
  segment.operator_is("lm_head");
  const std::uint64_t columns = w_.share(ceil_div(model_.vocabulary, mapping_.tp));
  const Handle best = lm_head(w_, model_.hidden, columns, tokens_, normed);
  segment.operator_is("sample");
  const std::uint64_t choices = tokens_ * mapping_.tp * w_.lnc();
  const Handle all = tensor_.run(Collective::kAllGather, CommSite::kEnds, choices, kChoiceBytes, best);
  segment.emit(Engine::kVector, {.op = Op::kMax8, .rows = w_.partitions(), .free = Count::constant(mapping_.tp)},
               {all});
}

}  // namespace trnsim
