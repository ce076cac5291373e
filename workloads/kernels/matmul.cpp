#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

/// Blocks of about equal size, whole multiples where one fits, of at most `most`.
std::uint64_t balanced(std::uint64_t all, std::uint64_t most, std::uint64_t multiple) {
  if (all <= most) return all;
  if (most >= multiple) most = most / multiple * multiple;
  const std::uint64_t size = ceil_div(all, ceil_div(all, most));
  return most >= multiple ? ceil_div(size, multiple) * multiple : size;
}

/// How a product is cut.
struct Cut {
  Cut(const KernelWriter& w, const MatmulKernel& shape) {
    const std::uint64_t array = w.core().tensor.columns, moving = w.core().moving_columns();
    const auto fit = [&](std::uint64_t slot, std::uint64_t extent) {
      return slot * w.partitions() / std::max<std::uint64_t>(1, storage_bytes(extent, shape.dtype));
    };
    const std::uint64_t columns_fit = fit(w.rings().weight_slot, shape.k), rows_fit = fit(w.rings().kv_slot, shape.k);
    in_sections = columns_fit < std::min(shape.n, moving) || rows_fit < std::min(shape.m, array);
    if (!in_sections) {
      columns = balanced(shape.n, columns_fit, moving);
      rows = balanced(shape.m, rows_fit, array);
      return;
    }
    columns = std::min({shape.n, moving, w.rings().psum_slot, w.rings().sums_slot});
    const std::uint64_t tiles =
        w.rings().psum_slot / columns * w.rings().psum_buffers + w.rings().sums_slot / columns * w.rings().sums_buffers;
    rows = balanced(shape.m, tiles * array, array);
    const std::uint64_t section = std::min(fit(w.rings().weight_slot, columns), fit(w.rings().kv_slot, rows));
    if (section == 0) throw InfeasibleError("a slice of both operands does not fit the buffers in SBUF");
    depth = balanced(shape.k, section, w.contraction_rows(shape.dtype));
  }

  bool in_sections = false;   ///< of the contraction: a whole one leaves no block worth while in SBUF
  std::uint64_t columns = 0;  ///< of B, and of the result
  std::uint64_t rows = 0;     ///< of A
  std::uint64_t depth = 0;    ///< of a section
};

/// Where both operands of a block fit for the whole contraction, a block of B's columns stays in SBUF and blocks of A's
/// rows stream past it: each byte of B is read once and A once per block of columns. Else sections of both operands
/// stream through SBUF and a block of results adds up in all of PSUM. Tiles of A are stationary, B moves; vector and
/// scalar take turns at emptying PSUM. A's block is stored with the contraction on partitions.
class Product {
 public:
  Product(KernelWriter& w, const MatmulKernel& shape) : w_(w), shape_(shape), cut_(w, shape) {
    moving_ = std::min<std::uint64_t>({w.core().moving_columns(), w.rings().psum_slot, cut_.columns});
  }

  Handle emit() {
    return blocks(shape_.n, cut_.columns, [&](std::uint64_t columns) {
      if (!cut_.in_sections) return column_block(columns);
      return blocks(shape_.m, cut_.rows, [&](std::uint64_t rows) { return deep_block(rows, columns); });
    });
  }

 private:
  template <class Body>
  Handle blocks(std::uint64_t all, std::uint64_t size, const Body& body) {
    Handle done = w_.times(all / size, Engine::kCollective, [&] { return body(size); });
    if (const std::uint64_t rest = all % size; rest > 0) done = body(rest);
    return done;
  }

  [[nodiscard]] KernelWriter::Move operand(std::uint64_t depth, std::uint64_t count, Traffic traffic) const {
    return {.bytes = storage_bytes(depth * count, shape_.dtype), .traffic = traffic};
  }

  Handle column_block(std::uint64_t columns) {
    w_.segment().acquire(Engine::kSync, w_.rings().weights);
    const Handle b = w_.move(Engine::kSync, Queue::kWeights, operand(shape_.k, columns, Traffic::kWeights), {});
    const Handle done = blocks(shape_.m, cut_.rows, [&](std::uint64_t rows) { return row_block(rows, columns, b); });
    // The last product of the block frees B's buffer: whatever follows on the tensor engine comes after it.
    w_.segment().release(w_.segment().emit(Engine::kTensor, Instruction{}), w_.rings().weights);
    return done;
  }

  Handle row_block(std::uint64_t rows, std::uint64_t columns, Handle b) {
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    const Handle a = w_.move(Engine::kSync, Queue::kTiles, operand(shape_.k, rows, Traffic::kActivations), {});
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
    last = products(shape_.k, count, columns, n, operands);
    return empty(count * n, w_.rings().psum, last);
  }

  Handle products(std::uint64_t depth, std::uint64_t count, std::uint64_t columns, std::uint64_t n,
                  std::array<Handle, 2> operands) {
    return w_.matmul({.dtype = shape_.dtype,
                      .rows = std::min(depth, w_.contraction_rows(shape_.dtype)),
                      .columns = columns,
                      .free = Count::constant(n),
                      .repeat = Count::constant(w_.passes(depth, shape_.dtype) * count)},
                     {operands[0], operands[1]});
  }

  Handle empty(std::uint64_t elements, BufferRing ring, Handle product) {
    const Engine engine = turn_++ % 2 == 0 ? Engine::kVector : Engine::kScalar;
    const Handle emptied = w_.run(engine, {Op::kCopy, Count::constant(elements), Space::kPsum}, {product});
    w_.segment().release(emptied, ring);
    emptied_[turn_ % 2] = emptied;
    return emptied;
  }

  /// PSUM buffers of a block of results by sections, and the tiles of rows in each.
  [[nodiscard]] std::vector<std::pair<BufferRing, std::uint64_t>> banks(std::uint64_t tiles, std::uint64_t n) const {
    std::vector<std::pair<BufferRing, std::uint64_t>> list;
    const Rings& rings = w_.rings();
    for (std::uint32_t i = 0; i < rings.psum_buffers + rings.sums_buffers && tiles > 0; ++i) {
      const bool first = i < rings.psum_buffers;
      const std::uint64_t here = std::min(tiles, (first ? rings.psum_slot : rings.sums_slot) / n);
      list.emplace_back(first ? rings.psum : rings.sums, here);
      tiles -= here;
    }
    return list;
  }

  Handle deep_block(std::uint64_t rows, std::uint64_t n) {
    const std::uint64_t row_tiles = ceil_div(rows, w_.core().tensor.columns);
    const auto results = banks(row_tiles, n);
    for (const auto& [ring, tiles] : results) w_.segment().acquire(Engine::kTensor, ring);
    w_.segment().emit(Engine::kTensor, Instruction{});
    const auto section = [&](std::uint64_t depth) {
      w_.segment().acquire(Engine::kSync, w_.rings().kv);
      const Handle a = w_.move(Engine::kSync, Queue::kTiles, operand(depth, rows, Traffic::kActivations), {});
      w_.segment().acquire(Engine::kSync, w_.rings().weights);
      const Handle b = w_.move(Engine::kSync, Queue::kWeights, operand(depth, n, Traffic::kWeights), {});
      Handle last;
      for (const auto& [ring, tiles] : results) last = products(depth, tiles, ceil_div(rows, row_tiles), n, {a, b});
      w_.segment().release(last, w_.rings().kv);
      w_.segment().release(last, w_.rings().weights);
      return last;
    };
    Handle last = w_.times(shape_.k / cut_.depth, Engine::kTensor, [&] { return section(cut_.depth); });
    if (const std::uint64_t rest = shape_.k % cut_.depth; rest > 0) last = section(rest);
    Handle emptied;
    emptied_ = {};
    for (const auto& [ring, tiles] : results) emptied = empty(tiles * n, ring, last);
    return w_.segment().emit(Engine::kCollective, Instruction{}, {store(rows * n, emptied)});
  }

  Handle store(std::uint64_t elements, Handle emptied) {
    const Handle other = emptied_[turn_ % 2 == 0 ? 1 : 0];
    return w_.move(
        Engine::kGpSimd, Queue::kStore,
        {.bytes = storage_bytes(elements, shape_.result), .source = Space::kSbuf, .destination = Space::kHbm},
        {emptied, other});
  }

  KernelWriter& w_;
  const MatmulKernel& shape_;
  Cut cut_;
  std::uint64_t moving_ = 0;
  std::uint64_t turn_ = 0;
  std::array<Handle, 2> emptied_{};  ///< last of each engine
};

bool is_empty(const MatmulKernel& shape) {
  return shape.batch == 0 || shape.m == 0 || shape.n == 0 || shape.k == 0;
}

}  // namespace

Handle matmul_kernel(KernelWriter& w, const MatmulKernel& shape) {
  if (is_empty(shape)) return {};
  return w.times(shape.batch, Engine::kCollective, [&] { return Product(w, shape).emit(); });
}

std::uint64_t matmul_weight_bytes(const KernelWriter& w, const MatmulKernel& shape) {
  if (is_empty(shape)) return 0;
  const Cut cut(w, shape);
  std::uint64_t bytes = 0;
  const auto columns = [&](std::uint64_t depth, std::uint64_t times) {
    bytes += times * (shape.n / cut.columns * storage_bytes(depth * cut.columns, shape.dtype) +
                      storage_bytes(depth * (shape.n % cut.columns), shape.dtype));
  };
  if (!cut.in_sections) {
    columns(shape.k, shape.batch);
    return bytes;
  }
  const std::uint64_t passes = shape.batch * ceil_div(shape.m, cut.rows);
  columns(cut.depth, passes * (shape.k / cut.depth));
  columns(shape.k % cut.depth, passes);
  return bytes;
}

}  // namespace trnsim
