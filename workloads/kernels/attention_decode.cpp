#include <algorithm>

#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

/// Keys on partitions: per 128 keys of one KV head, scores = K^T q, then (V, 1)^T p. Several such tiles, of one or many
/// sequences, make a piece; pieces stream through the KV buffers and are merged by their running maximum.
class Pieces {
 public:
  Pieces(KernelWriter& w, const DecodeAttention& a) : w_(w), a_(a) {
    group_ = a.q_heads / a.kv_heads;
    tiles_per_head_ = w.tiles(a.keys);
    tiles_ = a.sequences * a.kv_heads * tiles_per_head_;
    bytes_ = a.sequences * a.kv_heads * a.keys * 2 * a.head_dim * kBf16Bytes;
    const std::uint64_t tile_bytes = w.partitions() * 2 * a.head_dim * kBf16Bytes;
    const std::uint64_t by_sbuf = w.rings().kv_slot * w.partitions() / tile_bytes;
    const std::uint64_t by_psum = w.rings().psum_slot / group_;
    // Two pieces at least, so that loading overlaps computing.
    const std::uint64_t most = std::max<std::uint64_t>(1, std::min(by_sbuf, by_psum));
    piece_tiles_ = std::min(most, std::max<std::uint64_t>(1, ceil_div(tiles_, 2)));
  }

  /// `last_write`: the new keys and values are in HBM; only the last piece reads them.
  Handle emit(Handle ready, Handle last_write) {
    const std::uint64_t whole = (tiles_ - 1) / piece_tiles_;
    const std::uint64_t piece_bytes = bytes_ / tiles_ * piece_tiles_;
    w_.times(whole, Engine::kVector, [&] { return piece(piece_tiles_, piece_bytes, ready, {}); });
    const Handle sums =
        piece(tiles_ - whole * piece_tiles_, bytes_ - whole * piece_bytes, ready, last_write);
    const std::uint64_t outputs = ceil_div(a_.sequences * a_.q_heads * a_.head_dim, w_.partitions());
    w_.run(Engine::kVector, {Op::kReciprocal, Count::constant(ceil_div(a_.sequences * a_.q_heads, w_.partitions()))},
           {sums});
    return w_.run(Engine::kVector, {Op::kBinary, Count::constant(outputs)}, {});
  }

 private:
  Handle piece(std::uint64_t tiles, std::uint64_t bytes, Handle ready, Handle written) {
    const std::uint64_t heads = ceil_div(tiles, tiles_per_head_);  // (sequence, KV head) pairs in the piece
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    const Handle kv = w_.move(Engine::kSync, Queue::kKv,
                              {.bytes = bytes, .descriptors = descriptors(heads, bytes), .traffic = Traffic::kKvRead},
                              {written});
    w_.segment().acquire(Engine::kTensor, w_.rings().psum);
    const Handle scores = w_.matmul({.rows = a_.head_dim,
                                     .columns = w_.core().tensor.columns,
                                     .free = Count::constant(group_),
                                     .repeat = Count::constant(tiles)},
                                    {ready, kv});
    // Maximum over keys: along the free dimension, then across partitions by a transpose.
    const Handle tile_max =
        w_.run(Engine::kVector, {Op::kReduce, Count::constant(tiles * group_), Space::kPsum}, {scores});
    const Handle across = w_.transpose(w_.partitions(), std::min<std::uint64_t>(heads * group_, w_.partitions()),
                                       ceil_div(heads * group_, w_.partitions()), {tile_max});
    const Handle maximum = w_.run(
        Engine::kVector,
        {Op::kReduce, Count::constant(w_.partitions() * ceil_div(heads * group_, w_.partitions())), Space::kPsum},
        {across});
    const Handle weights = w_.exponential(Count::constant(tiles * group_), Space::kPsum, {scores, maximum});
    w_.segment().release(weights, w_.rings().psum);
    w_.segment().acquire(Engine::kTensor, w_.rings().sums);
    const Handle values = w_.matmul({.rows = std::min<std::uint64_t>(w_.partitions(), a_.keys),
                                     .columns = a_.head_dim + 1,  // a column of ones gives the sum of the weights
                                     .free = Count::constant(group_),
                                     .repeat = Count::constant(tiles)},
                                    {weights});
    w_.segment().release(values, w_.rings().kv);
    const Handle merged = w_.run(Engine::kVector, {Op::kBinary, Count::constant(heads * group_), Space::kPsum}, {values});
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
  std::uint64_t group_ = 0;
  std::uint64_t tiles_per_head_ = 0;
  std::uint64_t tiles_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t piece_tiles_ = 0;
};

}  // namespace

Handle attention_decode(KernelWriter& w, const DecodeAttention& a, Handle ready) {
  const std::uint64_t row = a.head_dim * kBf16Bytes;
  const Handle written = w.move(Engine::kGpSimd, Queue::kKvWrite,
                                {.bytes = a.written * a.kv_heads * 2 * row,
                                 .descriptors = a.written * a.kv_heads * 2,
                                 .traffic = Traffic::kKvWrite,
                                 .source = Space::kSbuf,
                                 .destination = Space::kHbm,
                                 .generation = DescriptorGeneration::kSoftware},
                                {ready});
  if (a.sequences == 0 || a.keys == 0) return ready;
  return Pieces(w, a).emit(ready, written);
}

}  // namespace trnsim
