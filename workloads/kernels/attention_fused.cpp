#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kMxGroup = 32;       // elements that share a scale (OCP Microscaling Formats specification)
constexpr std::uint32_t kWeightSlots = 3;    // slices of weights on their way
constexpr std::uint32_t kInputSlots = 2;     // blocks of tokens on their way
constexpr std::uint32_t kResidualTiles = 5;  // tiles of the residual stream: those of a block and the next
constexpr std::uint32_t kOutputSlots = 4;    // results on their way to HBM

/// The two projections, which stream all their weights for each block of tokens.
class Projections {
 public:
  Projections(TileWriter& w, const FusedAttention& shape) : steps_(w), shape_(shape), dtype_(shape.projections) {
    tokens_ = shape.attention.shape.queries;
    copy_columns_ = shape.attention.balance.copy_columns;
  }

  /// SBUF that the projections take while the attention between them does not run, bytes per partition.
  [[nodiscard]] std::uint64_t sbuf() const {
    const std::uint64_t in = kInputSlots * input_bytes(shape_.hidden) + kWeightSlots * slice_bytes(steps_.tile());
    const std::uint64_t out =
        kInputSlots * input_bytes(shape_.q_width()) +
        kWeightSlots * storage_bytes(ceil_div(shape_.q_width(), steps_.tile()) * steps_.block(), dtype_) +
        (kResidualTiles + kOutputSlots) * shape_.hidden * kBf16Bytes;
    return std::max(in, out);
  }

  /// PSUM and SBUF are those of the attention, which runs in between.
  void share_memory() {
    banks_ = steps_.writer().program().psum_ring(Bytes(0), steps_.writer().core().psum_banks);
    inputs_ = steps_.buffers(0, kInputSlots);
    weights_ = steps_.buffers(0, kWeightSlots);
    residuals_ = steps_.buffers(0, kResidualTiles);
    outputs_ = steps_.buffers(0, kOutputSlots);
  }

  Handle qkv() {
    steps_.segment().operator_is("qkv_projection");
    for (std::uint64_t at = 0; at < tokens_; at += steps_.block()) qkv_block(std::min(steps_.block(), tokens_ - at));
    return stored_;
  }

  void output(Handle ready) {
    steps_.segment().operator_is("output_projection");
    for (std::uint64_t at = 0; at < tokens_; at += steps_.block()) {
      output_block(std::min(steps_.block(), tokens_ - at), ready);
    }
  }

 private:
  /// A block of tokens with `features` on the partitions, in BF16 and as the array takes it.
  [[nodiscard]] std::uint64_t input_bytes(std::uint64_t features) const {
    const std::uint64_t elements = ceil_div(features, steps_.tile()) * steps_.block();
    return elements * kBf16Bytes + (dtype_ == Dtype::kBf16 ? 0 : storage_bytes(elements, dtype_)) / kInputSlots;
  }
  [[nodiscard]] std::uint64_t slice_bytes(std::uint64_t columns) const {
    return storage_bytes(ceil_div(shape_.hidden, steps_.tile()) * columns, dtype_);
  }

  Handle load_input(std::uint64_t features, std::uint64_t tokens, bool transposes, Handle ready) {
    const std::uint64_t tiles = ceil_div(features, steps_.tile());
    steps_.segment().acquire(Engine::kSync, inputs_);
    const Handle loaded = steps_.load(
        Engine::kSync, Queue::kTiles,
        {.rows = steps_.tile(), .run_bytes = tokens * kBf16Bytes, .runs = tiles, .transposes = transposes}, {ready});
    return quantised(tiles * tokens, loaded);
  }

  /// BF16 in the format of the projections: a cast, the hardware's microscaling, or the same by vector instructions:
  /// the largest magnitude of each group, its scale, the products with it and a cast.
  Handle quantised(std::uint64_t elements, Handle ready) {
    if (dtype_ == Dtype::kBf16) return ready;
    if (!is_microscaled(dtype_)) return vector(Op::kCopy, elements, ready);
    if (steps_.writer().core().vector.quantize_mx_rate > 0) return vector(Op::kQuantizeMx, elements, ready);
    vector(Op::kReduce, elements, ready);
    vector(Op::kTensorScalar, ceil_div(elements, kMxGroup), {});
    vector(Op::kBinary, elements, {});
    return vector(Op::kCopy, elements, {});
  }
  Handle vector(Op op, std::uint64_t elements, Handle ready) {
    return steps_.writer().run(
        Engine::kVector,
        {.op = op, .free = Count::constant(elements), .second = op == Op::kBinary ? Space::kSbuf : Space::kNone},
        {ready});
  }

  Handle load_weights(std::uint64_t contraction, std::uint64_t columns) {
    steps_.segment().acquire(Engine::kSync, weights_);
    return steps_.writer().move(Engine::kSync, Queue::kWeights,
                                {.bytes = storage_bytes(contraction * columns, dtype_), .traffic = Traffic::kWeights},
                                {});
  }

  /// Into one bank, over all of the contraction.
  Handle multiply(std::uint64_t contraction, std::uint64_t stationary, std::uint64_t moving,
                  AttentionSteps::After after) {
    const std::uint64_t depth = steps_.writer().contraction_rows(dtype_);
    steps_.segment().acquire(Engine::kTensor, banks_);
    Handle product;
    for (std::uint64_t left = contraction; left > 0; left -= std::min(left, depth)) {
      product = steps_.multiply(dtype_, std::min(left, depth), stationary, moving, after);
    }
    return product;
  }

  void qkv_block(std::uint64_t tokens) {
    const Handle x = load_input(shape_.hidden, tokens, false, {});
    const std::uint64_t kv = shape_.qkv_width() - shape_.q_width();
    Handle product;
    // Q and K with the head on the partitions: weights stationary. V with tokens there: tokens stationary.
    const std::uint64_t q_and_k = shape_.q_width() + kv / 2;
    for (std::uint64_t at = 0; at < q_and_k; at += steps_.tile()) {
      const std::uint64_t columns = std::min(steps_.tile(), q_and_k - at);
      product = multiply(shape_.hidden, columns, tokens, {x, load_weights(shape_.hidden, columns)});
      steps_.segment().release(product, weights_);
      save(columns, tokens, product);
    }
    const Handle v_weights = load_weights(shape_.hidden, kv / 2);
    for (std::uint64_t at = 0; at < tokens; at += steps_.tile()) {
      product = multiply(shape_.hidden, std::min(steps_.tile(), tokens - at), kv / 2, {x, v_weights});
      save(std::min(steps_.tile(), tokens - at), kv / 2, product);
    }
    steps_.segment().release(product, weights_);
    steps_.segment().release(product, inputs_);
  }

  /// Result of one bank to SBUF, in copies of the kernel's width, and to HBM.
  void save(std::uint64_t rows, std::uint64_t columns, Handle product) {
    Handle copied;
    for (std::uint64_t left = columns; left > 0; left -= std::min(left, copy_columns_)) {
      copied = steps_.drain(std::min(left, copy_columns_), {product});
    }
    release_bank(copied);
    stored_ = steps_.store(Engine::kGpSimd, Queue::kStore, {.rows = rows, .run_bytes = columns * kBf16Bytes},
                           {steps_.drained()[0], steps_.drained()[1]});
  }
  void release_bank(Handle last_read) { steps_.segment().release(last_read, banks_); }

  void output_block(std::uint64_t tokens, Handle ready) {
    const Handle attended = load_input(shape_.q_width(), tokens, true, ready);
    const std::uint64_t tiles = ceil_div(tokens, steps_.tile());
    const AttentionSteps::Tile row{.rows = std::min(steps_.tile(), tokens), .run_bytes = shape_.hidden * kBf16Bytes};
    Handle residual;
    for (std::uint64_t t = 0; t < tiles; ++t) {
      steps_.segment().acquire(Engine::kSync, residuals_);
      residual = steps_.load(Engine::kSync, Queue::kSmall, row, {});
    }
    Handle product, added;
    for (std::uint64_t t = 0; t < tiles; ++t) steps_.segment().acquire(Engine::kVector, outputs_);
    for (std::uint64_t at = 0; at < shape_.hidden; at += steps_.block()) {
      const std::uint64_t columns = std::min(steps_.block(), shape_.hidden - at);
      const Handle weights = load_weights(shape_.q_width(), columns);
      for (std::uint64_t t = 0; t < tiles; ++t) {
        product = multiply(shape_.q_width(), row.rows, columns, {attended, weights});
        added = add_residual(columns, product, residual);
      }
      steps_.segment().release(product, weights_);
    }
    steps_.segment().release(product, inputs_);
    steps_.segment().signal(added, residuals_.free_slots, static_cast<std::uint32_t>(tiles));
    for (std::uint64_t t = 0; t < tiles; ++t) {
      steps_.segment().release(steps_.store(Engine::kGpSimd, Queue::kStore, row, {added}), outputs_);
    }
  }

  Handle add_residual(std::uint64_t columns, Handle product, Handle residual) {
    Handle added;
    for (std::uint64_t left = columns; left > 0; left -= std::min(left, copy_columns_)) {
      added = steps_.combine(std::min(left, copy_columns_), Space::kPsum, Space::kSbuf, {product, residual});
    }
    release_bank(added);
    return added;
  }

  AttentionSteps steps_;
  const FusedAttention& shape_;
  Dtype dtype_;
  std::uint64_t tokens_ = 0, copy_columns_ = 0;
  BufferRing banks_, inputs_, weights_, residuals_, outputs_;
  Handle stored_;
};

}  // namespace

void fused_attention(TileWriter& w, const FusedAttention& shape) {
  Projections projections(w, shape);
  projections.share_memory();
  const Handle projected = projections.qkv();
  w.segment().operator_is("attention");
  const Handle attended = attention_flash(w, shape.attention, projected);
  projections.output(attended);
  // What the attention keeps in SBUF lies where the projections had their tiles.
  const std::uint64_t taken = w.program().sbuf_per_partition().count();
  if (projections.sbuf() > taken) w.program().reserve_sbuf(Bytes(projections.sbuf() - taken));
}

std::uint64_t fused_attention_weight_bytes(const TileWriter& w, const FusedAttention& shape) {
  const std::uint64_t blocks = ceil_div(shape.attention.shape.queries, w.core().moving_columns());
  const auto sliced = [&](std::uint64_t contraction, std::uint64_t columns, std::uint64_t width) {
    const std::uint64_t whole = columns / width * storage_bytes(contraction * width, shape.projections);
    return whole + storage_bytes(contraction * (columns % width), shape.projections);
  };
  const std::uint64_t kv = (shape.qkv_width() - shape.q_width()) / 2;
  return blocks * (sliced(shape.hidden, shape.q_width() + kv, w.tile_width()) +
                   storage_bytes(shape.hidden * kv, shape.projections) +
                   sliced(shape.q_width(), shape.hidden, w.core().moving_columns()));
}

}  // namespace trnsim
