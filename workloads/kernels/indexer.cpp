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
constexpr std::uint64_t kCandidateBytes = kFp32Bytes + kFp32Bytes;  // a score and its index

// Layout of a top-k: a row of values lies over 16 partitions, rows side by side. Source: NKI ISA reference (Neuron
// 2.32), which takes 8 to 65535 values.
constexpr std::uint64_t kRowPartitions = 16;
constexpr std::uint64_t kFewestValues = 8;
constexpr std::uint64_t kMostValues = 65535;

/// Tiles of cached keys stationary, the heads' queries moving: a key on each partition, heads along the free dimension.
class IndexScores {
 public:
  IndexScores(KernelWriter& w, const IndexerDecode& a) : w_(w), a_(a) {
    key_tile_ = std::min(w.tile_width(), a.keys);
    heads_ = std::min({a.heads, w.core().moving_columns(), w.rings().psum_slot});
    // Per partition: a tile of keys, their scales, their scores by head.
    const std::uint64_t tile_bytes = w.passes(a.dim, Dtype::kFp8) * w.tile_width() + kFp32Bytes + a.heads * kBf16Bytes;
    const std::uint64_t by_sbuf = w.rings().kv_slot / tile_bytes;
    const std::uint64_t tiles = std::min(by_sbuf, w.rings().psum_slot / std::max<std::uint64_t>(1, heads_));
    if (tiles == 0) throw InfeasibleError("indexer: a tile of keys does not fit the buffers in SBUF and PSUM");
    cut_ = {a.sequences, a.keys, tiles, tiles};
  }

  /// Ends on the CC-cores' engine, when the scores are in HBM.
  Handle emit(Handle ready) {
    return in_pieces(w_, cut_, Engine::kCollective, [&](const std::vector<KeyPiece>& list) {
      Handle stored;
      for (const KeyPiece& piece : list) stored = score(piece, ready);
      return stored;
    });
  }

 private:
  Handle score(const KeyPiece& piece, Handle ready) {
    const std::uint64_t tiles = piece.sequences * w_.tiles(piece.keys), keys = piece.sequences * piece.keys;
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    const Handle cached =
        w_.move(Engine::kSync, Queue::kKv, {.bytes = keys * a_.key_bytes(), .traffic = Traffic::kKvRead}, {});
    Handle summed;
    for (std::uint64_t first = 0; first < a_.heads; first += heads_) {
      summed = weigh(tiles, std::min(heads_, a_.heads - first), cached, ready);
    }
    const Handle scaled =
        w_.run(Engine::kVector, {Op::kBinary, Count::constant(tiles), Space::kSbuf, Dtype::kFp32}, {});
    w_.segment().release(scaled, w_.rings().kv);
    const Handle stored =
        w_.move(Engine::kGpSimd, Queue::kStore,
                {.bytes = keys * kFp32Bytes, .source = Space::kSbuf, .destination = Space::kHbm}, {scaled});
    return w_.segment().emit(Engine::kCollective, Instruction{}, {stored});
  }

  // ReLU on scalar while PSUM is emptied, head weights and their sum on vector.
  Handle weigh(std::uint64_t tiles, std::uint64_t heads, Handle cached, Handle ready) {
    const std::uint64_t passes = w_.passes(a_.dim, Dtype::kFp8);
    const Count all = Count::constant(tiles * heads);
    w_.segment().acquire(Engine::kTensor, w_.rings().psum);
    const Handle products = w_.matmul({.dtype = Dtype::kFp8,
                                       .rows = ceil_div(a_.dim, passes),
                                       .columns = key_tile_,
                                       .free = Count::constant(heads),
                                       .repeat = Count::constant(tiles * passes)},
                                      {ready, cached});
    const Handle positive = w_.run(Engine::kScalar, {Op::kActivation, all, Space::kPsum}, {products});
    w_.segment().release(positive, w_.rings().psum);
    const Handle weighted = w_.run(Engine::kVector, {Op::kBinary, all}, {positive});
    return w_.run(Engine::kVector, {Op::kReduce, all}, {weighted});
  }

  KernelWriter& w_;
  const IndexerDecode& a_;
  std::uint64_t key_tile_ = 0;
  std::uint64_t heads_ = 0;  ///< that move together
  PieceCut cut_;
};

/// The `kept` largest of `values` in each of `rows` rows.
class Selection {
 public:
  Selection(KernelWriter& w, std::uint64_t rows, std::uint64_t values, std::uint64_t kept)
      : w_(w), rows_(rows), values_(std::max(values, kFewestValues)), kept_(kept) {}

  /// From HBM, or, if they are `candidates` of another selection, from SBUF; indices are ready on GpSimd.
  Handle emit(Handle ready, bool candidates) {
    if (w_.core().gpsimd.top_k_cycles == 0) {
      throw InfeasibleError("indexer: the GpSimd engine of " + w_.machine().name + " has no top-k");
    }
    const std::uint64_t parts = best_parts();
    if (parts == 1) return top_k(rows_, values_, kept_, ready, candidates);
    const std::uint64_t part = ceil_div(values_, parts);
    const std::uint64_t each = std::min(part, kept_);
    const Handle first = top_k(rows_ * parts, part, each, ready, candidates);
    top_k(rows_, parts * each, kept_, first, true);
    // Places among the candidates become places among all.
    return w_.run(Engine::kGpSimd, {Op::kGather, Count::constant(ceil_div(rows_, lanes()) * kept_)}, {});
  }

 private:
  [[nodiscard]] std::uint64_t lanes() const { return std::max<std::uint64_t>(1, w_.partitions() / kRowPartitions); }
  [[nodiscard]] std::uint64_t most_values() const {
    return std::min(kMostValues, w_.rings().kv_slot / kBf16Bytes * kRowPartitions);
  }

  // Cycles of GpSimd with each row cut into `parts`; 0 if that cannot be.
  [[nodiscard]] Wide cycles(std::uint64_t parts) const {
    const std::uint64_t part = ceil_div(values_, parts), each = std::min(part, kept_);
    const std::uint64_t rate = w_.core().gpsimd.top_k_cycles;
    if (part > most_values() || part < kFewestValues) return 0;
    const Wide first = ceil_div(rows_ * parts, lanes()) * (Wide(rate) * part + each);
    if (parts == 1) return first;
    if (parts * each > most_values()) return 0;
    return first + ceil_div(rows_, lanes()) * (Wide(rate) * parts * each + Wide(2) * kept_);
  }

  [[nodiscard]] std::uint64_t best_parts() const {
    const std::uint64_t fewest = ceil_div(values_, most_values());
    std::uint64_t best = 0;
    for (std::uint64_t parts = fewest; parts < fewest + lanes(); ++parts) {
      if (cycles(parts) > 0 && (best == 0 || cycles(parts) < cycles(best))) best = parts;
    }
    if (best > 0) return best;
    throw InfeasibleError("indexer: the best " + std::to_string(kept_) + " of " + std::to_string(values_) +
                          " scores cannot be found in two rounds of top-k, which takes " +
                          std::to_string(most_values()) + " values at a time");
  }

  // As many rows at a time as lie side by side. Scores become BF16 on the way.
  Handle top_k(std::uint64_t rows, std::uint64_t values, std::uint64_t kept, Handle ready, bool candidates) {
    Handle done;
    const auto group = [&](std::uint64_t count) {
      const Handle loaded = load(count * values, ready, candidates);
      Instruction instruction;
      instruction.op = Op::kTopK;
      instruction.rows = static_cast<std::uint32_t>(count * kRowPartitions);
      instruction.columns = static_cast<std::uint32_t>(kept);
      instruction.free = Count::constant(values);
      const Handle best = w_.segment().emit(Engine::kGpSimd, instruction, {loaded});
      w_.segment().release(best, w_.rings().kv);
      return best;
    };
    done = w_.times(rows / lanes(), Engine::kGpSimd, [&] { return group(lanes()); });
    if (rows % lanes() > 0) done = group(rows % lanes());
    return done;
  }

  // The buffer is acquired in the order of all others. Candidates are laid out anew inside SBUF.
  Handle load(std::uint64_t values, Handle ready, bool candidates) {
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    if (!candidates) {
      return w_.move(Engine::kSync, Queue::kTiles, {.bytes = values * kFp32Bytes, .computes = true}, {ready});
    }
    const Handle room = w_.segment().emit(Engine::kSync, Instruction{}, {});
    return w_.move(Engine::kGpSimd, Queue::kTurn,
                   {.bytes = values * kCandidateBytes, .source = Space::kSbuf, .destination = Space::kSbuf},
                   {room, ready});
  }

  KernelWriter& w_;
  std::uint64_t rows_, values_, kept_;
};

Handle project_index(KernelWriter& w, const IndexerDecode& a, std::uint64_t columns, std::uint64_t key_columns,
                     std::uint64_t weight_columns, Handle ready) {
  const auto part = [&](std::uint64_t contraction, std::uint64_t width) {
    return project(w, {.contraction = contraction, .columns = width, .tokens = a.sequences, .bias = false}, ready);
  };
  part(a.q_rank, columns);
  part(a.hidden, key_columns);
  const Handle projected = part(a.hidden, weight_columns);
  // FP8 with a scale per vector: its largest magnitude, then the quotients.
  const Count values =
      Count::constant(w.free_elements(columns, a.sequences) + w.free_elements(key_columns, a.sequences));
  w.run(Engine::kVector, {Op::kReduce, values}, {projected});
  return w.run(Engine::kVector, {Op::kCopy, values}, {});
}

}  // namespace

Handle indexer_project(KernelWriter& w, const IndexerDecode& a, Handle ready) {
  if (a.sequences == 0) return ready;
  return project_index(w, a, a.heads * a.dim, a.dim, a.heads, ready);
}

Handle indexer_pick(KernelWriter& w, const IndexerDecode& a, Handle ready) {
  const Handle written = write_rows(w, a.written, a.key_bytes(), ready);
  if (a.sequences == 0 || a.keys == 0 || a.heads == 0) {
    return written.valid() ? w.segment().emit(Engine::kGpSimd, Instruction{}, {ready, written}) : ready;
  }
  const Handle stored = IndexScores(w, a).emit(ready);
  const Handle picked = Selection(w, a.sequences, a.keys, a.kept()).emit(stored, false);
  return w.segment().emit(Engine::kGpSimd, Instruction{}, {picked, written});
}

Handle indexer_decode(KernelWriter& w, const IndexerDecode& a, Handle ready) {
  return indexer_pick(w, a, indexer_project(w, a, ready));
}

// Each core projects its columns of queries and head weights; keys are few and projected by both.
Handle sparse_attention_shared(KernelWriter& w, const IndexerDecode& whole, const LatentDecode& attention,
                               const LatentArrivals& arrivals, Handle ready) {
  if (whole.sequences == 0 || whole.keys == 0) return ready;
  LatentDecode sparse = attention;
  sparse.keys = whole.kept();
  sparse.gathered = true;
  if (w.lnc() == 1) return latent_attention_shared(w, sparse, arrivals, indexer_decode(w, whole, ready));
  const bool by_sequences = shares_sequences(whole.sequences, w.lnc());
  IndexerDecode part = whole;
  part.written = w.share(whole.written);
  (by_sequences ? part.sequences : part.keys) = w.share(by_sequences ? whole.sequences : whole.keys);
  const std::uint64_t columns = w.share(whole.heads) * whole.dim;
  const Handle projected = project_index(w, whole, columns, w.share(whole.dim), w.share(whole.heads), ready);
  const std::uint64_t sent = (columns + w.share(whole.dim) + w.share(whole.heads)) * part.sequences;
  const Handle here = w.exchange(arrivals.picked, std::max(sent, kFp32Bytes), projected);
  Handle picked = indexer_pick(w, part, here);
  if (!by_sequences) {  // each core has the best of its keys
    const std::uint64_t candidates = part.sequences * part.kept();
    const Handle both = w.exchange(arrivals.picked, std::max(candidates * kCandidateBytes, kFp32Bytes), picked);
    const std::uint64_t values = std::min(whole.keys, w.lnc() * whole.top_k);
    picked = Selection(w, whole.sequences, values, whole.kept()).emit(both, true);
  }
  return latent_attention_shared(w, sparse, arrivals, picked);
}

}  // namespace trnsim
