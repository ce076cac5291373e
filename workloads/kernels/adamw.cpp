#include <algorithm>
#include <array>

#include "workloads/kernels/tiles.h"
#include "workloads/kernels/vector_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kLoadColumns = 1024;  // of one load and of one store
constexpr std::uint64_t kStepColumns = 512;   // of one instruction
constexpr std::uint32_t kBuffers = 2;         // load the next tile while computing on this one

/// One row tile and one range of columns at a time. The two engines that scale by a constant take turns at it.
class Optimiser {
 public:
  Optimiser(TileWriter& w, const AdamW& a) : w_(w), a_(a) {
    const std::uint64_t tile = storage_bytes(kLoadColumns, a.dtype), step = storage_bytes(kStepColumns, a.dtype);
    for (BufferRing& ring : operands_) ring = w.program().sbuf_ring(Bytes(tile), kBuffers);
    results_ = w.program().sbuf_ring(Bytes(tile), kBuffers);
    w.program().reserve_sbuf(Bytes(step * kTemporaries));
  }

  void emit() {
    const std::uint64_t rows = w_.share(a_.m);
    for (std::uint64_t row = 0; row < rows; row += w_.partitions()) {
      for (std::uint64_t at = 0; at < a_.n; at += kLoadColumns) {
        tile(std::min<std::uint64_t>(w_.partitions(), rows - row), std::min(kLoadColumns, a_.n - at));
      }
    }
    end_after(w_, {stored_});
  }

 private:
  enum Operand : std::size_t { kWeight, kFirst, kSecond, kGradient, kOperands };
  static constexpr std::uint64_t kTemporaries = 16;  // one per instruction but the last

  void tile(std::uint64_t rows, std::uint64_t columns) {
    rows_ = rows;
    const Piece piece{.rows = rows, .row_bytes = storage_bytes(columns, a_.dtype)};
    std::array<Handle, kOperands> loaded;
    for (std::size_t i = 0; i < kOperands; ++i) {
      w_.segment().acquire(Engine::kSync, operands_[i]);
      loaded[i] = load(w_, Queue::kTiles, piece);
    }
    w_.segment().acquire(Engine::kVector, results_);
    Handle done;
    for (std::uint64_t at = 0; at < columns; at += kStepColumns) {
      done = step(std::min(kStepColumns, columns - at), loaded);
    }
    for (const BufferRing& ring : operands_) w_.segment().release(done, ring);
    stored_ = store(w_, Queue::kStore, piece, {done});
    w_.segment().release(stored_, results_);
  }

  // Moments, their correction, the step, weight decay: 7 scalings, 6 products and sums, a root and a reciprocal.
  Handle step(std::uint64_t n, const std::array<Handle, kOperands>& in) {
    n_ = n;
    const Handle first = combine({scale(in[kFirst]), scale(in[kGradient])});
    const Handle square = combine({in[kGradient]});
    const Handle second = combine({scale(in[kSecond]), scale(square)});
    const Handle corrected = scale(first);
    const Handle root = w_.run(Engine::kScalar, tile_function(Function::kSqrt, a_.dtype, n, rows_), {second});
    const Handle raised = scale(root);
    const Handle inverse = w_.run(Engine::kVector, tile_op(Op::kReciprocal, a_.dtype, n, rows_), {raised});
    const Handle ratio = combine({corrected, inverse});
    const Handle decayed = scale(in[kWeight]);
    return combine({combine({ratio, decayed}), in[kWeight]});
  }

  Handle scale(Handle ready) {
    if (turn_++ % 2 == 0) return w_.run(Engine::kVector, tile_op(Op::kTensorScalar, a_.dtype, n_, rows_), {ready});
    return w_.run(Engine::kScalar, tile_function(Function::kNone, a_.dtype, n_, rows_), {ready});
  }
  Handle combine(std::initializer_list<Handle> ready) {
    return w_.run(Engine::kVector, tile_op(Op::kBinary, a_.dtype, n_, rows_), ready);
  }

  TileWriter& w_;
  const AdamW& a_;
  std::array<BufferRing, kOperands> operands_;
  BufferRing results_;
  std::uint64_t rows_ = 0, n_ = 0, turn_ = 0;
  Handle stored_;
};

}  // namespace

void adamw(TileWriter& w, const AdamW& a) {
  if (w.share(a.m) == 0 || a.n == 0) return;
  Optimiser(w, a).emit();
}

}  // namespace trnsim
