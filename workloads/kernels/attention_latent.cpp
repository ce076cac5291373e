#include <algorithm>
#include <string>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/key_pieces.h"
#include "workloads/kernels/latent_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kFp32Bytes = 4;

/// Rows come with a token on each partition, as the values need them, and are turned on the tensor engine for the
/// scores: tiles of turned rows stationary, heads moving. The softmax is over partitions: the maximum by a transpose,
/// taken off by a product with ones, the sum by another. All heads use a row while it is in SBUF.
class LatentRows {
 public:
  LatentRows(KernelWriter& w, const LatentDecode& a) : w_(w), a_(a) {
    passes_ = w.passes(a.row(), Dtype::kBf16);
    value_tiles_ = w.tiles(a.kv_rank);
    key_tile_ = std::min(w.tile_width(), a.keys);
    const std::uint64_t by_sums = w.rings().sums_slot / (value_tiles_ + 1);
    heads_ = std::min({a.heads, w.core().moving_columns(), w.tile_width(), w.rings().psum_slot, by_sums});
    // Per partition: a row, its turned tiles, the softmax weights of all heads.
    const std::uint64_t tile_bytes = (a.row() + passes_ * w.tile_width() + a.heads) * kBf16Bytes;
    const std::uint64_t by_sbuf = w.rings().kv_slot / tile_bytes;
    if (heads_ == 0 || by_sbuf == 0) {
      throw InfeasibleError("latent attention: a tile of rows of " + std::to_string(a.row()) + " elements for " +
                            std::to_string(a.heads) + " heads does not fit the buffers in SBUF and PSUM");
    }
    cut_ = {a.sequences, a.keys, std::min(by_sbuf, w.rings().psum_slot / heads_), by_sums / heads_};
  }

  /// `written`: the new rows are in HBM. The kernel takes them from SBUF, but does not end before.
  Handle emit(Handle ready, Handle written) {
    in_pieces(w_, cut_, Engine::kVector, [&](const std::vector<KeyPiece>& list) { return pieces(list, ready); });
    const std::uint64_t columns = a_.sequences * a_.heads;
    w_.run(Engine::kVector, {Op::kReciprocal, Count::constant(columns)}, {written});
    return w_.run(Engine::kVector, {Op::kBinary, Count::constant(value_tiles_ * columns)}, {});
  }

 private:
  struct Piece {
    KeyPiece keys;
    std::uint64_t tiles = 0;
    Handle rows;
    std::array<Handle, 2> turned;  ///< on vector and on scalar
    Handle scores, maximum, weights;
  };

  // The maxima of the first piece are found while the array does the scores of the second.
  Handle pieces(const std::vector<KeyPiece>& list, Handle ready) {
    std::vector<Piece> pieces;
    pieces.reserve(list.size());
    for (const KeyPiece& keys : list)
      pieces.push_back({keys, keys.sequences * w_.tiles(keys.keys), {}, {}, {}, {}, {}});
    for (Piece& piece : pieces) load(piece, ready);
    for (Piece& piece : pieces) turn(piece);
    Handle merged;
    for (std::uint64_t first = 0; first < a_.heads; first += heads_) {
      const std::uint64_t heads = std::min(heads_, a_.heads - first);
      for (Piece& piece : pieces) scores(piece, heads, ready);
      for (Piece& piece : pieces) softmax(piece, heads);
      for (Piece& piece : pieces) merged = values(piece, heads, first + heads == a_.heads);
    }
    return merged;
  }

  // Contiguous rows: each partition takes a run of them. The buffer is acquired in the order of all others.
  void load(Piece& piece, Handle ready) {
    const std::uint64_t rows = piece.keys.sequences * piece.keys.keys;
    const std::uint64_t row = a_.row() * kBf16Bytes;
    const std::uint64_t longest = w_.machine().dma.max_descriptor.count();
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    KernelWriter::Move move{.bytes = row, .traffic = Traffic::kKvRead};
    if (a_.gathered) {
      const Handle room = w_.segment().emit(Engine::kSync, Instruction{}, {});
      move.descriptors = ceil_div(row, longest);
      move.repeat = Count::constant(rows);
      move.generation = DescriptorGeneration::kSoftware;
      piece.rows = w_.move(Engine::kGpSimd, Queue::kInput, move, {room, ready});
      return;
    }
    const std::uint64_t runs = std::min<std::uint64_t>(w_.partitions(), piece.keys.keys);
    move.bytes = rows * row;
    move.descriptors = piece.keys.sequences * runs * ceil_div(ceil_div(piece.keys.keys, runs) * row, longest);
    piece.rows = w_.move(Engine::kSync, Queue::kKv, move, {});
  }

  // Vector and scalar take turns at emptying PSUM.
  void turn(Piece& piece) {
    const std::uint64_t all = piece.tiles * passes_;
    const std::uint64_t at_once = std::max<std::uint64_t>(1, w_.rings().psum_slot / w_.tile_width());
    for (std::uint64_t first = 0; first < all; first += at_once) {
      const std::uint64_t count = std::min(at_once, all - first);
      w_.segment().acquire(Engine::kTensor, w_.rings().psum);
      const Handle turned = w_.transpose(key_tile_, ceil_div(a_.row(), passes_), count, {piece.rows});
      const std::size_t side = first / at_once % 2;
      const Engine engine = side == 0 ? Engine::kVector : Engine::kScalar;
      piece.turned[side] = w_.run(engine, {Op::kCopy, Count::constant(count * key_tile_), Space::kPsum}, {turned});
      w_.segment().release(piece.turned[side], w_.rings().psum);
    }
  }

  void scores(Piece& piece, std::uint64_t heads, Handle ready) {
    w_.segment().acquire(Engine::kTensor, w_.rings().psum);
    piece.scores = w_.matmul({.rows = ceil_div(a_.row(), passes_),
                              .columns = key_tile_,
                              .free = Count::constant(heads),
                              .repeat = Count::constant(piece.tiles * passes_)},
                             {ready, piece.turned[0], piece.turned[1]});
    piece.maximum =
        w_.run(Engine::kVector, {Op::kReduce, Count::constant(piece.tiles * heads), Space::kPsum}, {piece.scores});
  }

  void softmax(Piece& piece, std::uint64_t heads) {
    const std::uint64_t blocks = w_.tiles(piece.keys.sequences * heads);
    const Handle across =
        w_.transpose(w_.partitions(), std::min<std::uint64_t>(piece.keys.sequences * heads, w_.partitions()), blocks,
                     {piece.maximum});
    const Handle maximum =
        w_.run(Engine::kVector, {Op::kReduce, Count::constant(w_.partitions() * blocks), Space::kPsum}, {across});
    const Handle less = w_.matmul(
        {.rows = heads, .columns = key_tile_, .free = Count::constant(heads), .repeat = Count::constant(piece.tiles)},
        {maximum});
    piece.weights = w_.exponential(Count::constant(piece.tiles * heads), Space::kPsum, {less});
    w_.segment().release(piece.weights, w_.rings().psum);
  }

  // What pieces before found is scaled to the new maximum, then this one's sums are added.
  Handle values(const Piece& piece, std::uint64_t heads, bool last) {
    w_.segment().acquire(Engine::kTensor, w_.rings().sums);
    const Handle sums = w_.matmul({.rows = key_tile_,
                                   .columns = w_.tile_width(),
                                   .free = Count::constant(heads),
                                   .repeat = Count::constant(piece.tiles)},
                                  {piece.weights});
    const Handle products = w_.matmul({.rows = key_tile_,
                                       .columns = ceil_div(a_.kv_rank, value_tiles_),
                                       .free = Count::constant(heads),
                                       .repeat = Count::constant(piece.tiles * value_tiles_)},
                                      {sums});
    if (last) w_.segment().release(products, w_.rings().kv);
    const Count all = Count::constant((value_tiles_ + 1) * heads * piece.keys.sequences);
    if (cut_.pieces(w_) > 1) w_.run(Engine::kVector, {Op::kBinary, all, Space::kSbuf, Dtype::kFp32}, {});
    const Handle merged = w_.run(Engine::kVector, {Op::kBinary, all, Space::kPsum}, {products});
    w_.segment().release(merged, w_.rings().sums);
    return merged;
  }

  KernelWriter& w_;
  const LatentDecode& a_;
  std::uint64_t passes_ = 0;       ///< contractions that a row takes
  std::uint64_t value_tiles_ = 0;  ///< of the latent part
  std::uint64_t key_tile_ = 0;
  std::uint64_t heads_ = 0;  ///< that move together
  PieceCut cut_;
};

}  // namespace

Handle latent_attend(KernelWriter& w, const LatentDecode& a, Handle ready) {
  const Handle written = write_rows(w, a.written, a.row() * kBf16Bytes, ready);
  if (a.sequences == 0 || a.keys == 0 || a.heads == 0) {
    return written.valid() ? w.segment().emit(Engine::kVector, Instruction{}, {ready, written}) : ready;
  }
  return LatentRows(w, a).emit(ready, written);
}

// Each head has its own [nope_dim x kv_rank]: side by side they stream through SBUF like one wide matrix, each tile of
// columns against the queries of its head.
Handle latent_absorb(KernelWriter& w, const LatentDecode& a, Handle ready) {
  return project(w, {.contraction = a.nope_dim, .columns = a.heads * a.kv_rank, .tokens = a.sequences, .bias = false},
                 ready);
}

Handle latent_value_up(KernelWriter& w, const LatentDecode& a, Handle ready) {
  return project(w, {.contraction = a.kv_rank, .columns = a.heads * a.value_dim, .tokens = a.sequences, .bias = false},
                 ready);
}

Handle latent_attention_decode(KernelWriter& w, const LatentDecode& a, Handle ready) {
  return latent_value_up(w, a, latent_attend(w, a, latent_absorb(w, a, ready)));
}

LatentArrivals LatentArrivals::reserve(KernelWriter& w) {
  return {w.sibling_arrival(), w.sibling_arrival(), w.sibling_arrival()};
}

bool shares_sequences(std::uint64_t sequences, std::uint32_t lnc) {
  return lnc > 1 && sequences >= lnc && sequences % lnc == 0;
}

std::uint64_t latent_resident_bytes(const CoreSpec& core, const LatentDecode& whole, std::uint32_t lnc) {
  const std::uint64_t inside = shares_sequences(whole.sequences, lnc) ? whole.sequences / lnc : whole.sequences;
  const std::uint64_t outer = whole.nope_dim + whole.rope_dim + whole.value_dim;
  const std::uint64_t latent = whole.row() + whole.kv_rank;
  const std::uint64_t elements =
      ceil_div(whole.heads, lnc) * outer * whole.sequences + whole.heads * latent * inside + whole.row() * inside;
  return ceil_div(elements, features_per_tile(core)) * kBf16Bytes;
}

Handle latent_attention_shared(KernelWriter& w, const LatentDecode& whole, const LatentArrivals& arrivals,
                               Handle ready) {
  if (whole.sequences == 0 || whole.keys == 0) return ready;
  if (w.lnc() == 1) return latent_attention_decode(w, whole, ready);
  const bool by_sequences = shares_sequences(whole.sequences, w.lnc());
  LatentDecode own = whole;  // heads of this core, all sequences
  own.heads = w.share(whole.heads);
  LatentDecode part = whole;  // all heads, this core's rows
  part.written = w.share(whole.written);
  (by_sequences ? part.sequences : part.keys) = w.share(by_sequences ? whole.sequences : whole.keys);
  const Handle absorbed = latent_absorb(w, own, ready);
  // A core without heads still sends a message, which the other waits for.
  const auto message = [](std::uint64_t bytes) { return std::max(bytes, kFp32Bytes); };
  const Handle queries =
      w.exchange(arrivals.queries, message(own.heads * part.sequences * whole.row() * kBf16Bytes), absorbed);
  const Handle attended = latent_attend(w, part, queries);
  const std::uint64_t others = whole.heads - own.heads;
  if (by_sequences) {
    const Handle here =
        w.exchange(arrivals.outputs, message(others * part.sequences * whole.kv_rank * kBf16Bytes), attended);
    return latent_value_up(w, own, here);
  }
  // By rows each core has a part of every output, with its maximum and sum.
  const std::uint64_t column = whole.kv_rank + 2;
  const Handle here = w.exchange(arrivals.outputs, message(others * whole.sequences * column * kFp32Bytes), attended);
  const Count merged = Count::constant(ceil_div(own.heads * whole.sequences * column, w.partitions()));
  return latent_value_up(w, own, w.run(Engine::kVector, {Op::kBinary, merged, Space::kSbuf, Dtype::kFp32}, {here}));
}

}  // namespace trnsim
