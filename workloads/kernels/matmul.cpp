#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

/// A block of B's columns for the whole contraction stays in SBUF; blocks of A's rows stream past it. Per block pair,
/// tiles of A are stationary, B moves, PSUM accumulates over the contraction; vector and scalar take turns at emptying
/// it. A's block is stored with the contraction on partitions. Where both operands of a block fit, each byte of B is
/// read once and A once per block of columns.
class Product {
 public:
  Product(KernelWriter& w, const MatmulKernel& shape) : w_(w), shape_(shape) {
    const std::uint64_t column_bytes = std::max<std::uint64_t>(1, storage_bytes(shape.k, shape.dtype));
    const auto fit = [&](std::uint64_t slot, std::uint64_t multiple, std::uint64_t all) {
      const std::uint64_t most = slot * w.partitions() / column_bytes;
      if (most == 0) throw InfeasibleError("one column of the contraction does not fit a buffer in SBUF");
      return std::min(all, most < multiple ? most : most / multiple * multiple);
    };
    columns_ = fit(w.rings().weight_slot, w.core().moving_columns(), shape.n);
    rows_ = fit(w.rings().kv_slot, w.core().tensor.columns, shape.m);
    moving_ = std::min<std::uint64_t>({w.core().moving_columns(), w.rings().psum_slot, columns_});
  }

  Handle emit() {
    Handle done = w_.times(shape_.n / columns_, Engine::kCollective, [&] { return column_block(columns_); });
    if (const std::uint64_t rest = shape_.n % columns_; rest > 0) done = column_block(rest);
    return done;
  }

 private:
  [[nodiscard]] KernelWriter::Move operand(std::uint64_t count, Traffic traffic) const {
    return {.bytes = storage_bytes(shape_.k * count, shape_.dtype), .traffic = traffic};
  }

  Handle column_block(std::uint64_t columns) {
    w_.segment().acquire(Engine::kSync, w_.rings().weights);
    const Handle b = w_.move(Engine::kSync, Queue::kWeights, operand(columns, Traffic::kWeights), {});
    Handle done = w_.times(shape_.m / rows_, Engine::kCollective, [&] { return row_block(rows_, columns, b); });
    if (const std::uint64_t rest = shape_.m % rows_; rest > 0) done = row_block(rest, columns, b);
    // The last product of the block frees B's buffer: whatever follows on the tensor engine comes after it.
    w_.segment().release(w_.segment().emit(Engine::kTensor, Instruction{}), w_.rings().weights);
    return done;
  }

  Handle row_block(std::uint64_t rows, std::uint64_t columns, Handle b) {
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    const Handle a = w_.move(Engine::kSync, Queue::kTiles, operand(rows, Traffic::kActivations), {});
    const std::uint64_t row_tiles = ceil_div(rows, w_.core().tensor.columns);
    Handle last;
    Handle stored;
    emptied_ = {};
    for (std::uint64_t at = 0; at < columns; at += moving_) {
      const std::uint64_t n = std::min(moving_, columns - at);
      const std::uint64_t group = std::max<std::uint64_t>(1, w_.rings().psum_slot / n);
      Handle emptied;
      for (std::uint64_t tile = 0; tile < row_tiles; tile += group) {
        emptied = tiles(std::min(group, row_tiles - tile), ceil_div(rows, row_tiles), n, {a, b}, last);
      }
      stored = store(rows * n, emptied);
    }
    w_.segment().release(last, w_.rings().kv);
    return w_.segment().emit(Engine::kCollective, Instruction{}, {stored});
  }

  Handle tiles(std::uint64_t count, std::uint64_t columns, std::uint64_t n, std::array<Handle, 2> operands,
               Handle& last) {
    w_.segment().acquire(Engine::kTensor, w_.rings().psum);
    last = w_.matmul({.dtype = shape_.dtype,
                      .rows = std::min(shape_.k, w_.contraction_rows(shape_.dtype)),
                      .columns = columns,
                      .free = Count::constant(n),
                      .repeat = Count::constant(w_.passes(shape_.k, shape_.dtype) * count)},
                     {operands[0], operands[1]});
    const Engine engine = turn_++ % 2 == 0 ? Engine::kVector : Engine::kScalar;
    const Handle emptied = w_.run(engine, {Op::kCopy, Count::constant(count * n), Space::kPsum}, {last});
    w_.segment().release(emptied, w_.rings().psum);
    emptied_[turn_ % 2] = emptied;
    return emptied;
  }

  Handle store(std::uint64_t elements, Handle emptied) {
    const Handle other = emptied_[turn_ % 2 == 0 ? 1 : 0];
    return w_.move(Engine::kGpSimd, Queue::kStore,
                   {.bytes = storage_bytes(elements, Dtype::kBf16), .source = Space::kSbuf, .destination = Space::kHbm},
                   {emptied, other});
  }

  KernelWriter& w_;
  const MatmulKernel& shape_;
  std::uint64_t columns_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t moving_ = 0;
  std::uint64_t turn_ = 0;
  std::array<Handle, 2> emptied_{};  ///< last of each engine
};

}  // namespace

Handle matmul_kernel(KernelWriter& w, const MatmulKernel& shape) {
  if (shape.m == 0 || shape.n == 0 || shape.k == 0) return {};
  return Product(w, shape).emit();
}

}  // namespace trnsim
