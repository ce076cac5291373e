#include <algorithm>
#include <vector>

#include "workloads/kernels/latent_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kPassQueries = 2048;    // queries of one pass when the keys do not fit, NKI attention kernels
constexpr std::uint64_t kPieces = 16;           // of the queries of one pass over all keys
constexpr std::uint64_t kPiecesPerSection = 4;  // of the queries of one pass over a part of the keys

/// Groups of queries, one tile wide, stationary, tiles of keys moving; scores, row maximum, exp, transpose by DMA,
/// values. A tile that no query of the group sees is left out. Tiles run through their PSUM buffers one after the
/// other; a run of equal tiles is written as one instruction.
class Flash {
 public:
  Flash(KernelWriter& w, const PrefillAttention& a, std::uint64_t value_dim) : w_(w), a_(a), value_dim_(value_dim) {
    heads_ = a.q_heads / a.kv_heads;
    key_tile_ = std::min<std::uint64_t>({w.core().moving_columns(), w.rings().psum_slot, std::max(a.keys, 1UL)});
    section_ = std::max(key_tile_, w.rings().kv_slot * w.partitions() / key_bytes() / key_tile_ * key_tile_);
  }

  /// One sequence and one KV head.
  Handle head(Handle ready) {
    const std::uint64_t per_pass = queries_per_pass(w_, a_, value_dim_);
    Handle done = ready;
    for (std::uint64_t first = 0; first < a_.queries; first += per_pass) {
      done = pass(a_.first_query + first, std::min(per_pass, a_.queries - first), ready);
    }
    return done;
  }

 private:
  struct Piece {
    std::uint64_t tiles = 0;   ///< (query group, key tile, query head)
    std::uint64_t groups = 0;  ///< (query group, query head)
    Handle turned;
  };

  [[nodiscard]] std::uint64_t key_bytes() const { return (a_.head_dim + value_dim_) * kBf16Bytes; }

  Handle pass(std::uint64_t first, std::uint64_t queries, Handle ready) {
    const Handle q =
        w_.move(Engine::kSync, Queue::kTiles, {.bytes = queries * heads_ * a_.head_dim * kBf16Bytes}, {ready});
    const std::uint64_t begin = a_.first_seen(first);
    const std::uint64_t end = a_.end_seen(first + queries);
    Handle done = q;
    for (std::uint64_t key = begin; key < end; key += section_) {
      done = section(first, queries, key, std::min(key + section_, end), ready, q);
    }
    w_.run(Engine::kVector, {Op::kReciprocal, Count::constant(w_.tiles(queries) * heads_)}, {done});
    const Handle scaled =
        w_.run(Engine::kVector, {Op::kBinary, Count::constant(w_.tiles(queries) * heads_ * value_dim_)}, {});
    const Handle stored = w_.move(
        Engine::kGpSimd, Queue::kStore,
        {.bytes = queries * heads_ * value_dim_ * kBf16Bytes, .source = Space::kSbuf, .destination = Space::kHbm},
        {scaled});
    return w_.segment().emit(Engine::kCollective, Instruction{}, {stored});
  }

  Handle section(std::uint64_t first, std::uint64_t queries, std::uint64_t from, std::uint64_t to, Handle ready,
                 Handle q) {
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    const Handle kv =
        w_.move(Engine::kSync, Queue::kKv, {.bytes = (to - from) * key_bytes(), .traffic = Traffic::kKvRead}, {ready});
    const std::uint64_t step =
        w_.tile_width() * ceil_div(w_.tiles(queries), a_.keys <= section_ ? kPieces : kPiecesPerSection);
    std::vector<Piece> pieces;
    for (std::uint64_t at = 0; at < queries; at += step) {
      const Piece piece = piece_of(first + at, std::min(step, queries - at), from, to);
      if (piece.tiles > 0) pieces.push_back(piece);
    }
    Handle merged;
    Handle last;
    for (std::size_t i = 0; i < pieces.size(); ++i) {  // one piece ahead: scores of the next before values of this
      if (i == 0) scores(pieces[i], q, kv);
      if (i + 1 < pieces.size()) scores(pieces[i + 1], q, kv);
      merged = values(pieces[i], last);
    }
    w_.segment().release(last, w_.rings().kv);
    return merged;
  }

  [[nodiscard]] Piece piece_of(std::uint64_t first, std::uint64_t queries, std::uint64_t from, std::uint64_t to) const {
    Piece piece;
    for (std::uint64_t at = first; at < first + queries; at += w_.tile_width()) {
      const std::uint64_t begin = std::max(from, a_.first_seen(at));
      const std::uint64_t end = std::min(to, a_.end_seen(std::min(at + w_.tile_width(), first + queries)));
      if (begin >= end) continue;
      piece.tiles += (ceil_div(end - from, key_tile_) - (begin - from) / key_tile_) * heads_;
      piece.groups += heads_;
    }
    return piece;
  }

  void scores(Piece& piece, Handle q, Handle kv) {
    const Count tile = Count::constant(key_tile_);
    const Count repeat = Count::constant(piece.tiles);
    w_.segment().acquire(Engine::kTensor, w_.rings().psum);
    const std::uint64_t passes = w_.passes(a_.head_dim, Dtype::kBf16);
    const Handle products = w_.matmul({.rows = ceil_div(a_.head_dim, passes),
                                       .columns = w_.tile_width(),
                                       .free = tile,
                                       .repeat = Count::constant(piece.tiles * passes)},
                                      {q, kv});
    const Handle maximum = w_.run(
        Engine::kVector, {.op = Op::kReduce, .free = tile, .source = Space::kPsum, .repeat = repeat}, {products});
    const Handle weights = w_.exponential(tile, Space::kPsum, {products, maximum}, repeat);
    w_.segment().release(weights, w_.rings().psum);
    // Keys onto partitions; a transposing copy inside SBUF runs at half the copy rate (AWS Neuron DMA documentation).
    piece.turned = w_.move(Engine::kGpSimd, Queue::kTurn,
                           {.bytes = w_.tile_width() * key_tile_ * kBf16Bytes,
                            .repeat = repeat,
                            .source = Space::kSbuf,
                            .destination = Space::kSbuf,
                            .transposes = true},
                           {weights});
  }

  Handle values(const Piece& piece, Handle& last) {
    w_.segment().acquire(Engine::kTensor, w_.rings().sums);
    last = w_.matmul({.rows = std::min<std::uint64_t>(w_.tile_width(), key_tile_),
                      .columns = w_.tile_width(),
                      .free = Count::constant(value_dim_ + 1),  // a column of ones gives the sum of the weights
                      .repeat = Count::constant(piece.tiles * w_.tiles(key_tile_))},
                     {piece.turned});
    const Handle merged = w_.run(Engine::kVector,
                                 {.op = Op::kBinary,
                                  .free = Count::constant(value_dim_ + 1),
                                  .source = Space::kPsum,
                                  .repeat = Count::constant(piece.groups)},
                                 {last});
    w_.segment().release(merged, w_.rings().sums);
    return merged;
  }

  KernelWriter& w_;
  const PrefillAttention& a_;
  std::uint64_t value_dim_;
  std::uint64_t heads_ = 0;
  std::uint64_t key_tile_ = 0;
  std::uint64_t section_ = 0;
};

}  // namespace

std::uint64_t PrefillAttention::first_seen(std::uint64_t from) const {
  return window > 0 && from + 1 > window ? from + 1 - window : 0;
}

std::uint64_t PrefillAttention::end_seen(std::uint64_t to) const {
  return causal ? std::min(to, keys) : keys;
}

std::uint64_t queries_per_pass(const KernelWriter& w, const PrefillAttention& a, std::uint64_t value_dim) {
  const std::uint64_t fit = w.rings().kv_slot * w.partitions() / ((a.head_dim + value_dim) * kBf16Bytes);
  return a.keys <= fit ? std::max<std::uint64_t>(1, a.queries) : kPassQueries;
}

std::uint64_t queries_per_pass(const KernelWriter& w, const PrefillAttention& a) {
  return queries_per_pass(w, a, a.head_dim);
}

std::uint64_t keys_read(const PrefillAttention& a, std::uint64_t per_pass) {
  std::uint64_t keys = 0;
  for (std::uint64_t first = 0; first < a.queries; first += per_pass) {
    const std::uint64_t from = a.first_query + first;
    keys += a.end_seen(std::min(from + per_pass, a.first_query + a.queries)) - a.first_seen(from);
  }
  return keys;
}

Handle attention_prefill(KernelWriter& w, const PrefillAttention& a, Handle ready) {
  return attention_prefill(w, a, a.head_dim, ready);
}

Handle attention_prefill(KernelWriter& w, const PrefillAttention& a, std::uint64_t value_dim, Handle ready) {
  if (a.sequences == 0 || a.queries == 0 || a.keys == 0) return ready;
  Flash flash(w, a, value_dim);
  return w.times(a.sequences * a.kv_heads, Engine::kCollective, [&] { return flash.head(ready); });
}

}  // namespace trnsim
