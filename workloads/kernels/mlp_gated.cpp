#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/layer_kernels.h"
#include "workloads/kernels/tiles.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBlockColumns = 1024;  // inner columns of gate and up at a time; columns of one weight load
constexpr std::uint64_t kBlockTokens = 512;    // tokens at a time
constexpr std::uint32_t kBuffers = 2;          // of what passes from one engine to the next

/// Phase one: gate and up of a block of inner columns, weights stationary, x turned once, its turned form stored for
/// the other blocks; the product goes to HBM. Phase two: down, the inner activation stationary, weights resident.
class Gated {
 public:
  Gated(TileWriter& w, const GatedMlp& m) : w_(w), m_(m), width_(w.tile_width()), tokens_(w.share(m.tokens)) {
    block_ = std::min(kBlockTokens, bank_columns(w));
    hidden_tiles_ = w.tiles(m.hidden);
    inner_tiles_ = w.tiles(m.inner);
    down_pieces_ = inner_tiles_ * ceil_div(m.output, kBlockColumns);
    share_sbuf();
    banks_ = bank_ring(w, w.core().psum_banks);
  }

  void emit() {
    for (std::uint64_t first = 0; first < m_.inner; first += kBlockColumns) {
      inner_block(first, std::min(kBlockColumns, m_.inner - first));
    }
    down();
    end_after(w_, {output_, inner_stored_, turned_stored_});
  }

 private:
  [[nodiscard]] std::uint64_t bytes(std::uint64_t elements) const { return storage_bytes(elements, m_.dtype); }

  // Both phases use the same SBUF, but for the weights: what gate and up leave is where down's arrive.
  void share_sbuf() {
    const std::uint64_t weight = bytes(kBlockColumns), piece = bytes(block_);
    const std::uint64_t first = kBuffers * (bytes(m_.hidden) + 3 * piece) + 2 * hidden_tiles_ * piece;
    const std::uint64_t second = kBuffers * bytes(m_.output) + inner_tiles_ * piece;
    const std::uint64_t least = std::max(2 * hidden_tiles_, down_pieces_);
    const std::uint64_t sbuf = w_.core().sbuf_per_partition.count();
    const std::uint64_t needs = std::max(first, second) + least * weight;
    if (needs > sbuf) {
      throw InfeasibleError("the gated MLP needs " + std::to_string(needs) + " bytes of SBUF per partition, has " +
                            std::to_string(sbuf));
    }
    const std::uint64_t depth =
        std::min(std::max(2 * least, 4 * hidden_tiles_), (sbuf - std::max(first, second)) / weight);
    const std::uint64_t rest = sbuf - depth * weight;
    ProgramBuilder& program = w_.program();
    weights_ = program.sbuf_ring(Bytes(weight), static_cast<std::uint32_t>(depth));
    const auto ring = [&](std::uint64_t count) {
      return BufferRing{program.semaphore(WaitReason::kBuffer, static_cast<std::uint32_t>(count))};
    };
    inputs_ = ring(kBuffers);
    turned_ = ring(2 * hidden_tiles_);
    gates_ = ring(kBuffers);
    sigmoids_ = ring(kBuffers);
    inners_ = ring(kBuffers);
    results_ = ring(kBuffers);
    scratch_ = ring(std::min(2 * inner_tiles_, (rest - kBuffers * bytes(m_.output)) / piece));
    program.reserve_sbuf(Bytes(rest));
  }

  Handle load_weights(std::uint64_t rows, std::uint64_t columns) {
    Handle last;
    for (std::uint64_t at = 0; at < rows; at += width_) {
      for (std::uint64_t column = 0; column < columns; column += kBlockColumns) {
        w_.segment().acquire(Engine::kSync, weights_);
        last = load(w_, Queue::kWeights,
                    {.rows = std::min(width_, rows - at),
                     .row_bytes = bytes(std::min(kBlockColumns, columns - column)),
                     .traffic = Traffic::kWeights});
      }
    }
    return last;
  }

  // Vector and scalar take turns at emptying PSUM.
  Handle empty(std::uint64_t columns, Handle product) {
    const Engine engine = turn_++ % 2 == 0 ? Engine::kScalar : Engine::kVector;
    const Handle done = w_.run(engine, from_psum(tile_op(Op::kCopy, m_.dtype, columns, width_)), {product});
    w_.segment().release(done, banks_);
    (engine == Engine::kScalar ? scalar_ : vector_) = done;
    return done;
  }

  void inner_block(std::uint64_t first, std::uint64_t columns) {
    const Handle gate = load_weights(m_.hidden, columns), up = load_weights(m_.hidden, columns);
    Handle last;
    for (std::uint64_t at = 0; at < tokens_; at += block_) {
      const std::uint64_t tokens = std::min(block_, tokens_ - at);
      const Handle x = first == 0 ? turn(tokens) : reload(tokens);
      for (std::uint64_t tile = 0; tile < w_.tiles(columns); ++tile) last = gated(tokens, x, gate, up);
      w_.segment().signal(last, turned_.free_slots, static_cast<std::uint32_t>(hidden_tiles_));
    }
    w_.segment().signal(last, weights_.free_slots, static_cast<std::uint32_t>(2 * hidden_tiles_));
  }

  // x onto partitions by feature, as many turned tiles as a bank holds for one copy. What is turned is kept in HBM.
  Handle turn(std::uint64_t tokens) {
    const std::uint64_t group = std::max<std::uint64_t>(1, bank_columns(w_) / width_);
    acquire_turned(Engine::kTensor);
    for (std::uint64_t at = 0; at < tokens; at += width_) {
      const std::uint64_t rows = std::min(width_, tokens - at);
      w_.segment().acquire(Engine::kSync, inputs_);
      const Handle loaded = load(w_, Queue::kTiles, {.rows = rows, .row_bytes = bytes(m_.hidden)});
      Handle turned;
      for (std::uint64_t tile = 0; tile < hidden_tiles_; tile += group) {
        const std::uint64_t count = std::min(group, hidden_tiles_ - tile);
        w_.segment().acquire(Engine::kTensor, banks_);
        turned = w_.transpose(rows, width_, count, {loaded}, m_.dtype);
        empty(count * rows, turned);
      }
      w_.segment().release(turned, inputs_);
    }
    if (m_.inner > kBlockColumns) move_turned(tokens, true);
    return {};
  }

  Handle reload(std::uint64_t tokens) {
    acquire_turned(Engine::kSync);
    return move_turned(tokens, false);
  }

  void acquire_turned(Engine engine) {
    w_.segment().wait(engine, turned_.free_slots, static_cast<std::uint32_t>(hidden_tiles_));
  }

  Handle move_turned(std::uint64_t tokens, bool out) {
    Handle moved;
    for (std::uint64_t at = 0; at < m_.hidden; at += width_) {
      const Piece piece{.rows = std::min(width_, m_.hidden - at), .row_bytes = bytes(tokens)};
      moved =
          out ? store(w_, Queue::kKvWrite, piece, {scalar_, vector_}) : load(w_, Queue::kKv, piece, {turned_stored_});
    }
    if (out) turned_stored_ = moved;
    return moved;
  }

  Handle product(std::uint64_t columns, std::uint64_t depth, std::initializer_list<Handle> after) {
    w_.segment().acquire(Engine::kTensor, banks_);
    return w_.matmul({.dtype = m_.dtype,
                      .rows = width_,
                      .columns = width_,
                      .free = Count::constant(columns),
                      .repeat = Count::constant(depth)},
                     after);
  }

  // One tile of inner columns: silu(gate) up as gate / (1 + exp(-gate)) times up, which comes straight from PSUM.
  Handle gated(std::uint64_t tokens, Handle x, Handle gate, Handle up) {
    const Handle scalar_before = scalar_, vector_before = vector_;
    w_.segment().acquire(turn_ % 2 == 0 ? Engine::kScalar : Engine::kVector, gates_);
    const Handle gate_product = product(tokens, hidden_tiles_, {x, scalar_before, vector_before, gate});
    const Handle kept = empty(tokens, gate_product);
    const Handle up_product = product(tokens, hidden_tiles_, {up});
    w_.segment().acquire(Engine::kScalar, sigmoids_);
    const Handle exponent = w_.run(Engine::kScalar, tile_function(Function::kExp, m_.dtype, tokens, width_), {kept});
    w_.run(Engine::kVector, tile_op(Op::kTensorScalar, m_.dtype, tokens, width_), {exponent});
    w_.run(Engine::kVector, tile_op(Op::kReciprocal, m_.dtype, tokens, width_), {});
    const Handle weighted = w_.run(Engine::kVector, tile_op(Op::kBinary, m_.dtype, tokens, width_), {kept});
    w_.segment().release(weighted, gates_);
    w_.segment().release(weighted, sigmoids_);
    w_.segment().acquire(Engine::kVector, inners_);
    TileWriter::Elementwise multiply = tile_op(Op::kBinary, m_.dtype, tokens, width_);
    multiply.second = Space::kPsum;
    const Handle inner = w_.run(Engine::kVector, multiply, {up_product});
    w_.segment().release(inner, banks_);
    inner_stored_ = store(w_, Queue::kStore, {.rows = width_, .row_bytes = bytes(tokens)}, {inner});
    w_.segment().release(inner_stored_, inners_);
    return up_product;
  }

  void down() {
    const Handle weights = load_weights(m_.inner, m_.output);
    for (std::uint64_t at = 0; at < tokens_; at += block_) {
      const std::uint64_t tokens = std::min(block_, tokens_ - at);
      Handle inner;
      for (std::uint64_t tile = 0; tile < inner_tiles_; ++tile) {
        w_.segment().acquire(Engine::kSync, scratch_);
        inner = load(w_, Queue::kTiles, {.rows = width_, .row_bytes = bytes(tokens)}, {inner_stored_});
      }
      Handle last;
      for (std::uint64_t row = 0; row < tokens; row += width_)
        last = down_rows(std::min(width_, tokens - row), inner, weights);
      w_.segment().signal(last, scratch_.free_slots, static_cast<std::uint32_t>(inner_tiles_));
      if (at + block_ >= tokens_) {
        w_.segment().signal(last, weights_.free_slots, static_cast<std::uint32_t>(down_pieces_));
      }
    }
  }

  Handle down_rows(std::uint64_t rows, Handle inner, Handle weights) {
    w_.segment().acquire(Engine::kTensor, results_);
    Handle last;
    for (std::uint64_t column = 0; column < m_.output; column += bank_columns(w_)) {
      const std::uint64_t columns = std::min(bank_columns(w_), m_.output - column);
      last = product(columns, inner_tiles_, {inner, weights});
      empty(columns, last);
    }
    output_ = store(w_, Queue::kKvWrite, {.rows = rows, .row_bytes = bytes(m_.output)}, {scalar_, vector_});
    w_.segment().release(output_, results_);
    return last;
  }

  TileWriter& w_;
  const GatedMlp& m_;
  std::uint64_t width_, tokens_, block_ = 0, hidden_tiles_ = 0, inner_tiles_ = 0, down_pieces_ = 0, turn_ = 0;
  BufferRing weights_, inputs_, turned_, gates_, sigmoids_, inners_, results_, scratch_, banks_;
  Handle scalar_, vector_, output_, inner_stored_, turned_stored_;
};

}  // namespace

void mlp_gated(TileWriter& w, const GatedMlp& m) {
  if (w.share(m.tokens) == 0) return;
  Gated(w, m).emit();
}

}  // namespace trnsim
