#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

/// One block of columns whose weights fit one buffer.
class Block {
 public:
  Block(KernelWriter& w, const Projection& p, std::uint64_t columns, Handle ready, Handle bias)
      : w_(w), p_(p), columns_(columns), ready_(ready), bias_(bias) {
    tile_columns_ = ceil_div(columns, ceil_div(columns, w.core().tensor.columns));
    tile_tokens_ = std::min({p.tokens, w.core().moving_columns(), w.rings().psum_slot});
  }

  Handle emit() {
    w_.segment().acquire(Engine::kSync, w_.rings().weights);
    const Handle weights =
        w_.move(Engine::kSync, Queue::kWeights,
                {.bytes = storage_bytes(p_.contraction * columns_, p_.dtype), .traffic = Traffic::kWeights}, {});
    for (std::uint64_t first = 0; first < p_.tokens; first += tile_tokens_) {
      emit_tokens(std::min(tile_tokens_, p_.tokens - first), weights);
    }
    w_.segment().release(last_matmul_, w_.rings().weights);
    if (!scalar_.valid()) return vector_;
    return w_.segment().emit(Engine::kVector, Instruction{}, {scalar_});
  }

 private:
  // As many output tiles at a time as a PSUM buffer holds. Vector and scalar take turns at emptying it.
  void emit_tokens(std::uint64_t tokens, Handle weights) {
    const std::uint64_t tiles = ceil_div(columns_, tile_columns_);
    const std::uint64_t group = std::max<std::uint64_t>(1, w_.rings().psum_slot / tokens);
    for (std::uint64_t first = 0; first < tiles; first += group) {
      const std::uint64_t count = std::min(group, tiles - first);
      w_.segment().acquire(Engine::kTensor, w_.rings().psum);
      last_matmul_ = w_.matmul({.dtype = p_.dtype,
                                .rows = std::min(p_.contraction, w_.contraction_rows(p_.dtype)),
                                .columns = tile_columns_,
                                .free = Count::constant(tokens),
                                .repeat = Count::constant(w_.passes(p_.contraction, p_.dtype) * count)},
                               {ready_, weights});
      const bool on_scalar = p_.evacuate == Op::kCopy && turn_++ % 2 == 1;
      const Engine engine = on_scalar ? Engine::kScalar : Engine::kVector;
      const Handle done =
          w_.run(engine, {p_.evacuate, Count::constant(count * tokens), Space::kPsum}, {last_matmul_, bias_});
      w_.segment().release(done, w_.rings().psum);
      (on_scalar ? scalar_ : vector_) = done;
    }
  }

  KernelWriter& w_;
  const Projection& p_;
  std::uint64_t columns_;
  Handle ready_;
  Handle bias_;
  std::uint64_t tile_columns_ = 0;
  std::uint64_t tile_tokens_ = 0;
  std::uint64_t turn_ = 0;
  Handle last_matmul_, vector_, scalar_;
};

// Columns whose weights fit one buffer, a whole number of array widths where possible.
std::uint64_t block_columns(const KernelWriter& w, const Projection& p) {
  const std::uint64_t bytes_per_column = storage_bytes(p.contraction, p.dtype);
  const std::uint64_t fit = w.rings().weight_slot * w.partitions() / bytes_per_column;
  if (fit == 0) throw InfeasibleError("one column of weights does not fit a weight buffer in SBUF");
  const std::uint64_t width = w.core().tensor.columns;
  return fit < width ? fit : fit / width * width;
}

}  // namespace

Handle project(KernelWriter& w, const Projection& p, Handle ready) {
  if (p.tokens == 0 || p.columns == 0 || p.contraction == 0) return ready;
  Handle bias;
  if (p.bias) {
    bias = w.move(Engine::kSync, Queue::kSmall, {.bytes = 2 * p.columns, .traffic = Traffic::kBiases}, {});
  }
  const std::uint64_t columns = std::min(p.columns, block_columns(w, p));
  Handle done = w.times(p.columns / columns, Engine::kVector, [&] { return Block(w, p, columns, ready, bias).emit(); });
  if (const std::uint64_t rest = p.columns % columns; rest > 0) done = Block(w, p, rest, ready, bias).emit();
  return done;
}

}  // namespace trnsim
