// One step of a selective scan: one state of one channel tile over some columns of the sequence.
#pragma once

#include <cstdint>

#include "workloads/kernels/tiles.h"
#include "workloads/kernels/vector_kernels.h"

namespace trnsim {

/// The work that all schedules of the scan share. Rows of b and c lie on one partition; a matmul with ones spreads
/// them.
class ScanSteps {
 public:
  ScanSteps(TileWriter& w, const SelectiveScan& s) : w_(w), s_(s) {}

  [[nodiscard]] std::uint64_t bytes(std::uint64_t columns) const { return storage_bytes(columns, s_.dtype); }
  [[nodiscard]] std::uint64_t channel_tiles() const { return w_.tiles(w_.share(s_.channels)); }
  [[nodiscard]] std::uint64_t lanes(std::uint64_t tile) const {
    return std::min(w_.tile_width(), w_.share(s_.channels) - tile * w_.tile_width());
  }

  /// A row of b or c, into partition 0 of the buffer that it is spread over.
  Handle load_row(BufferRing rows, std::uint64_t columns) {
    w_.segment().acquire(Engine::kSync, rows);
    return load(w_, Queue::kSmall, {.rows = 1, .row_bytes = bytes(columns)});
  }

  /// The row at `row` on all partitions of an SBUF tile: a matmul per PSUM bank, emptied by scalar and vector in turns.
  /// The handle is the last on the scalar engine; vector is in order with itself.
  Handle spread_to_sbuf(BufferRing banks, Handle row, std::uint64_t columns, std::uint64_t rows) {
    Handle copied;
    for (std::uint64_t at = 0; at < columns; at += bank_columns(w_)) {
      const std::uint64_t n = std::min(bank_columns(w_), columns - at);
      const Engine engine = turn_++ % 2 == 0 ? Engine::kScalar : Engine::kVector;
      const Handle product = spread_to_psum(banks, row, n, rows);
      const Handle done = w_.run(engine, from_psum(tile_op(Op::kCopy, s_.dtype, n, rows)), {product});
      w_.segment().release(done, banks);
      if (engine == Engine::kScalar) copied = done;
    }
    return copied;
  }

  /// The same into one bank, which the caller releases.
  Handle spread_to_psum(BufferRing banks, Handle row, std::uint64_t columns, std::uint64_t rows) {
    w_.segment().acquire(Engine::kTensor, banks);
    return w_.matmul(
        {.dtype = s_.dtype, .rows = 1, .columns = rows, .free = Count::constant(columns), .repeat = Count::constant(1)},
        {row});
  }

  /// exp(delta a), a by pointer.
  Handle decay(BufferRing decays, std::uint64_t columns, std::uint64_t rows, Handle delta, Handle a, Handle other) {
    w_.segment().acquire(Engine::kScalar, decays);
    TileWriter::Elementwise e = tile_function(Function::kExp, s_.dtype, columns, rows);
    e.reads_scalar = true;
    return w_.run(Engine::kScalar, e, {delta, a, other});
  }

  /// A two-operand instruction of the vector engine.
  Handle combine(Op op, std::uint64_t columns, std::uint64_t rows, std::initializer_list<Handle> after,
                 Space second = Space::kSbuf) {
    TileWriter::Elementwise e = tile_op(op, s_.dtype, columns, rows);
    e.second = second;
    return w_.run(Engine::kVector, e, after);
  }

  /// x from exp(delta a) and b delta u; a chunk begins with what the one before left, read from a tile.
  Handle running(std::uint64_t columns, std::uint64_t rows, Handle decay, Handle seed, bool in_chunks) {
    TileWriter::Elementwise e = tile_op(Op::kScan, s_.dtype, columns, rows);
    e.reads_scalar = in_chunks;
    return w_.run(Engine::kVector, e, {decay, seed});
  }

  Handle zero(std::uint64_t columns, std::uint64_t rows, Space space = Space::kSbuf) {
    TileWriter::Elementwise e = tile_op(Op::kMemset, s_.dtype, columns, rows);
    e.destination = space;
    return w_.run(Engine::kVector, e, {});
  }

  /// The last column of a scanned tile, seed of the next chunk.
  Handle carry(std::uint64_t rows, Handle scanned) {
    return w_.run(Engine::kScalar, tile_op(Op::kCopy, s_.dtype, 1, rows), {scanned});
  }

 private:
  TileWriter& w_;
  const SelectiveScan& s_;
  std::uint64_t turn_ = 0;
};

}  // namespace trnsim
