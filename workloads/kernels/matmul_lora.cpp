#include <deque>

#include "models/mechanism/error.h"
#include "workloads/kernels/matmul_parts.h"

namespace trnsim {
namespace {

// Choices of software: tiles of partial results between SBUF and HBM, copies of A's strips, banks for transposes,
// halves of the rows that the low-rank part is finished in.
constexpr std::uint64_t kFlowing = 8;
constexpr std::uint64_t kBuffers = 2;
constexpr std::uint32_t kTransposeBanks = 2;
constexpr std::uint64_t kHalves = 2;

/// C = A B + (A L1) L2 with the result's columns on partitions until the end. First the low-rank part, which goes to
/// HBM; then A B by blocks of n and k, whose sums go through HBM after every block of k; A is transposed at its first
/// pass and comes back transposed from HBM in the later ones.
class Lora {
 public:
  Lora(TileWriter& w, const ScheduledMatmul& s) : w_(w), s_(s), parts_(w, s, kTransposeBanks), tile_(parts_.tile()) {
    if (s.lora_rank > tile_.m) throw InfeasibleError("lora_rank exceeds one tile");
    const auto ring = [&](std::uint64_t elements, std::uint64_t depth) {
      return w_.program().sbuf_ring(Bytes(storage_bytes(elements, s_.dtype)), static_cast<std::uint32_t>(depth));
    };
    w_.program().reserve_sbuf(Bytes(storage_bytes(ceil_div(s_.k, tile_.k) * s_.lora_rank + s_.m, s_.dtype)));
    const std::uint64_t k_tiles = ceil_div(s_.block_k, tile_.k);
    row_ring_ = ring(s_.load_k, kBuffers * ceil_div(s_.block_m, tile_.m));
    turned_ring_ = ring(s_.block_m, kBuffers * k_tiles);
    new_rings_ = DrainRings(w_.program(), storage_bytes(s_.block_m, s_.dtype), kFlowing / 2, s_.evacuation);
    if (s_.evacuation == Engine::kScalar)
      throw InfeasibleError("the sums of this schedule are made by the vector engine");
    flow_ring_ = ring(s_.block_m, kFlowing / 2);
    const std::uint64_t taken = w_.program().sbuf_per_partition().count();
    const std::uint64_t has = w_.core().sbuf_per_partition.count(), slot = storage_bytes(s_.load_n, s_.dtype);
    const std::uint64_t left = taken < has ? (has - taken) / slot : 0;
    if (left < k_tiles) throw InfeasibleError("the blocks do not fit SBUF");
    rhs_ring_ = ring(s_.load_n, std::min(left, kBuffers * k_tiles));
  }

  void emit() {
    low_rank();
    for (const Range& n : cut({0, s_.n}, s_.block_n)) {
      for (const Range& k : cut({0, s_.k}, s_.block_k)) columns(n, k);
      for (const Range& m : cut({0, s_.m}, s_.block_m)) finish(m, n);
    }
  }

 private:
  using Place = std::pair<std::uint64_t, std::uint64_t>;

  Handle load(BufferRing ring, std::uint64_t rows, std::uint64_t columns, Traffic traffic, Handle after = {},
              Handle also = {}) {
    w_.segment().acquire(Engine::kSync, ring);
    return parts_.load(Engine::kSync, Queue::kTiles, rows, columns, s_.dtype, traffic, {after, also});
  }

  // Sends [rows x columns] to HBM and frees its buffer.
  Handle spill(BufferRing ring, std::uint64_t rows, std::uint64_t columns, Handle after) {
    const Handle stored = parts_.store(Engine::kGpSimd, Queue::kStage, rows, columns, s_.dtype, s_.dtype, {after});
    w_.segment().release(stored, ring);
    return stored;
  }

  // The row tiles of block m at contraction k, side by side in one bank, and their copy.
  LoadedTile turn(const std::vector<Handle>& rows, Range m, Range k, std::uint64_t uses) {
    w_.segment().acquire(Engine::kTensor, parts_.transpose_bank());
    w_.segment().acquire(Engine::kTensor, turned_ring_);
    Handle turned;
    for (std::size_t i = 0; i < rows.size(); ++i) turned = w_.transpose(tile_.m, k.size, 1, {rows[i]}, s_.dtype);
    last_turned_ = turned;
    const Handle copied = parts_.copy(parts_.next_drain(), k.size, m.size, {turned});
    w_.segment().release(copied, parts_.transpose_bank());
    return {.ready = copied, .uses = uses};
  }

  // Loads the rows of block m at the contractions `strip`, one load per row tile.
  std::vector<Handle> load_rows(Range m, Range strip) {
    std::vector<Handle> rows;
    for (const Range& tile : cut(m, tile_.m)) {
      rows.push_back(load(row_ring_, tile.size, strip.size, Traffic::kActivations));
    }
    return rows;
  }

  void low_rank() {
    std::vector<LoadedTile> first;
    for (const Range& k : cut({0, s_.k}, tile_.k)) {
      const Handle ready = parts_.load(Engine::kSync, Queue::kTiles, k.size, s_.lora_rank, s_.dtype, Traffic::kWeights);
      first.push_back({.ready = ready, .uses = ceil_div(s_.m, s_.block_m) + 1});  // stays: never used up
    }
    const std::vector<Range> blocks = cut({0, s_.m}, s_.block_m);
    const std::size_t half = ceil_div(blocks.size(), kHalves);
    for (std::size_t at = 0; at < blocks.size(); at += half) {
      const std::size_t end = std::min(blocks.size(), at + half);
      std::vector<Handle> inner;
      for (std::size_t i = at; i < end; ++i) inner.push_back(inner_product(blocks[i], first));
      for (const Range& n : cut({0, s_.n}, s_.block_n)) outer_product({&blocks[at], end - at}, inner, n);
    }
  }

  // (A L1)^T of one block of rows; each k tile is transposed one ahead of its product.
  Handle inner_product(Range m, std::vector<LoadedTile>& first) {
    std::deque<LoadedTile> turned;
    std::vector<MatmulParts::Step> steps;
    std::size_t at = 0, used = 0;
    Handle product;
    const auto multiply = [&] {
      if (used == 0) w_.segment().acquire(Engine::kTensor, parts_.bank());
      const MatmulParts::Step step{&first[used], &turned[used], first_k(used)};
      product =
          parts_.accumulate({&step, 1}, s_.lora_rank, m.size, [&](Handle done, const LoadedTile&, const LoadedTile& b) {
            if (b.uses == 0) w_.segment().release(done, turned_ring_);
          });
      ++used;
    };
    for (const Range& strip : cut({0, s_.k}, s_.load_k)) {
      const std::vector<Handle> rows = load_rows(m, strip);
      for (const Range& k : cut(strip, tile_.k)) {
        turned.push_back(turn(rows, m, k, 1));
        if (at++ > 0) multiply();
      }
      w_.segment().signal(last_turned_, row_ring_.free_slots, static_cast<std::uint32_t>(rows.size()));
    }
    multiply();
    const Engine engine = parts_.next_drain();
    const Handle copied = parts_.copy(engine, s_.lora_rank, m.size, {product});
    w_.segment().release(copied, parts_.bank());
    return copied;
  }

  [[nodiscard]] std::uint64_t first_k(std::size_t at) const { return std::min(tile_.k, s_.k - at * tile_.k); }

  void outer_product(std::span<const Range> blocks, const std::vector<Handle>& inner, Range n) {
    const std::vector<Range> n_tiles = cut(n, tile_.m);
    LoadedTile second{.ready = load(rhs_ring_, s_.lora_rank, n.size, Traffic::kWeights),
                      .uses = n_tiles.size() * blocks.size()};
    for (const Range& tile : n_tiles) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        w_.segment().acquire(Engine::kTensor, parts_.bank());
        const Handle product = w_.matmul({.dtype = s_.dtype,
                                          .rows = s_.lora_rank,
                                          .columns = tile.size,
                                          .free = Count::constant(blocks[i].size),
                                          .repeat = Count::constant(1)},
                                         {second.ready, inner[i]});
        if (--second.uses == 0) w_.segment().release(product, rhs_ring_);
        const Engine engine = parts_.next_drain();
        w_.segment().acquire(engine, new_rings_.on(engine));
        const Handle copied = parts_.copy(engine, tile.size, blocks[i].size, {product});
        w_.segment().release(copied, parts_.bank());
        corrections_[{blocks[i].begin, tile.begin}] = spill(new_rings_.on(engine), tile.size, blocks[i].size, copied);
      }
    }
  }

  // One block of k for all rows: the sums of [n x m] come from HBM and go back there.
  void columns(Range n, Range k) {
    std::vector<LoadedTile> rhs;
    const std::vector<Range> k_tiles = cut(k, tile_.k), n_tiles = cut(n, tile_.m), blocks = cut({0, s_.m}, s_.block_m);
    rhs.reserve(k_tiles.size());
    for (const Range& part : k_tiles) {
      rhs.push_back(
          {.ready = load(rhs_ring_, part.size, n.size, Traffic::kWeights), .uses = n_tiles.size() * blocks.size()});
    }
    for (const Range& m : blocks) {
      std::vector<LoadedTile> turned =
          n.begin == 0 ? turned_rows(m, k, n_tiles.size()) : fetched_rows(m, k_tiles, n_tiles.size());
      for (const Range& tile : n_tiles) {
        std::vector<MatmulParts::Step> steps;
        for (std::size_t i = 0; i < k_tiles.size(); ++i) steps.push_back({&rhs[i], &turned[i], k_tiles[i].size});
        w_.segment().acquire(Engine::kTensor, parts_.bank());
        const Handle product =
            parts_.accumulate(steps, tile.size, m.size, [&](Handle done, const LoadedTile& b, const LoadedTile& a) {
              if (b.uses == 0) w_.segment().release(done, rhs_ring_);
              if (a.uses == 0) w_.segment().release(done, turned_ring_);
            });
        add(m, tile, k, product);
      }
    }
  }

  std::vector<LoadedTile> turned_rows(Range m, Range k, std::uint64_t uses) {
    std::vector<LoadedTile> turned;
    for (const Range& strip : cut(k, s_.load_k)) {
      const std::vector<Handle> rows = load_rows(m, strip);
      for (const Range& part : cut(strip, tile_.k)) {
        turned.push_back(turn(rows, m, part, uses));
        // Kept for the later passes; the buffer itself is freed by its last product.
        rows_in_hbm_[{m.begin, part.begin}] =
            parts_.store(Engine::kGpSimd, Queue::kStage, part.size, m.size, s_.dtype, s_.dtype, {turned.back().ready});
      }
      w_.segment().signal(last_turned_, row_ring_.free_slots, static_cast<std::uint32_t>(rows.size()));
    }
    return turned;
  }

  // Not before the last transpose has its buffer: it would wait for those that this takes.
  std::vector<LoadedTile> fetched_rows(Range m, const std::vector<Range>& k_tiles, std::uint64_t uses) {
    std::vector<LoadedTile> fetched;
    fetched.reserve(k_tiles.size());
    for (const Range& k : k_tiles) {
      fetched.push_back({.ready = load(turned_ring_, k.size, m.size, Traffic::kActivations,
                                       rows_in_hbm_.at({m.begin, k.begin}), last_turned_),
                         .uses = uses});
    }
    return fetched;
  }

  void add(Range m, Range n, Range k, Handle product) {
    Handle& sum = sums_[{m.begin, n.begin}];
    if (k.begin == 0) {
      w_.segment().acquire(Engine::kVector, new_rings_.vector);
      sum = w_.run(Engine::kVector, {.op = Op::kMemset, .free = Count::constant(m.size), .dtype = s_.dtype}, {});
    } else {
      sum = load(flow_ring_, n.size, m.size, Traffic::kActivations, sum);
    }
    const Handle added = w_.run(Engine::kVector,
                                {.op = Op::kBinary,
                                 .free = Count::constant(m.size),
                                 .source = Space::kPsum,
                                 .dtype = Dtype::kFp32,
                                 .second = Space::kSbuf},
                                {product, sum});
    w_.segment().release(added, parts_.bank());
    sum = spill(k.begin == 0 ? new_rings_.vector : flow_ring_, n.size, m.size, added);
  }

  // Adds the low-rank part, turns the result so that rows lie on partitions, and stores it.
  void finish(Range m, Range n) {
    for (const Range& tile : cut(n, tile_.m)) {
      const Handle sum = load(flow_ring_, tile.size, m.size, Traffic::kActivations, sums_.at({m.begin, tile.begin}));
      const Handle correction =
          load(flow_ring_, tile.size, m.size, Traffic::kActivations, corrections_.at({m.begin, tile.begin}));
      const Handle added =
          w_.run(Engine::kVector,
                 {.op = Op::kBinary, .free = Count::constant(m.size), .dtype = s_.dtype, .second = Space::kSbuf},
                 {sum, correction});
      w_.segment().release(added, flow_ring_);
      w_.segment().acquire(Engine::kTensor, parts_.transpose_bank());
      const std::vector<Range> m_tiles = cut(m, tile_.m);
      const Handle turned = w_.transpose(tile.size, tile_.m, m_tiles.size(), {added}, s_.dtype);
      const Engine engine = parts_.next_drain();
      const Handle copied = parts_.copy(engine, tile_.m, tile.size * m_tiles.size(), {turned});  // back in place
      w_.segment().release(copied, parts_.transpose_bank());
      Handle stored;
      for (const Range& part : m_tiles) {
        stored =
            parts_.store(Engine::kGpSimd, Queue::kStore, part.size, tile.size, s_.dtype, s_.result_dtype, {copied});
      }
      w_.segment().release(stored, flow_ring_);
    }
  }

  TileWriter& w_;
  const ScheduledMatmul& s_;
  MatmulParts parts_;
  const TileShape& tile_;
  BufferRing row_ring_, turned_ring_, rhs_ring_, flow_ring_;
  DrainRings new_rings_;  ///< partial results before they first go to HBM
  Handle last_turned_;
  std::map<Place, Handle> rows_in_hbm_;  ///< transposed A, by first row and contraction
  std::map<Place, Handle> corrections_;  ///< low-rank part in HBM, by first row and column
  std::map<Place, Handle> sums_;         ///< in HBM, by first row and column
};

}  // namespace

void lora_matmul(TileWriter& w, const ScheduledMatmul& s) {
  if (s.empty()) return;
  Lora kernel(w, s);
  for (std::uint64_t i = 0; i < s.batch; ++i) kernel.emit();
}

MatmulReads lora_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  if (s.empty()) return {};
  const std::uint64_t k = TileShape(core, s.dtype, s.transpose_lhs).k;
  const std::uint64_t halves = cut({0, ceil_div(s.m, s.block_m)}, ceil_div(ceil_div(s.m, s.block_m), kHalves)).size();
  const std::uint64_t once = loaded_bytes({0, s.k}, s.block_k, k, {0, s.n}, s.block_n, s.block_n, s.dtype);
  const std::uint64_t first = loaded_bytes({0, s.k}, s.k, k, {0, s.lora_rank}, s.lora_rank, s.lora_rank, s.dtype);
  const std::uint64_t second =
      loaded_bytes({0, s.lora_rank}, s.lora_rank, s.lora_rank, {0, s.n}, s.block_n, s.block_n, s.dtype);
  return {(once + first + halves * second) * s.batch, 0};
}

}  // namespace trnsim
