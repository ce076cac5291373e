#include "workloads/kernels/transformer_block.h"

#include <algorithm>

#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kSmallTensors = 8192;  // bytes per partition: gains, biases, statistics
constexpr std::uint64_t kResidentShare = 75;   // percent of SBUF that a tile of tokens may take
constexpr std::uint64_t kHiddenCopies = 4;     // the stream, its norm, a result, and the next tile of the stream
constexpr std::uint64_t kInnerColumns = 2048;  // of the MLP's inner width in SBUF at a time
constexpr std::uint32_t kTileBuffers = 2;

std::uint64_t inner_block(const BlockShape& s) {
  return std::min(s.ffn, kInnerColumns);
}

std::uint64_t bytes_per_token(const CoreSpec& core, const BlockShape& s) {
  const std::uint64_t width = features_per_tile(core);
  const auto tiles = [&](std::uint64_t features) { return ceil_div(features, width); };
  const std::uint64_t inner = (s.gated ? 2 : 1) * tiles(inner_block(s));
  return kBf16Bytes * (kHiddenCopies * tiles(s.hidden) + std::max(tiles(s.q_width() + 2 * s.kv_width()), inner));
}

/// Norm, projections and MLP go tile of tokens by tile; weights are read once per tile. Between projections and
/// attention, activations are in HBM.
class Block {
 public:
  Block(KernelWriter& w, const BlockShape& s) : w_(w), s_(s), tile_(block_tile_tokens(w.core(), s)) {
    // The buffers are part of what is resident: the ring only counts them.
    tiles_ring_ = {w.program().semaphore(WaitReason::kBuffer, kTileBuffers)};
    if (w.lnc() > 1) joined_ = w.sibling_arrival();
  }

  Handle emit() {
    const Handle projected = tiles([&](std::uint64_t tokens) { return project_qkv(tokens); });
    const Handle all = w_.lnc() > 1 ? w_.exchange(joined_, 0, projected) : projected;
    PrefillAttention a;
    a.sequences = s_.batch;
    a.q_heads = s_.q_heads;
    a.kv_heads = s_.kv_heads;
    a.head_dim = s_.head_dim;
    a.first_query = s_.first_query;
    a.queries = s_.queries;
    a.keys = s_.tokens;
    a.causal = s_.causal;
    Handle attended = attention_prefill(w_, a, all);
    // Where the cores attend for other tokens than they go on with, each waits for what the other one has stored.
    if (w_.lnc() > 1 && s_.causal) attended = w_.exchange(joined_, 0, attended);
    return tiles([&](std::uint64_t tokens) { return output_and_mlp(tokens, attended); });
  }

 private:
  Handle tiles(const std::function<Handle(std::uint64_t)>& body) {
    const std::uint64_t tokens = s_.batch * s_.own_tokens;
    Handle done = w_.times(tokens / tile_, Engine::kCollective, [&] { return body(tile_); });
    if (const std::uint64_t rest = tokens % tile_; rest > 0) done = body(rest);
    return done;
  }

  Handle load_tile(std::uint64_t tokens, std::uint64_t features, Handle ready) {
    return w_.move(Engine::kSync, Queue::kTiles, {.bytes = tokens * features * kBf16Bytes}, {ready});
  }

  Handle store_tile(Queue queue, Traffic traffic, std::uint64_t bytes, Handle ready) {
    return w_.move(Engine::kGpSimd, queue,
                   {.bytes = bytes, .traffic = traffic, .source = Space::kSbuf, .destination = Space::kHbm}, {ready});
  }

  Handle project_columns(std::uint64_t contraction, std::uint64_t columns, std::uint64_t tokens, Handle ready,
                         Op evacuate = Op::kCopy) {
    return project(
        w_, {.contraction = contraction, .columns = columns, .tokens = tokens, .bias = false, .evacuate = evacuate},
        ready);
  }

  Handle project_qkv(std::uint64_t tokens) {
    w_.segment().acquire(Engine::kSync, tiles_ring_);
    const Handle normed = rms_norm(w_, s_.hidden, tokens, load_tile(tokens, s_.hidden, {}));
    const Handle done = project_columns(s_.hidden, s_.q_width() + 2 * s_.kv_width(), tokens, normed);
    w_.segment().release(done, tiles_ring_);
    const Handle q = store_tile(Queue::kStore, Traffic::kActivations, tokens * s_.q_width() * kBf16Bytes, done);
    const Handle kv = store_tile(Queue::kKvWrite, Traffic::kKvWrite, 2 * tokens * s_.kv_width() * kBf16Bytes, done);
    return w_.segment().emit(Engine::kCollective, Instruction{}, {q, kv});
  }

  Handle output_and_mlp(std::uint64_t tokens, Handle attended) {
    const Count all = Count::constant(w_.free_elements(s_.hidden, tokens));
    w_.segment().acquire(Engine::kSync, tiles_ring_);
    const Handle loaded = load_tile(tokens, s_.q_width(), attended);
    const Handle stream = load_tile(tokens, s_.hidden, {});
    const Handle output = project_columns(s_.q_width(), s_.hidden, tokens, loaded);
    const Handle added =
        w_.run(Engine::kVector, {.op = Op::kBinary, .free = all, .second = Space::kSbuf}, {output, stream});
    Handle done = rms_norm(w_, s_.hidden, tokens, added);
    const Handle normed = done;
    for (std::uint64_t at = 0; at < s_.ffn; at += kInnerColumns) {
      const std::uint64_t columns = std::min(kInnerColumns, s_.ffn - at);
      const Handle inner = inner_columns(columns, tokens, normed);
      // The first block replaces the result, the others add to it.
      done = project_columns(columns, s_.hidden, tokens, inner, at == 0 ? Op::kCopy : Op::kBinary);
    }
    const Handle sum = w_.run(Engine::kVector, {.op = Op::kBinary, .free = all, .second = Space::kSbuf}, {done});
    w_.segment().release(sum, tiles_ring_);
    const Handle stored = store_tile(Queue::kStore, Traffic::kActivations, tokens * s_.hidden * kBf16Bytes, sum);
    return w_.segment().emit(Engine::kCollective, Instruction{}, {stored});
  }

  Handle inner_columns(std::uint64_t columns, std::uint64_t tokens, Handle normed) {
    const Count all = Count::constant(w_.free_elements(columns, tokens));
    const Handle gate = project_columns(s_.hidden, columns, tokens, normed);
    const KernelWriter::Elementwise activate{.op = Op::kActivation, .free = all, .function = s_.activation};
    if (!s_.gated) return w_.run(Engine::kScalar, activate, {gate});
    const Handle up = project_columns(s_.hidden, columns, tokens, normed);
    const Handle activated = w_.run(Engine::kScalar, activate, {gate});
    return w_.run(Engine::kVector, {.op = Op::kBinary, .free = all, .second = Space::kSbuf}, {activated, up});
  }

  KernelWriter& w_;
  const BlockShape& s_;
  std::uint64_t tile_;
  BufferRing tiles_ring_;
  SemaphoreId joined_ = 0;
};

}  // namespace

std::uint64_t block_tile_tokens(const CoreSpec& core, const BlockShape& s) {
  const std::uint64_t fit = core.sbuf_per_partition.count() * kResidentShare / 100 / bytes_per_token(core, s);
  const std::uint64_t most = std::min(fit, core.moving_columns());
  const std::uint64_t whole =
      most >= core.partitions ? most / core.partitions * core.partitions : std::max<std::uint64_t>(1, most);
  return std::min(whole, std::max<std::uint64_t>(1, s.batch * s.own_tokens));
}

std::uint64_t block_resident_bytes(const CoreSpec& core, const BlockShape& s) {
  return block_tile_tokens(core, s) * bytes_per_token(core, s) + kSmallTensors;
}

Handle transformer_block(KernelWriter& w, const BlockShape& s) {
  if (s.batch == 0 || s.tokens == 0) return {};
  return Block(w, s).emit();
}

}  // namespace trnsim
