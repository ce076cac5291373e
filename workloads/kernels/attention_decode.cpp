#include <algorithm>
#include <vector>

#include "workloads/kernels/kernels.h"
#include "workloads/kernels/key_pieces.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

/// Keys on partitions: per tile of keys of one KV head, scores = K^T q, then V^T p. Several tiles, of one or many
/// sequences, make a piece; pieces stream through the KV buffers and are merged by their running maximum.
/// Heads narrower than the array share a pass: two tiles of 64-wide heads lie above each other (scores) or beside each
/// other (values), and their queries and weights form blocks of a diagonal. Half of such a pass is padding.
class Pieces {
 public:
  Pieces(KernelWriter& w, const DecodeAttention& a) : w_(w), a_(a) {
    group_ = a.q_heads / a.kv_heads;
    packed_ = std::max<std::uint64_t>(1, std::min(w.tile_width() / a.head_dim, w.core().moving_columns() / group_));
    tiles_per_head_ = w.tiles(a.keys);
    tiles_ = a.sequences * a.kv_heads * tiles_per_head_;
    bytes_ = a.sequences * a.kv_heads * a.keys * 2 * a.head_dim * kBf16Bytes;
    const std::uint64_t tile_bytes = w.tile_width() * 2 * a.head_dim * kBf16Bytes;
    const std::uint64_t by_sbuf = w.rings().kv_slot * w.partitions() / tile_bytes;
    const std::uint64_t by_psum = w.rings().psum_slot / group_;
    // Two pieces at least, so that loading overlaps computing.
    const std::uint64_t most = std::max<std::uint64_t>(1, std::min(by_sbuf, by_psum));
    piece_tiles_ = std::min(most, std::max<std::uint64_t>(1, ceil_div(tiles_, 2)));
  }

  /// `last_write`: the new keys and values are in HBM; only the last piece reads them.
  Handle emit(Handle ready, Handle last_write) {
    const std::uint64_t whole = (tiles_ - 1) / piece_tiles_;
    const Piece full{piece_tiles_, bytes_ / tiles_ * piece_tiles_, {}, {}};
    const Piece last{tiles_ - whole * piece_tiles_, bytes_ - whole * full.bytes, last_write, {}};
    w_.times(whole / 2, Engine::kVector, [&] { return pieces({full, full}, ready); });
    const Handle sums = whole % 2 == 1 ? pieces({full, last}, ready) : pieces({last}, ready);
    const std::uint64_t outputs = ceil_div(a_.sequences * a_.q_heads * a_.head_dim, w_.partitions());
    w_.run(Engine::kVector, {Op::kReciprocal, Count::constant(ceil_div(a_.sequences * a_.q_heads, w_.partitions()))},
           {sums});
    return w_.run(Engine::kVector, {Op::kBinary, Count::constant(outputs)}, {});
  }

 private:
  struct Piece {
    std::uint64_t tiles = 0, bytes = 0;
    Handle written;
    Handle weights;  ///< softmax weights ready
  };

  // Two pieces at a time: the second's scores keep the array busy while the first goes through its softmax.
  Handle pieces(std::vector<Piece> list, Handle ready) {
    for (Piece& piece : list) piece.weights = scores(piece, ready);
    Handle merged;
    for (const Piece& piece : list) merged = values(piece);
    return merged;
  }

  // (sequence, KV head) pairs that a piece touches.
  [[nodiscard]] std::uint64_t heads(const Piece& piece) const { return ceil_div(piece.tiles, tiles_per_head_); }

  Handle scores(const Piece& piece, Handle ready) {
    const std::uint64_t columns = heads(piece) * group_;
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    const Handle kv = w_.move(
        Engine::kSync, Queue::kKv,
        {.bytes = piece.bytes, .descriptors = descriptors(heads(piece), piece.bytes), .traffic = Traffic::kKvRead},
        {piece.written});
    w_.segment().acquire(Engine::kTensor, w_.rings().psum);
    const Handle products = w_.matmul({.rows = a_.head_dim * packed_,
                                       .columns = w_.tile_width(),
                                       .free = Count::constant(group_ * packed_),
                                       .repeat = Count::constant(ceil_div(piece.tiles, packed_))},
                                      {ready, kv});
    // Maximum over keys: along the free dimension, then across partitions by a transpose.
    const Handle tile_max =
        w_.run(Engine::kVector, {Op::kReduce, Count::constant(piece.tiles * group_), Space::kPsum}, {products});
    const std::uint64_t blocks = w_.tiles(columns);
    const Handle across =
        w_.transpose(w_.partitions(), std::min<std::uint64_t>(columns, w_.partitions()), blocks, {tile_max});
    const Handle maximum =
        w_.run(Engine::kVector, {Op::kReduce, Count::constant(w_.partitions() * blocks), Space::kPsum}, {across});
    const Handle weights = w_.exponential(Count::constant(piece.tiles * group_), Space::kPsum, {products, maximum});
    w_.segment().release(weights, w_.rings().psum);
    return weights;
  }

  Handle values(const Piece& piece) {
    const std::uint64_t keys = std::min(w_.tile_width(), a_.keys);
    w_.segment().acquire(Engine::kTensor, w_.rings().sums);
    const Handle products = w_.matmul({.rows = keys,
                                       .columns = a_.head_dim * packed_,
                                       .free = Count::constant(group_ * packed_),
                                       .repeat = Count::constant(ceil_div(piece.tiles, packed_))},
                                      {piece.weights});
    w_.segment().release(products, w_.rings().kv);
    // Sums of the weights over keys: a column of ones against as many weights as move at a time.
    const std::uint64_t all = piece.tiles * group_;
    const std::uint64_t moves = ceil_div(all, w_.core().moving_columns());
    const Handle sums = w_.matmul(
        {.rows = keys, .columns = 1, .free = Count::constant(ceil_div(all, moves)), .repeat = Count::constant(moves)},
        {});
    w_.run(Engine::kVector, {Op::kReduce, Count::constant(all), Space::kPsum, Dtype::kBf16, 1}, {sums});
    const Handle merged =
        w_.run(Engine::kVector, {Op::kBinary, Count::constant(heads(piece) * group_), Space::kPsum}, {products});
    w_.segment().release(merged, w_.rings().sums);
    return merged;
  }

  // K comes with head_dim partitions and V with one partition per key, each row contiguous along the keys.
  [[nodiscard]] std::uint64_t descriptors(std::uint64_t heads, std::uint64_t bytes) const {
    const std::uint64_t rows = a_.head_dim + std::min<std::uint64_t>(w_.partitions(), a_.keys);
    return std::max(heads * rows, ceil_div(bytes, w_.machine().dma.max_descriptor.count()));
  }

  KernelWriter& w_;
  const DecodeAttention& a_;
  std::uint64_t group_ = 0;   ///< query heads per KV head
  std::uint64_t packed_ = 1;  ///< tiles of keys that share one pass of the array
  std::uint64_t tiles_per_head_ = 0;
  std::uint64_t tiles_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t piece_tiles_ = 0;
};

}  // namespace

Handle attention_decode(KernelWriter& w, const DecodeAttention& a, Handle ready) {
  const std::uint64_t row = a.head_dim * kBf16Bytes;
  const Handle written = write_rows(w, a.written * a.kv_heads * 2, row, ready);
  if (a.sequences == 0 || a.keys == 0) return ready;
  return Pieces(w, a).emit(ready, written);
}

}  // namespace trnsim
