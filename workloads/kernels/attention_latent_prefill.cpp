#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/latent_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

/// The matrices of some heads stay in SBUF while all rows pass; keys and values of a tile of rows go back to HBM.
class Expansion {
 public:
  Expansion(KernelWriter& w, const LatentPrefill& a) : w_(w), a_(a) {
    const std::uint64_t head_bytes = a.kv_rank * width() * kBf16Bytes;
    most_heads_ = std::min(a.heads, w.rings().weight_slot * w.partitions() / head_bytes);
    if (most_heads_ == 0) {
      throw InfeasibleError(
          "latent attention: the matrix of one head for keys and values does not fit a weight buffer "
          "in SBUF");
    }
  }

  Handle emit(Handle ready) {
    Handle done;
    for (std::uint64_t first = 0; first < a_.heads; first += most_heads_) {
      done = heads(std::min(most_heads_, a_.heads - first), ready);
    }
    return done;
  }

 private:
  [[nodiscard]] std::uint64_t width() const { return a_.nope_dim + a_.value_dim; }

  Handle heads(std::uint64_t count, Handle ready) {
    const std::uint64_t columns = count * width(), rows = a_.sequences * a_.keys;
    const std::uint64_t features = w_.tiles(a_.kv_rank) + ceil_div(columns, w_.core().tensor.columns);
    const std::uint64_t fit = w_.rings().kv_slot / (features * kBf16Bytes);
    const std::uint64_t tile = std::min({fit, rows, w_.core().moving_columns(), w_.rings().psum_slot});
    if (tile == 0) throw InfeasibleError("latent attention: keys and values of one row do not fit a buffer in SBUF");
    w_.segment().acquire(Engine::kSync, w_.rings().weights);
    const Handle weights = w_.move(Engine::kSync, Queue::kWeights,
                                   {.bytes = a_.kv_rank * columns * kBf16Bytes, .traffic = Traffic::kWeights}, {});
    Handle done = w_.times(rows / tile, Engine::kCollective, [&] { return rows_of(tile, columns, weights, ready); });
    if (rows % tile > 0) done = rows_of(rows % tile, columns, weights, ready);
    w_.segment().release(done, w_.rings().weights);
    return done;
  }

  Handle rows_of(std::uint64_t rows, std::uint64_t columns, Handle weights, Handle ready) {
    w_.segment().acquire(Engine::kSync, w_.rings().kv);
    const Handle latents = w_.move(Engine::kSync, Queue::kTiles, {.bytes = rows * a_.kv_rank * kBf16Bytes}, {ready});
    const std::uint64_t tiles = ceil_div(columns, w_.core().tensor.columns);
    const std::uint64_t group = std::max<std::uint64_t>(1, w_.rings().psum_slot / rows);
    std::array<Handle, 2> copied;  // vector and scalar take turns at emptying PSUM
    for (std::uint64_t first = 0; first < tiles; first += group) {
      const std::uint64_t count = std::min(group, tiles - first);
      w_.segment().acquire(Engine::kTensor, w_.rings().psum);
      const Handle products = w_.matmul({.rows = std::min(a_.kv_rank, w_.contraction_rows(Dtype::kBf16)),
                                         .columns = ceil_div(columns, tiles),
                                         .free = Count::constant(rows),
                                         .repeat = Count::constant(w_.passes(a_.kv_rank, Dtype::kBf16) * count)},
                                        {latents, weights});
      const std::size_t side = first / group % 2;
      copied[side] = w_.run(side == 0 ? Engine::kVector : Engine::kScalar,
                            {Op::kCopy, Count::constant(count * rows), Space::kPsum}, {products});
      w_.segment().release(copied[side], w_.rings().psum);
    }
    const Handle stored = w_.move(Engine::kGpSimd, Queue::kStore,
                                  {.bytes = rows * columns * kBf16Bytes,
                                   .traffic = Traffic::kKvWrite,
                                   .source = Space::kSbuf,
                                   .destination = Space::kHbm},
                                  {copied[0], copied[1]});
    const Handle done = w_.segment().emit(Engine::kCollective, Instruction{}, {stored});
    w_.segment().release(done, w_.rings().kv);
    return done;
  }

  KernelWriter& w_;
  const LatentPrefill& a_;
  std::uint64_t most_heads_ = 0;
};

}  // namespace

PrefillAttention LatentPrefill::attention() const {
  PrefillAttention p;
  p.sequences = sequences;
  p.q_heads = p.kv_heads = heads;
  p.head_dim = nope_dim + rope_dim;
  p.first_query = first_query;
  p.queries = queries;
  p.keys = keys;
  return p;
}

Handle latent_expand(KernelWriter& w, const LatentPrefill& a, Handle ready) {
  if (a.sequences == 0 || a.keys == 0 || a.heads == 0) return ready;
  return Expansion(w, a).emit(ready);
}

Handle latent_attention_prefill(KernelWriter& w, const LatentPrefill& a, Handle ready) {
  if (a.sequences == 0 || a.queries == 0 || a.keys == 0 || a.heads == 0) return ready;
  return attention_prefill(w, a.attention(), a.value_dim, latent_expand(w, a, ready));
}

std::uint64_t latent_prefill_kv_bytes(const KernelWriter& w, const LatentPrefill& a) {
  const PrefillAttention p = a.attention();
  return a.sequences * a.heads * keys_read(p, queries_per_pass(w, p, a.value_dim)) * (p.head_dim + a.value_dim) *
         kBf16Bytes;
}

}  // namespace trnsim
