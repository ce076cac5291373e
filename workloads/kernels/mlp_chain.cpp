#include <algorithm>
#include <vector>

#include "workloads/kernels/layer_kernels.h"
#include "workloads/kernels/tiles.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kLoadColumns = 1024;  // of one weight load
constexpr std::uint64_t kBlockTokens = 512;   // moving at a time
constexpr std::uint32_t kBuffers = 2;         // of a layer's weights: the next one's are loaded meanwhile

/// Weights stationary, tokens moving. Vector and scalar take turns at emptying PSUM, where bias and activation are
/// applied, and at casting weights that are stored in another format than they are multiplied in.
class Chain {
 public:
  Chain(TileWriter& w, const LinearChain& c) : w_(w), c_(c), width_(w.tile_width()), tokens_(w.share(c.tokens)) {
    block_ = std::min({kBlockTokens, bank_columns(w), tokens_});
    blocks_.resize(ceil_div(tokens_, block_));
    std::uint64_t most = 0, widest = 0;
    for (std::size_t i = 0; i + 1 < c.widths.size(); ++i) most = std::max(most, pieces(i));
    for (const std::uint64_t width : c.widths) widest = std::max(widest, w.tiles(width));
    ProgramBuilder& program = w.program();
    const auto depth = static_cast<std::uint32_t>(kBuffers * most);
    if (c.stored != c.dtype) loaded_ = program.sbuf_ring(Bytes(storage_bytes(kLoadColumns, c.stored)), depth);
    weights_ = program.sbuf_ring(Bytes(storage_bytes(kLoadColumns, c.dtype)), depth);
    biases_ = program.sbuf_ring(Bytes(storage_bytes(widest, c.stored)), kBuffers);
    program.reserve_sbuf(Bytes(2 * widest * storage_bytes(tokens_, c.dtype)));  // input and output of a layer
    staged_ = program.sbuf_ring(Bytes(storage_bytes(tokens_, c.stored)), kBuffers);
    banks_ = bank_ring(w, w.core().psum_banks);
  }

  void emit() {
    input();
    for (std::size_t i = 0; i + 1 < c_.widths.size(); ++i) layer(i);
    output();
  }

 private:
  [[nodiscard]] std::uint64_t pieces(std::size_t layer) const {
    return w_.tiles(c_.widths[layer]) * ceil_div(c_.widths[layer + 1], kLoadColumns);
  }

  struct Ready {
    Handle scalar, vector;
  };

  [[nodiscard]] Engine next_engine() { return turn_++ % 2 == 0 ? Engine::kScalar : Engine::kVector; }

  Handle cast(Handle loaded, std::uint64_t rows, std::uint64_t columns, Ready& ready) {
    const Engine engine = next_engine();
    const Handle done = w_.run(engine, tile_op(Op::kCopy, c_.stored, columns, rows), {loaded});
    (engine == Engine::kScalar ? ready.scalar : ready.vector) = done;
    return done;
  }

  void input() {
    Ready ready;
    for (std::uint64_t at = 0; at < c_.widths[0]; at += width_) {
      const std::uint64_t rows = std::min(width_, c_.widths[0] - at);
      w_.segment().acquire(Engine::kSync, staged_);
      const Handle loaded = load(w_, Queue::kTiles, {.rows = rows, .row_bytes = storage_bytes(tokens_, c_.stored)});
      w_.segment().release(cast(loaded, rows, tokens_, ready), staged_);
    }
    for (Ready& block : blocks_) block = ready;
  }

  struct Weights {
    Handle queue, bias;
    Ready cast;
  };

  Weights load_layer(std::size_t layer) {
    const std::uint64_t rows = c_.widths[layer], columns = c_.widths[layer + 1];
    const bool casts = c_.stored != c_.dtype;
    Weights weights;
    for (std::uint64_t at = 0; at < rows; at += width_) {
      for (std::uint64_t column = 0; column < columns; column += kLoadColumns) {
        const std::uint64_t lanes = std::min(width_, rows - at), n = std::min(kLoadColumns, columns - column);
        w_.segment().acquire(Engine::kSync, casts ? loaded_ : weights_);
        weights.queue = load(w_, Queue::kWeights,
                             {.rows = lanes, .row_bytes = storage_bytes(n, c_.stored), .traffic = Traffic::kWeights});
        if (!casts) continue;
        w_.segment().acquire(turn_ % 2 == 0 ? Engine::kScalar : Engine::kVector, weights_);
        w_.segment().release(cast(weights.queue, lanes, n, weights.cast), loaded_);
      }
    }
    if (!c_.bias) return weights;
    w_.segment().acquire(Engine::kSync, biases_);
    weights.bias = load(w_, Queue::kSmall,
                        {.rows = 1,
                         .row_bytes = storage_bytes(columns, c_.stored),
                         .traffic = Traffic::kBiases,
                         .run_bytes = storage_bytes(1, c_.stored)});
    return weights;
  }

  void layer(std::size_t index) {
    const Weights weights = index == 0 ? load_layer(0) : next_;
    if (index + 2 < c_.widths.size()) next_ = load_layer(index + 1);
    const std::uint64_t depth = w_.tiles(c_.widths[index]);
    Handle last, emptied;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::uint64_t tokens = std::min(block_, tokens_ - b * block_);
      Ready ready;
      for (std::uint64_t at = 0; at < c_.widths[index + 1]; at += width_) {
        const std::uint64_t columns = std::min(width_, c_.widths[index + 1] - at);
        w_.segment().acquire(Engine::kTensor, banks_);
        last = w_.matmul({.dtype = c_.dtype,
                          .rows = std::min(width_, c_.widths[index]),
                          .columns = columns,
                          .free = Count::constant(tokens),
                          .repeat = Count::constant(depth)},
                         {blocks_[b].scalar, blocks_[b].vector, weights.cast.scalar, weights.cast.vector,
                          c_.stored == c_.dtype ? weights.queue : Handle{}});
        empty(tokens, columns, last, weights.bias, ready);
      }
      blocks_[b] = ready;
    }
    w_.segment().signal(last, weights_.free_slots, static_cast<std::uint32_t>(pieces(index)));
    if (!c_.bias) return;
    const Ready& ready = blocks_.back();
    w_.segment().release(
        ready.vector.valid() ? w_.segment().emit(Engine::kVector, Instruction{}, {ready.scalar}) : ready.scalar,
        biases_);
  }

  void empty(std::uint64_t tokens, std::uint64_t rows, Handle product, Handle bias, Ready& ready) {
    // The vector engine adds and compares; other functions are the scalar engine's.
    const Engine engine = c_.activation == Function::kNone ? next_engine() : Engine::kScalar;
    TileWriter::Elementwise e =
        from_psum(engine == Engine::kScalar ? tile_function(c_.activation, Dtype::kFp32, tokens, rows)
                                            : tile_op(Op::kTensorScalar, Dtype::kFp32, tokens, rows));
    e.reads_scalar = c_.bias;
    const Handle done = w_.run(engine, e, {product, bias});
    w_.segment().release(done, banks_);
    (engine == Engine::kScalar ? ready.scalar : ready.vector) = done;
  }

  void output() {
    Handle stored;
    for (std::uint64_t at = 0; at < c_.widths.back(); at += width_) {
      for (const Ready& ready : blocks_) stored = store_tile(std::min(width_, c_.widths.back() - at), ready);
    }
    end_after(w_, {stored});
  }

  Handle store_tile(std::uint64_t rows, const Ready& ready) {
    const std::uint64_t tokens = std::min(block_, tokens_);
    return store(w_, Queue::kStore, {.rows = rows, .row_bytes = storage_bytes(tokens, c_.stored)},
                 {ready.scalar, ready.vector});
  }

  TileWriter& w_;
  const LinearChain& c_;
  std::uint64_t width_, tokens_, block_ = 0, turn_ = 0;
  BufferRing loaded_, weights_, biases_, staged_, banks_;
  std::vector<Ready> blocks_;  ///< what makes a block of tokens ready for the next layer
  Weights next_;
};

}  // namespace

void mlp_chain(TileWriter& w, const LinearChain& c) {
  if (w.share(c.tokens) == 0 || c.widths.size() < 2) return;
  Chain(w, c).emit();
}

}  // namespace trnsim
