#include <algorithm>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/layer_kernels.h"
#include "workloads/kernels/tiles.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kBuffers = 2;     // of turned rows, and of biases
constexpr std::uint32_t kRowBuffers = 3;  // one loaded, one with its bias added, one turned

/// Linear layers as blocked matmuls, n outside k outside m. Between them x is turned on the tensor engine, through HBM:
/// the matmul wants features on partitions and puts out tokens there. Bias, activation and the last softmax happen on
/// the rows that are turned or, after the last layer, stored.
class Blocks {
 public:
  Blocks(TileWriter& w, const BlockedMlp& m) : w_(w), m_(m), width_(w.tile_width()), tokens_(w.share(m.tokens)) {
    const std::uint64_t row_tiles = w.tiles(tokens_);
    sums_depth_ = row_tiles;
    const std::uint64_t sums = row_tiles * bytes(m.block_n), weight = bytes(m.block_n);
    const std::uint64_t input = bytes(std::min(m.block_m, tokens_));
    const std::uint64_t pieces = ceil_div(m.block_k, width_);
    const std::uint64_t sbuf = w.core().sbuf_per_partition.count();
    const std::uint64_t needs = sums + pieces * (weight + input);
    if (needs > sbuf) refuse(needs, sbuf);
    // In the order of the program: the next weights are loaded first.
    const std::uint64_t more_weights = std::min(pieces, (sbuf - needs) / weight);
    const std::uint64_t more_inputs = std::min(pieces, (sbuf - needs - more_weights * weight) / input);
    ring(sums_, row_tiles);
    ring(weights_, pieces + more_weights);
    ring(inputs_, pieces + more_inputs);
    // Rows on their way through the tensor engine use the same SBUF; blocks of operands are not there then.
    const std::uint64_t widest = *std::max_element(m.widths.begin(), m.widths.end());
    const std::uint64_t between = (kRowBuffers + 2 * kBuffers) * bytes(widest);
    if (between > sbuf) refuse(between, sbuf);
    ring(rows_, kRowBuffers);
    ring(turned_, kBuffers);
    ring(biases_, kBuffers);
    w.program().reserve_sbuf(Bytes(std::max(between, needs + more_weights * weight + more_inputs * input)));
    banks_ = bank_ring(w, w.core().psum_banks);
  }

  void emit() {
    results_.assign(sums_depth_, {});
    turn(0);
    for (std::size_t i = 0; i + 1 < m_.widths.size(); ++i) {
      layer(i);
      i + 2 < m_.widths.size() ? turn(i + 1) : finish(i + 1);
    }
    end_after(w_, {stored_});
  }

 private:
  [[nodiscard]] std::uint64_t bytes(std::uint64_t elements) const { return storage_bytes(elements, m_.dtype); }
  [[noreturn]] static void refuse(std::uint64_t needs, std::uint64_t has) {
    throw InfeasibleError("blocks of the linear layers need " + std::to_string(needs) +
                          " bytes of SBUF per partition, has " + std::to_string(has) + "; use smaller blocks");
  }
  void ring(BufferRing& r, std::uint64_t depth) {
    r = {w_.program().semaphore(WaitReason::kBuffer, static_cast<std::uint32_t>(depth))};
  }

  Handle load_piece(Queue queue, BufferRing ring, std::uint64_t rows, std::uint64_t columns, Traffic traffic,
                    Handle after) {
    w_.segment().acquire(Engine::kSync, ring);
    return load(w_, queue, {.rows = rows, .row_bytes = bytes(columns), .traffic = traffic}, {after});
  }

  void layer(std::size_t index) {
    const std::uint64_t in = m_.widths[index], out = m_.widths[index + 1];
    for (std::uint64_t n = 0; n < out; n += m_.block_n) {
      const std::uint64_t columns = std::min(m_.block_n, out - n);
      for (std::uint64_t i = 0; i < sums_depth_; ++i) {
        w_.segment().acquire(Engine::kVector, sums_);
        w_.run(Engine::kVector, tile_op(Op::kMemset, m_.dtype, columns, width_), {});
      }
      for (std::uint64_t k = 0; k < in; k += m_.block_k) block(std::min(m_.block_k, in - k), columns);
      for (std::uint64_t i = 0; i < sums_depth_; ++i) {
        results_[i] = store(w_, Queue::kStore, {.rows = rows(i), .row_bytes = bytes(columns)}, {added_[i]});
        w_.segment().release(results_[i], sums_);
      }
    }
  }

  [[nodiscard]] std::uint64_t rows(std::uint64_t tile) const { return std::min(width_, tokens_ - tile * width_); }

  // A block of k and n, for all rows: products of a tile add up in a bank, which the vector engine adds to the sum.
  void block(std::uint64_t depth, std::uint64_t columns) {
    const std::uint64_t pieces = ceil_div(depth, width_);
    const auto free = [&](Handle last, BufferRing r) {
      w_.segment().signal(last, r.free_slots, static_cast<std::uint32_t>(pieces));
    };
    Handle weights, inputs, product;
    for (std::uint64_t k = 0; k < depth; k += width_) {
      weights = load_piece(Queue::kWeights, weights_, std::min(width_, depth - k), columns, Traffic::kWeights, {});
    }
    added_.resize(sums_depth_);
    for (std::uint64_t m = 0; m < tokens_; m += m_.block_m) {
      const std::uint64_t here = std::min(m_.block_m, tokens_ - m);
      for (std::uint64_t k = 0; k < depth; k += width_) {
        inputs = load_piece(Queue::kTiles, inputs_, std::min(width_, depth - k), here, Traffic::kActivations, stored_);
      }
      for (std::uint64_t row = 0; row < here; row += width_) {
        for (std::uint64_t column = 0; column < columns; column += bank_columns(w_)) {
          const std::uint64_t n = std::min(bank_columns(w_), columns - column);
          w_.segment().acquire(Engine::kTensor, banks_);
          product = w_.matmul({.dtype = m_.dtype,
                               .rows = std::min(width_, depth),
                               .columns = width_,
                               .free = Count::constant(n),
                               .repeat = Count::constant(pieces)},
                              {weights, inputs});
          TileWriter::Elementwise add = from_psum(tile_op(Op::kBinary, m_.dtype, n, width_));
          Handle& added = added_[(m + row) / width_];
          added = w_.run(Engine::kVector, add, {product});
          w_.segment().release(added, banks_);
        }
      }
      free(product, inputs_);
    }
    free(product, weights_);
  }

  // Rows of the layer's input: bias and activation of the layer before, then turned, four tiles to a bank and a copy.
  void turn(std::size_t layer) {
    const Handle bias = layer > 0 ? load_bias(m_.widths[layer]) : Handle{};
    Handle next = prepare(layer, 0, bias), last;
    for (std::uint64_t i = 0; i < sums_depth_; ++i) {
      const Handle ready = next;
      if (i + 1 < sums_depth_) next = prepare(layer, i + 1, bias);
      last = turn_rows(rows(i), m_.widths[layer], ready);
    }
    if (layer > 0 && m_.bias) w_.segment().release(last, biases_);
  }

  // Rows of tile `i`, ready to be turned; one tile ahead of the turns.
  Handle prepare(std::size_t layer, std::uint64_t i, Handle bias) {
    const std::uint64_t features = m_.widths[layer];
    const Handle loaded = load_piece(Queue::kKv, rows_, rows(i), features, Traffic::kActivations, results_[i]);
    return layer > 0 ? activate(rows(i), features, loaded, bias) : loaded;
  }

  Handle turn_rows(std::uint64_t rows, std::uint64_t features, Handle ready) {
    const std::uint64_t group = std::max<std::uint64_t>(1, bank_columns(w_) / width_);
    Handle last, scalar, vector;
    for (std::uint64_t at = 0; at < w_.tiles(features); at += group) {
      const std::uint64_t count = std::min(group, w_.tiles(features) - at);
      w_.segment().acquire(Engine::kTensor, banks_);
      last = w_.transpose(rows, width_, count, {ready}, m_.dtype);
      // Scalar begins every row: if they took turns, one could take the buffer that the other needs first.
      const Engine engine = at / group % 2 == 0 ? Engine::kScalar : Engine::kVector;
      if (at == 0) w_.segment().acquire(Engine::kScalar, turned_);
      const Handle done = w_.run(engine, from_psum(tile_op(Op::kCopy, m_.dtype, count * rows, width_)), {last});
      w_.segment().release(done, banks_);
      (engine == Engine::kScalar ? scalar : vector) = done;
    }
    w_.segment().release(last, rows_);
    stored_ = store(w_, Queue::kKvWrite,
                    {.rows = width_, .row_bytes = w_.tiles(features) * bytes(rows), .run_bytes = bytes(rows)},
                    {scalar, vector});
    w_.segment().release(stored_, turned_);
    return last;
  }

  // On all partitions: one descriptor for each reads the same row.
  Handle load_bias(std::uint64_t features) {
    if (!m_.bias) return {};
    return load_piece(Queue::kSmall, biases_, width_, features, Traffic::kBiases, {});
  }

  Handle activate(std::uint64_t rows, std::uint64_t features, Handle ready, Handle bias) {
    if (m_.bias) ready = w_.run(Engine::kVector, tile_op(Op::kBinary, m_.dtype, features, rows), {ready, bias});
    if (!m_.relu) return ready;
    return w_.run(Engine::kScalar, tile_function(Function::kNone, m_.dtype, features, rows), {ready});
  }

  // Bias and logarithm of the softmax of each row.
  void finish(std::size_t layer) {
    const std::uint64_t n = m_.widths[layer];
    const Handle bias = load_bias(n);
    Handle done;
    for (std::uint64_t i = 0; i < sums_depth_; ++i) {
      if (!m_.bias && !m_.log_softmax) break;
      done = load_piece(Queue::kKv, rows_, rows(i), n, Traffic::kActivations, results_[i]);
      if (m_.bias) done = w_.run(Engine::kVector, tile_op(Op::kBinary, m_.dtype, n, rows(i)), {done, bias});
      if (m_.log_softmax) done = log_softmax(n, rows(i), done);
      stored_ = store(w_, Queue::kKvWrite, {.rows = rows(i), .row_bytes = bytes(n)}, {done});
      w_.segment().release(stored_, rows_);
    }
    if (m_.bias) w_.segment().release(done, biases_);
    if (!m_.bias && !m_.log_softmax) stored_ = results_.back();
  }

  Handle log_softmax(std::uint64_t n, std::uint64_t rows, Handle ready) {
    const Handle most = w_.run(Engine::kVector, tile_op(Op::kReduce, m_.dtype, n, rows), {ready});
    TileWriter::Elementwise e = tile_function(Function::kExp, m_.dtype, n, rows);
    e.reads_scalar = e.row_sum = true;
    w_.run(Engine::kScalar, e, {most});
    const Handle log = w_.run(Engine::kScalar, tile_function(Function::kLog, m_.dtype, 1, rows), {});
    w_.run(Engine::kVector, tile_op(Op::kBinary, m_.dtype, 1, rows), {log});
    TileWriter::Elementwise subtract = tile_op(Op::kTensorScalar, m_.dtype, n, rows);
    subtract.reads_scalar = true;
    return w_.run(Engine::kVector, subtract, {});
  }

  TileWriter& w_;
  const BlockedMlp& m_;
  std::uint64_t width_, tokens_, sums_depth_ = 0;
  BufferRing sums_, weights_, inputs_, rows_, turned_, biases_, banks_;
  std::vector<Handle> results_, added_;  ///< by row tile
  Handle stored_;
};

}  // namespace

void mlp_blocks(TileWriter& w, const BlockedMlp& m) {
  if (w.share(m.tokens) == 0 || m.widths.size() < 2) return;
  Blocks(w, m).emit();
}

}  // namespace trnsim
