#include <algorithm>

#include "workloads/kernels/rows.h"
#include "workloads/kernels/tiles.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kBuffers = 2;  // load the next tile while computing on this one
constexpr std::uint64_t kFp32Bytes = 4;

/// Squares and their sum on scalar in one pass, the rest on vector. The gain is spread over the partitions once.
class Norm {
 public:
  Norm(TileWriter& w, const RowNorm& n) : w_(w), n_(n) {
    ProgramBuilder& program = w.program();
    inputs_ = program.sbuf_ring(Bytes(storage_bytes(n.hidden, n.dtype)), kBuffers);
    results_ = program.sbuf_ring(Bytes(storage_bytes(n.hidden, n.result) + kFp32Bytes), kBuffers);
    program.reserve_sbuf(Bytes(storage_bytes(n.hidden, n.dtype) + 2 * storage_bytes(n.hidden, Dtype::kFp32)));
    banks_ = bank_ring(w, kBuffers);
  }

  void emit() {
    const std::uint64_t tokens = w_.share(n_.tokens);
    const Handle gain = spread_gain();
    Handle stored;
    for (std::uint64_t at = 0; at < tokens; at += w_.partitions()) {
      stored = tile(std::min<std::uint64_t>(w_.partitions(), tokens - at), gain);
    }
    end_after(w_, {stored});
  }

 private:
  [[nodiscard]] bool quantises() const { return n_.result == Dtype::kFp8; }

  // The handle is on scalar, which empties PSUM here.
  Handle spread_gain() {
    const Handle row = load(w_, Queue::kSmall,
                            {.rows = 1, .row_bytes = storage_bytes(n_.hidden, n_.dtype), .traffic = Traffic::kWeights});
    Handle copied;
    for (std::uint64_t at = 0; at < n_.hidden; at += bank_columns(w_)) {
      const std::uint64_t n = std::min(bank_columns(w_), n_.hidden - at);
      w_.segment().acquire(Engine::kTensor, banks_);
      const Handle product = w_.matmul({.dtype = n_.dtype,
                                        .rows = 1,
                                        .columns = w_.tile_width(),
                                        .free = Count::constant(n),
                                        .repeat = Count::constant(ceil_div(w_.partitions(), w_.tile_width()))},
                                       {row});
      copied = w_.run(Engine::kScalar, from_psum(tile_op(Op::kCopy, n_.dtype, n, w_.partitions())), {product});
      w_.segment().release(copied, banks_);
    }
    return copied;
  }

  Handle tile(std::uint64_t rows, Handle gain) {
    w_.segment().acquire(Engine::kSync, inputs_);
    const Handle x = load(w_, Queue::kTiles, {.rows = rows, .row_bytes = storage_bytes(n_.hidden, n_.dtype)});
    TileWriter::Elementwise square = tile_function(Function::kSquare, n_.dtype, n_.hidden, rows);
    square.row_sum = true;
    w_.run(Engine::kScalar, square, {x});
    const Handle root = w_.run(Engine::kScalar, tile_function(Function::kRsqrt, Dtype::kFp32, 1, rows), {});
    w_.segment().acquire(Engine::kVector, results_);
    // (x times 1 / rms) times gain in one instruction.
    TileWriter::Elementwise scale = tile_op(Op::kScalarTensorTensor, n_.dtype, n_.hidden, rows);
    scale.reads_scalar = true;
    Handle done = w_.run(Engine::kVector, scale, {root, gain});
    w_.segment().release(done, inputs_);
    if (quantises()) done = quantise(rows);
    const Handle stored =
        store(w_, Queue::kStore, {.rows = rows, .row_bytes = storage_bytes(n_.hidden, n_.result)}, {done});
    if (!quantises()) return release(stored);
    return release(store(w_, Queue::kStore, {.rows = rows, .row_bytes = kFp32Bytes}, {}));
  }

  Handle release(Handle stored) {
    w_.segment().release(stored, results_);
    return stored;
  }

  // Largest magnitude of the row, its inverse, product in the narrow format.
  Handle quantise(std::uint64_t rows) {
    w_.run(Engine::kVector, tile_op(Op::kReduce, Dtype::kFp32, n_.hidden, rows), {});
    w_.run(Engine::kVector, tile_op(Op::kReciprocal, Dtype::kFp32, 1, rows), {});
    TileWriter::Elementwise scale = tile_op(Op::kTensorScalar, Dtype::kFp32, n_.hidden, rows);
    scale.reads_scalar = true;
    return w_.run(Engine::kVector, scale, {});
  }

  TileWriter& w_;
  const RowNorm& n_;
  BufferRing inputs_, results_, banks_;
};

}  // namespace

void rms_norm_rows(TileWriter& w, const RowNorm& n) {
  if (w.share(n.tokens) == 0 || n.hidden == 0) return;
  Norm(w, n).emit();
}

}  // namespace trnsim
