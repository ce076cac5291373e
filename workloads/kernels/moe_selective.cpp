#include <algorithm>
#include <array>
#include <vector>

#include "workloads/kernels/layer_kernels.h"
#include "workloads/kernels/tiles.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kFp32Bytes = 4;
constexpr std::uint64_t kIdBytes = 4;
constexpr std::uint64_t kWave = 4;           // experts loaded and padded together
constexpr std::uint32_t kWaves = 2;          // in SBUF at a time
constexpr std::uint64_t kShuffles = 4;       // that spread one value over all partitions
constexpr std::uint64_t kShuffleLanes = 32;  // partitions of one shuffle
constexpr std::uint32_t kBankPairs = 2;

/// One token after the other on each core: norm, scores of all experts, the best of them, then its experts. Weights are
/// stationary, the token is the one moving column.
class Selective {
 public:
  Selective(TileWriter& w, const SelectiveMoe& m)
      : w_(w), m_(m), hidden_tiles_(w.tiles(m.hidden)), inner_tiles_(w.tiles(m.inner)), own_(w.share(m.hidden)) {
    ProgramBuilder& program = w.program();
    const auto per_partition = [&](std::uint64_t bytes) { return Bytes(ceil_div(bytes, w.tile_width())); };
    const std::uint64_t expert = storage_bytes(inner_tiles_ * w.tile_width() * (2 * m.hidden + own_), m.dtype) +
                                 scale_bytes(2 * m.inner) + scale_bytes(own_);
    experts_ = program.sbuf_ring(per_partition(expert), kWaves * kWave);
    program.reserve_sbuf(per_partition(m.hidden * m.experts * kBf16Bytes));                       // router
    program.reserve_sbuf(Bytes((4 * hidden_tiles_ + 4 * inner_tiles_) * kFp32Bytes));             // one token
    program.reserve_sbuf(Bytes((3 * w.tiles(own_) + 2 * m.experts + 4 * m.top_k) * kFp32Bytes));  // sums, scores
    small_ = bank_ring(w, kBankPairs);
    gated_ = bank_ring(w, kBankPairs);
    sums_ = bank_ring(w, kBankPairs);
  }

  void emit() {
    const Handle router = load(w_, Queue::kWeights,
                               {.rows = 1,
                                .row_bytes = m_.hidden * m_.experts * kBf16Bytes,
                                .traffic = Traffic::kWeights,
                                .run_bytes = m_.experts * kBf16Bytes});
    Handle stored;
    for (std::uint64_t token = 0; token < m_.tokens; ++token) {
      const Handle normed = norm();
      const Handle chosen = route(router, normed);
      stored = run_experts(normed, chosen);
    }
    end_after(w_, {stored});
  }

 private:
  [[nodiscard]] std::uint64_t scale_bytes(std::uint64_t outputs) const {
    return m_.dtype == Dtype::kFp8 ? outputs * kFp32Bytes : 0;
  }
  TileWriter::Elementwise column(Op op, std::uint64_t free, std::uint64_t rows = 0) const {
    return tile_op(op, Dtype::kFp32, free, rows == 0 ? w_.tile_width() : rows);
  }
  TileWriter::Elementwise function(Function f, std::uint64_t free, std::uint64_t rows = 0) const {
    return tile_function(f, Dtype::kFp32, free, rows == 0 ? w_.tile_width() : rows);
  }
  Handle vector(const TileWriter::Elementwise& e, std::initializer_list<Handle> after) {
    return w_.run(Engine::kVector, e, after);
  }
  Handle scalar(const TileWriter::Elementwise& e, std::initializer_list<Handle> after) {
    return w_.run(Engine::kScalar, e, after);
  }

  // A row of features per partition, turned so that features lie on partitions.
  Handle turned_vector(Traffic traffic) {
    const std::uint64_t bytes = m_.hidden * kBf16Bytes;
    const Handle loaded = load(w_, Queue::kSmall,
                               {.rows = 1,
                                .row_bytes = bytes,
                                .traffic = traffic,
                                .run_bytes = std::min(m_.hidden, w_.tile_width()) * kBf16Bytes});
    w_.segment().acquire(Engine::kTensor, small_);
    const Handle turned = w_.transpose(std::min(hidden_tiles_, w_.tile_width()), w_.tile_width(),
                                       ceil_div(hidden_tiles_, w_.tile_width()), {loaded});
    const Handle copied = scalar(from_psum(column(Op::kCopy, hidden_tiles_)), {turned});
    w_.segment().release(copied, small_);
    return copied;
  }

  Handle norm() {
    const Handle x = turned_vector(Traffic::kActivations);
    const Handle gain = turned_vector(Traffic::kWeights);
    const Handle squares = scalar(function(Function::kSquare, hidden_tiles_), {x});
    const Handle sums = vector(column(Op::kReduce, hidden_tiles_), {squares});
    vector(column(Op::kBinary, hidden_tiles_), {gain});
    const Handle total = w_.run(Engine::kGpSimd, column(Op::kBinary, 1), {sums});
    Handle spread;
    for (std::uint64_t i = 0; i < kShuffles; ++i) spread = vector(column(Op::kCopy, 1, kShuffleLanes), {total});
    const Handle root = scalar(function(Function::kRsqrt, 1), {spread});
    const Handle scaled = vector(column(Op::kBinary, hidden_tiles_), {root});
    return scalar(column(Op::kCopy, hidden_tiles_), {scaled});
  }

  // Scores on one partition, softmax, the eight best values and their indices; the indices go to the descriptors.
  Handle route(Handle router, Handle normed) {
    w_.segment().acquire(Engine::kTensor, small_);
    Handle scores;
    for (std::uint64_t at = 0; at < m_.experts; at += bank_columns(w_)) {
      scores = w_.matmul({.rows = std::min(m_.hidden, w_.tile_width()),
                          .columns = 1,
                          .free = Count::constant(std::min(bank_columns(w_), m_.experts - at)),
                          .repeat = Count::constant(hidden_tiles_)},
                         {router, normed});
    }
    vector(from_psum(column(Op::kReduce, m_.experts, 1)), {scores});
    const Handle shifted = vector(from_psum(column(Op::kTensorScalar, m_.experts, 1)), {});
    w_.segment().release(shifted, small_);
    const Handle exponents = scalar(function(Function::kExp, m_.experts, 1), {shifted});
    const Handle total = vector(column(Op::kReduce, m_.experts, 1), {exponents});
    const Handle inverse = scalar(function(Function::kReciprocal, 1, 1), {total});
    vector(column(Op::kTensorScalar, m_.experts, 1), {inverse});
    for (std::uint64_t at = 0; at < m_.top_k; at += kBest) vector(column(Op::kMax8, m_.experts, 1), {});
    Handle indices;
    for (std::uint64_t at = 0; at < m_.top_k; at += kBest) indices = vector(column(Op::kMax8, m_.experts, 1), {});
    return indices;
  }

  // Two waves of experts ahead of the computation.
  Handle run_experts(Handle normed, Handle chosen) {
    Handle id;
    for (std::uint64_t i = 0; i < m_.top_k; ++i) {
      TileWriter::Move move = indirect(1, kIdBytes, kIdBytes);
      move.traffic = Traffic::kActivations;
      move.source = move.destination = Space::kSbuf;
      id = w_.move(Engine::kGpSimd, Queue::kInput, move, {chosen});
    }
    const Handle ids = w_.segment().emit(Engine::kGpSimd, Instruction{}, {id});
    std::vector<Loaded> loaded;
    const auto load_wave = [&] {
      const std::uint64_t end = std::min<std::uint64_t>(loaded.size() + kWave, m_.top_k);
      while (loaded.size() < end) loaded.push_back(load_expert(ids));
    };
    for (std::uint32_t i = 0; i < kWaves; ++i) load_wave();
    Handle added;
    for (std::uint64_t first = 0; first < m_.top_k; first += kWave) {
      const std::uint64_t end = std::min(first + kWave, m_.top_k);
      for (std::uint64_t e = first; e < end; ++e) pad(loaded[e]);
      for (std::uint64_t e = first; e < end; ++e) added = expert(loaded[e], normed);
      load_wave();
    }
    return own_ == 0 ? added : output(added);
  }

  struct Loaded {
    Handle gate_up, down, padded;
  };

  [[nodiscard]] TileWriter::Move indirect(std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t run) const {
    TileWriter::Move move =
        move_of(w_, {.rows = rows, .row_bytes = row_bytes, .traffic = Traffic::kWeights, .run_bytes = run});
    move.generation = DescriptorGeneration::kSoftware;
    return move;
  }

  // The address of each load is that of an expert's id.
  Loaded load_expert(Handle ids) {
    const std::uint64_t row = storage_bytes(2 * m_.inner, m_.dtype), own = storage_bytes(own_, m_.dtype);
    const auto get = [&](std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t run) {
      return w_.move(Engine::kGpSimd, Queue::kExpertBiases, indirect(rows, row_bytes, run), {ids});
    };
    Loaded e;
    w_.segment().acquire(Engine::kGpSimd, experts_);
    e.gate_up = get(1, m_.hidden * row, row);
    if (m_.dtype == Dtype::kFp8) e.gate_up = get(1, scale_bytes(2 * m_.inner), kFp32Bytes);
    if (own == 0) return e;
    for (std::uint64_t at = 0; at < m_.inner; at += w_.tile_width()) {
      e.down = get(std::min(w_.tile_width(), m_.inner - at), own, own);
    }
    if (m_.dtype == Dtype::kFp8) e.down = get(1, scale_bytes(own_), kFp32Bytes);
    return e;
  }

  // The last, narrow tile of the inner width goes into a buffer of full width, whose rest is zero.
  void pad(Loaded& e) {
    const std::uint64_t rest = m_.inner % w_.tile_width();
    if (rest == 0) return;
    vector(tile_op(Op::kMemset, m_.dtype, 2 * hidden_tiles_ * (w_.tile_width() - rest), w_.tile_width()), {});
    for (std::size_t i = 0; i < 2; ++i) {
      e.padded = vector(tile_op(Op::kCopy, m_.dtype, hidden_tiles_ * rest, w_.tile_width()), {e.gate_up});
    }
  }

  Handle expert(const Loaded& e, Handle normed) {
    w_.segment().acquire(Engine::kTensor, gated_);
    Handle inner;
    for (std::uint64_t tile = 0; tile < inner_tiles_; ++tile) {
      const Handle products = product(2 * hidden_tiles_, m_.hidden, {normed, e.gate_up, e.padded});
      TileWriter::Elementwise gate = from_psum(function(Function::kSilu, 1));
      TileWriter::Elementwise up = from_psum(function(Function::kNone, 1));
      gate.reads_scalar = up.reads_scalar = m_.dtype == Dtype::kFp8;
      scalar(gate, {products});
      const Handle scaled = scalar(up, {});
      if (tile + 1 == inner_tiles_) w_.segment().release(scaled, gated_);
      const Handle joined = vector(column(Op::kBinary, 1), {scaled});
      inner = scalar(column(Op::kCopy, 1), {joined});
    }
    if (own_ > 0) return down(e, inner);
    w_.segment().release(inner, experts_);
    return inner;
  }

  Handle down(const Loaded& e, Handle inner) {
    const std::uint64_t tiles = w_.tiles(own_);
    w_.segment().acquire(Engine::kTensor, sums_);
    const Handle products = product(tiles * inner_tiles_, m_.inner, {inner, e.down});
    w_.segment().release(products, experts_);
    const Handle weight = vector(column(Op::kBinary, tiles), {e.down});
    const Handle drained = scalar(from_psum(function(Function::kNone, tiles)), {products});
    w_.segment().release(drained, sums_);
    vector(column(Op::kBinary, tiles), {drained, weight});
    return vector(column(Op::kBinary, tiles), {});
  }

  Handle product(std::uint64_t count, std::uint64_t contraction, std::initializer_list<Handle> after) {
    return w_.matmul({.dtype = m_.dtype,
                      .rows = std::min(contraction, w_.tile_width()),
                      .columns = w_.tile_width(),
                      .free = Count::constant(1),
                      .repeat = Count::constant(count)},
                     after);
  }

  Handle output(Handle added) {
    const std::uint64_t tiles = w_.tiles(own_);
    Handle copied;
    for (std::uint64_t i = 0; i < tiles; ++i) {
      w_.segment().acquire(Engine::kTensor, small_);
      const Handle turned = w_.transpose(w_.tile_width(), 1, 1, {added}, Dtype::kFp32);
      copied = scalar(from_psum(column(Op::kCopy, w_.tile_width(), 1)), {turned});
      w_.segment().release(copied, small_);
    }
    return store(w_, Queue::kStore, {.rows = 1, .row_bytes = own_ * kBf16Bytes}, {copied});
  }

  static constexpr std::uint64_t kBest = 8;  // values or indices of one instruction

  TileWriter& w_;
  const SelectiveMoe& m_;
  std::uint64_t hidden_tiles_, inner_tiles_, own_;
  BufferRing experts_, small_, gated_, sums_;
};

}  // namespace

std::uint64_t selective_weight_bytes(const TileWriter& w, const SelectiveMoe& m) {
  const std::uint64_t own = w.share(m.hidden);
  const std::uint64_t scales = m.dtype == Dtype::kFp8 ? (2 * m.inner + own) * kFp32Bytes : 0;
  const std::uint64_t expert = storage_bytes((2 * m.hidden + own) * m.inner, m.dtype) + scales;
  if (m.tokens == 0) return 0;
  return m.hidden * m.experts * kBf16Bytes + m.tokens * (m.hidden * kBf16Bytes + m.top_k * expert);
}

void moe_selective(TileWriter& w, const SelectiveMoe& m) {
  if (m.tokens == 0) return;
  // Of the scalar engine for every choice: three for a tile of the inner width, one for the expert's result.
  check_written_out(m.tokens * m.top_k * (3 * w.tiles(m.inner) + std::min<std::uint64_t>(1, w.share(m.hidden))));
  Selective(w, m).emit();
}

}  // namespace trnsim
