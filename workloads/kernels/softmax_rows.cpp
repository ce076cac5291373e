#include <algorithm>

#include "workloads/kernels/rows.h"
#include "workloads/kernels/tiles.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kSectionColumns = 2048;  // of one load when a row does not stay
constexpr std::uint32_t kBuffers = 2;            // load the next section while computing on this one

/// Maximum on vector, exponentials with their sum on scalar, quotients on vector.
class Softmax {
 public:
  Softmax(TileWriter& w, const RowSoftmax& s) : w_(w), s_(s) {
    section_ = s.resident ? s.n : std::min(s.n, kSectionColumns);
    const Bytes bytes(storage_bytes(section_, s.dtype));
    inputs_ = w.program().sbuf_ring(bytes, kBuffers);
    results_ = w.program().sbuf_ring(bytes, kBuffers);
    w.program().reserve_sbuf(Bytes(4 * storage_bytes(1, Dtype::kFp32)));  // maxima, sums, their parts
  }

  void emit() {
    const std::uint64_t rows = w_.share(s_.m);
    for (std::uint64_t at = 0; at < rows; at += w_.partitions()) {
      rows_ = std::min<std::uint64_t>(w_.partitions(), rows - at);
      s_.resident ? resident_tile() : tile_in_passes();
    }
    end_after(w_, {stored_});
  }

 private:
  Handle load_section(std::uint64_t columns) {
    w_.segment().acquire(Engine::kSync, inputs_);
    return load(w_, Queue::kTiles, {.rows = rows_, .row_bytes = storage_bytes(columns, s_.dtype)});
  }
  TileWriter::Elementwise op(Op op, std::uint64_t columns) const { return tile_op(op, s_.dtype, columns, rows_); }

  // With bias -maximum and the sum along the row in one instruction.
  Handle exponential(std::uint64_t columns, Handle maximum, Handle x) {
    TileWriter::Elementwise e = tile_function(Function::kExp, s_.dtype, columns, rows_);
    e.reads_scalar = e.row_sum = true;
    return w_.run(Engine::kScalar, e, {maximum, x});
  }

  Handle scale_and_store(std::uint64_t columns, Handle exponents) {
    TileWriter::Elementwise scale = op(Op::kTensorScalar, columns);
    scale.reads_scalar = true;
    const Handle done = w_.run(Engine::kVector, scale, {exponents});
    stored_ = store(w_, Queue::kStore, {.rows = rows_, .row_bytes = storage_bytes(columns, s_.dtype)}, {done});
    w_.segment().release(stored_, results_);
    return done;
  }

  void resident_tile() {
    const Handle x = load_section(s_.n);
    const Handle maximum = w_.run(Engine::kVector, op(Op::kReduce, s_.n), {x});
    w_.segment().acquire(Engine::kScalar, results_);
    const Handle exponents = exponential(s_.n, maximum, {});
    w_.segment().release(exponents, inputs_);
    w_.run(Engine::kVector, op(Op::kReciprocal, 1), {exponents});
    scale_and_store(s_.n, {});
  }

  void tile_in_passes() {
    Handle maximum, sum;
    for (std::uint64_t at = 0; at < s_.n; at += section_) {
      const std::uint64_t columns = std::min(section_, s_.n - at);
      const Handle part = w_.run(Engine::kVector, op(Op::kReduce, columns), {load_section(columns)});
      w_.segment().release(part, inputs_);
      maximum = w_.run(Engine::kVector, op(Op::kBinary, 1), {});
    }
    for (std::uint64_t at = 0; at < s_.n; at += section_) {
      const std::uint64_t columns = std::min(section_, s_.n - at);
      const Handle part = exponential(columns, maximum, load_section(columns));
      w_.segment().release(part, inputs_);
      sum = w_.run(Engine::kVector, op(Op::kBinary, 1), {part});
    }
    w_.run(Engine::kVector, op(Op::kReciprocal, 1), {});
    for (std::uint64_t at = 0; at < s_.n; at += section_) {
      const std::uint64_t columns = std::min(section_, s_.n - at);
      const Handle x = load_section(columns);
      w_.segment().acquire(Engine::kScalar, results_);
      const Handle exponents = exponential(columns, {}, x);
      w_.segment().release(exponents, inputs_);
      scale_and_store(columns, exponents);
    }
  }

  TileWriter& w_;
  const RowSoftmax& s_;
  std::uint64_t section_ = 0, rows_ = 0;
  BufferRing inputs_, results_;
  Handle stored_;
};

}  // namespace

void softmax_rows(TileWriter& w, const RowSoftmax& s) {
  if (w.share(s.m) == 0 || s.n == 0) return;
  Softmax(w, s).emit();
}

}  // namespace trnsim
