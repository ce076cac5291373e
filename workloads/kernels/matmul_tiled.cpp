#include <memory>
#include <optional>

#include "models/mechanism/error.h"
#include "workloads/kernels/matmul_parts.h"

namespace trnsim {
namespace {

/// What stays in SBUF: a row strip of A or a column strip of B for the loop inside its own, or also all of B if it
/// fits.
enum class Keep : std::uint8_t { kNothing, kLhs, kRhs, kWhatFits };

constexpr std::uint64_t kStagedResults = 4;  // result tiles on their way out: a choice of software
constexpr std::uint64_t kBiasBuffers = 3;
constexpr std::uint64_t kBuffers = 2;

bool is_empty(const ScheduledMatmul& s) {
  return s.m == 0 || s.n == 0 || s.k == 0;
}

bool has_bias(const ScheduledMatmul& s) {
  return s.epilogue == MatmulEpilogue::kBiasGelu || s.epilogue == MatmulEpilogue::kBiasGeluKernel;
}

/// Bytes per partition of results and biases under way.
std::uint64_t result_bytes(const TileShape& tile, const ScheduledMatmul& s) {
  return (kStagedResults + (has_bias(s) ? kBiasBuffers : 0)) * storage_bytes(tile.n, s.result_dtype);
}

struct Kept {
  bool lhs = false;  ///< a row strip of A, and the next
  bool rhs = false;  ///< all of B
};

/// What SBUF holds beside two loads of the k body.
Kept what_fits(const CoreSpec& core, const ScheduledMatmul& s) {
  const TileShape tile(core, s.dtype, s.transpose_lhs);
  const std::uint64_t lhs = ceil_div(s.block_m, s.load_m) * slot_bytes(core, tile.k, s.load_m, s.dtype);
  const std::uint64_t rhs = ceil_div(s.block_n, s.load_n) * slot_bytes(core, tile.k, s.load_n, s.dtype);
  const std::uint64_t k_tiles = ceil_div(s.k, tile.k);
  const std::uint64_t strips = kBuffers * k_tiles * lhs + kBuffers * rhs + result_bytes(tile, s);
  const std::uint64_t all = ceil_div(s.n, s.block_n) * k_tiles * rhs;
  Kept kept;
  kept.lhs = strips <= core.sbuf_per_partition.count();
  kept.rhs = kept.lhs && strips + all <= core.sbuf_per_partition.count();
  return kept;
}

/// An m x n group of tiles, each in a PSUM bank of its own, accumulates over all of k; its operands are loaded k tile
/// by k tile, the hoisted one once per iteration of the outer loop.
class Tiled {
 public:
  Tiled(TileWriter& w, const ScheduledMatmul& s, Keep keep)
      : w_(w), s_(s), keep_(keep), parts_(w, s_, 0), tile_(parts_.tile()) {
    check_group();
    reserve();
  }

  void emit() {
    if (s_.rolled) return rolled();
    if (has_bias(s_)) bias_columns_ = columns_of_biases();
    drained_ = 0;
    bias_rows_.clear();
    spread_.clear();
    const std::vector<Range> rows = cut({0, s_.m}, s_.block_m), columns = cut({0, s_.n}, s_.block_n);
    if (keep_ == Keep::kRhs) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        rhs_kept_->begin(i);
        for (const Range& m : rows) group(m, columns[i]);
      }
      return;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (lhs_kept_) lhs_kept_->begin(i);
      if (rhs_kept_ && i == 0) rhs_kept_->begin(0);
      for (const Range& n : columns) group(rows[i], n);
    }
  }

  /// The activation as a kernel of its own, tile by tile from HBM to HBM.
  void launched_gelu() {
    const BufferRing ring = rhs_kept_ ? rhs_kept_->ring() : rhs_rings_[0];
    for (const Range& m : cut({0, s_.m}, s_.block_m)) {
      for (const Range& m_tile : cut(m, tile_.m)) {
        for (const Range& n : cut({0, s_.n}, s_.load_n)) {
          w_.segment().acquire(Engine::kSync, ring);
          const Handle loaded =
              parts_.load(Engine::kSync, Queue::kTiles, m_tile.size, n.size, s_.result_dtype, Traffic::kActivations);
          const Handle done = gelu({m_tile, n, {}}, loaded);
          w_.segment().release(store(m_tile, n, done), ring);
        }
      }
    }
  }

 private:
  struct Bank {
    Range m, n;
    Handle product;
  };
  using Pieces = std::vector<std::pair<Range, LoadedTile*>>;

  void check_group() {
    const std::uint64_t used = ceil_div(s_.block_m, tile_.m) * ceil_div(s_.block_n, tile_.n);
    if (used > parts_.banks()) {
      throw InfeasibleError("block_m x block_n needs " + std::to_string(used) + " PSUM banks, has " +
                            std::to_string(parts_.banks()));
    }
  }

  void reserve() {
    std::uint64_t room = w_.core().sbuf_per_partition.count();
    const std::uint64_t result = storage_bytes(tile_.n, s_.result_dtype), fixed = result_bytes(tile_, s_);
    if (fixed > room) throw InfeasibleError("results do not fit SBUF");
    staged_ = DrainRings(w_.program(), result, kStagedResults, s_.evacuation);
    if (has_bias(s_)) bias_ring_ = w_.program().sbuf_ring(Bytes(result), kBiasBuffers);
    room -= fixed;
    keep_strips(room);
    reserve_body(room);
  }

  void keep_strips(std::uint64_t& room) {
    const Kept fits = keep_ == Keep::kWhatFits ? what_fits(w_.core(), s_) : Kept{};
    const auto keep = [&](std::optional<OperandStream>& kept, OperandStream::Plan plan) {
      kept.emplace(parts_, std::move(plan));
      kept->reserve(room);
    };
    if (keep_ == Keep::kLhs || fits.lhs) keep(lhs_kept_, lhs_plan());
    if (keep_ == Keep::kRhs || fits.rhs) keep(rhs_kept_, rhs_plan(fits.rhs ? s_.n : s_.block_n));
  }

  [[nodiscard]] std::uint64_t lhs_loads() const { return ceil_div(s_.block_m, s_.load_m); }
  [[nodiscard]] std::uint64_t rhs_loads() const { return ceil_div(s_.block_n, s_.load_n); }
  [[nodiscard]] std::uint64_t lhs_slot() const { return slot_bytes(w_.core(), tile_.k, s_.load_m, s_.dtype); }
  [[nodiscard]] std::uint64_t rhs_slot() const { return slot_bytes(w_.core(), tile_.k, s_.load_n, s_.dtype); }

  // Loads of the k body go ahead as far as SBUF has room.
  void reserve_body(std::uint64_t room) {
    const std::uint64_t lhs = lhs_kept_ ? 0 : lhs_loads() * lhs_slot(), rhs = rhs_kept_ ? 0 : rhs_loads() * rhs_slot();
    if (lhs + rhs == 0) return;
    const std::uint64_t ahead = std::min(room / (lhs + rhs), s_.k);
    if (ahead == 0) throw InfeasibleError("the loads of one k tile do not fit SBUF");
    if (lhs > 0) lhs_rings_ = rings(lhs_slot(), ahead * lhs_loads());
    if (rhs > 0) rhs_rings_ = rings(rhs_slot(), ahead * rhs_loads());
  }

  // One queue for the k body, or two in turn, each with buffers of its own.
  [[nodiscard]] std::array<BufferRing, 2> rings(std::uint64_t slot, std::uint64_t depth) {
    std::array<BufferRing, 2> all{};
    for (std::size_t q = 0; q < all.size(); ++q) {
      const std::uint64_t of_queue = takes_turns() ? dealt(depth, q) : q == 0 ? depth : 0;
      if (of_queue > 0) all[q] = w_.program().sbuf_ring(Bytes(slot), static_cast<std::uint32_t>(of_queue));
    }
    return all;
  }

  [[nodiscard]] bool takes_turns() const { return keep_ == Keep::kWhatFits; }

  [[nodiscard]] OperandStream::Plan lhs_plan() const {
    const std::uint64_t passes = tiles_in({0, s_.n}, s_.block_n, tile_.n);
    return plan_of({0, s_.m}, s_.block_m, s_.load_m, tile_.m, passes, Traffic::kActivations);
  }

  /// Of strips of `unit` columns.
  [[nodiscard]] OperandStream::Plan rhs_plan(std::uint64_t unit) const {
    const std::uint64_t passes = tiles_in({0, s_.m}, s_.block_m, tile_.m);
    return plan_of({0, s_.n}, unit, s_.load_n, tile_.n, passes, Traffic::kWeights);
  }

  [[nodiscard]] OperandStream::Plan plan_of(Range all, std::uint64_t unit, std::uint64_t load, std::uint64_t tile,
                                            std::uint64_t passes, Traffic traffic) const {
    OperandStream::Plan plan;
    plan.traffic = traffic;
    plan.dtype = s_.dtype;
    plan.slot = slot_bytes(w_.core(), tile_.k, load, s_.dtype);
    plan.pieces = ceil_div(s_.k, tile_.k) * ceil_div(std::min(unit, all.size), load);
    plan.turns = takes_turns();
    plan.single = s_.buffers == 1;
    plan.units = cut(all, unit).size();
    const Range k_all{0, s_.k};
    const std::uint64_t k_tile = tile_.k;
    plan.unit = [=](std::size_t at) {
      std::vector<OperandStream::Piece> pieces;
      for (const Range& part : cut(cut(all, unit)[at], load)) {
        for (const Range& k : cut(k_all, k_tile)) {
          pieces.push_back({part.begin, k.begin, k.size, part.size, ceil_div(part.size, tile) * passes});
        }
      }
      return pieces;
    };
    return plan;
  }

  [[nodiscard]] static std::uint64_t tiles_in(Range range, std::uint64_t block, std::uint64_t tile) {
    std::uint64_t count = 0;
    for (const Range& part : cut(range, block)) count += ceil_div(part.size, tile);
    return count;
  }

  void group(Range m, Range n) {
    std::vector<Bank> banks;
    for (const Range& m_tile : cut(m, tile_.m)) {
      for (const Range& n_tile : cut(n, tile_.n)) banks.push_back({m_tile, n_tile, {}});
    }
    for (const Range& k : cut({0, s_.k}, tile_.k)) body(m, n, k, banks);
    for (const Bank& bank : banks) drain(bank);
  }

  void body(Range m, Range n, Range k, std::vector<Bank>& banks) {
    std::vector<LoadedTile> own;
    own.reserve(ceil_div(m.size, s_.load_m) + ceil_div(n.size, s_.load_n));
    const Pieces a = pieces(own, m, n, k, true);
    const Pieces b = pieces(own, n, m, k, false);
    for (Bank& bank : banks) {
      if (k.begin == 0) w_.segment().acquire(Engine::kTensor, parts_.bank());
      const MatmulParts::Step step{holding(a, bank.m), holding(b, bank.n), k.size};
      bank.product = parts_.accumulate({&step, 1}, bank.m.size, bank.n.size,
                                       [&](Handle product, const LoadedTile& lhs, const LoadedTile& rhs) {
                                         spend(product, lhs, lhs_kept_, lhs_rings_);
                                         spend(product, rhs, rhs_kept_, rhs_rings_);
                                       });
    }
  }

  // The loads of one k tile of an operand, new or kept.
  Pieces pieces(std::vector<LoadedTile>& own, Range mine, Range other, Range k, bool lhs) {
    Pieces found;
    const std::uint64_t tile = lhs ? tile_.m : tile_.n, others = lhs ? tile_.n : tile_.m;
    std::optional<OperandStream>& kept = lhs ? lhs_kept_ : rhs_kept_;
    for (const Range& part : cut(mine, lhs ? s_.load_m : s_.load_n)) {
      if (kept) {
        found.emplace_back(part, &kept->find(part.begin, k.begin));
        continue;
      }
      const std::size_t queue = takes_turns() ? (lhs ? lhs_turn_ : rhs_turn_)++ % kLoadQueues.size() : 0;
      const LoadQueue by = kLoadQueues[queue];
      w_.segment().acquire(by.engine, (lhs ? lhs_rings_ : rhs_rings_)[queue]);
      const Handle ready = parts_.load(by.engine, by.queue, k.size, part.size, s_.dtype,
                                       lhs ? Traffic::kActivations : Traffic::kWeights);
      own.push_back({.ready = ready,
                     .uses = ceil_div(part.size, tile) * ceil_div(other.size, others),
                     .queue = static_cast<std::uint8_t>(queue)});
      found.emplace_back(part, &own.back());
    }
    return found;
  }

  [[nodiscard]] static LoadedTile* holding(const Pieces& pieces, Range part) {
    for (const auto& [range, tile] : pieces) {
      if (part.begin >= range.begin && part.begin < range.end()) return tile;
    }
    throw InvariantError("every tile lies in a load");
  }

  void spend(Handle product, const LoadedTile& tile, std::optional<OperandStream>& kept,
             const std::array<BufferRing, 2>& rings) {
    if (kept) return kept->spend(product, tile);
    if (tile.uses == 0) w_.segment().release(product, rings[tile.queue]);
  }

  [[nodiscard]] std::vector<std::uint64_t> columns_of_biases() const {
    std::vector<std::uint64_t> columns;
    for (const Range& m : cut({0, s_.m}, s_.block_m)) {
      for (const Range& n : cut({0, s_.n}, s_.block_n)) {
        for (std::uint64_t i = 0; i < ceil_div(m.size, tile_.m); ++i) {
          for (const Range& part : cut(n, tile_.n)) columns.push_back(part.size);
        }
      }
    }
    return columns;
  }

  void drain(const Bank& bank) {
    const Engine engine = parts_.next_drain();
    w_.segment().acquire(engine, staged_.on(engine));
    Handle ready = parts_.copy(engine, bank.m.size, bank.n.size, {bank.product});
    w_.segment().release(ready, parts_.bank());
    if (has_bias(s_)) ready = biased(bank, ready);
    if (s_.epilogue == MatmulEpilogue::kBiasGelu) ready = gelu(bank, ready);
    w_.segment().release(store(bank.m, bank.n, ready), staged_.on(engine));
  }

  // Where both load queues are busy, the scalar engine starts the stores.
  Handle store(Range m, Range n, Handle ready) {
    const Engine engine = takes_turns() ? Engine::kScalar : Engine::kGpSimd;
    Handle stored;
    for (const Range& part : cut(n, s_.store_n)) {
      stored = parts_.store(engine, Queue::kStore, m.size, part.size, s_.result_dtype, s_.result_dtype, {ready});
    }
    return stored;
  }

  // Rows of biases are loaded two tiles ahead and copied to all partitions one tile ahead.
  Handle biased(const Bank& bank, Handle copied) {
    const std::size_t tile = drained_++;
    while (bias_rows_.size() < std::min(bias_columns_.size(), tile + kBiasBuffers)) load_bias();
    while (spread_.size() < std::min(bias_columns_.size(), tile + kBiasBuffers - 1)) spread_bias();
    const Handle sum = w_.run(Engine::kVector,
                              {.op = Op::kBinary,
                               .free = Count::constant(bank.n.size),
                               .dtype = s_.result_dtype,
                               .rows = static_cast<std::uint32_t>(bank.m.size),
                               .second = Space::kSbuf},
                              {copied, spread_[tile]});
    w_.segment().release(sum, bias_ring_);
    return sum;
  }

  void load_bias() {
    w_.segment().acquire(Engine::kGpSimd, bias_ring_);
    bias_rows_.push_back(
        parts_.load(Engine::kGpSimd, Queue::kInput, 1, bias_columns_[bias_rows_.size()], s_.dtype, Traffic::kBiases));
  }

  void spread_bias() {
    const std::size_t tile = spread_.size();
    spread_.push_back(w_.run(Engine::kGpSimd,
                             {.op = Op::kCopy, .free = Count::constant(bias_columns_[tile]), .dtype = s_.dtype},
                             {bias_rows_[tile]}));
  }

  Handle gelu(const Bank& bank, Handle ready) {
    return w_.run(Engine::kScalar,
                  {.op = Op::kActivation,
                   .free = Count::constant(bank.n.size),
                   .dtype = s_.result_dtype,
                   .rows = static_cast<std::uint32_t>(bank.m.size),
                   .function = Function::kGelu},
                  {ready});
  }

  // Hardware loops over m, n and k with one group as their body. Counts of a loop are fixed: all tiles are whole.
  void rolled() {
    if (s_.m % s_.block_m != 0 || s_.n % s_.block_n != 0 || s_.k % tile_.k != 0 || keep_ != Keep::kNothing ||
        has_bias(s_)) {
      throw InfeasibleError("loop=rolled takes whole blocks of a tiled matmul without epilogue");
    }
    SegmentBuilder& segment = w_.segment();
    segment.loop(Count::constant(s_.m / s_.block_m),
                 [&] { segment.loop(Count::constant(s_.n / s_.block_n), [&] { rolled_group(); }); });
  }

  void rolled_group() {
    SegmentBuilder& segment = w_.segment();
    std::vector<Bank> banks;
    for (const Range& m : cut({0, s_.block_m}, tile_.m)) {
      for (const Range& n : cut({0, s_.block_n}, tile_.n)) banks.push_back({m, n, {}});
    }
    segment.wait(Engine::kTensor, parts_.bank().free_slots, static_cast<std::uint32_t>(banks.size()));
    segment.emit(Engine::kTensor, Instruction{});
    const auto exit = segment.loop(Count::constant(s_.k / tile_.k), [&] {
      body({0, s_.block_m}, {0, s_.block_n}, {tile_.k, tile_.k}, banks);  // not the first tile: the banks are taken
    });
    for (Bank& bank : banks) {
      bank.product = exit.on(Engine::kTensor);
      drain(bank);
    }
  }

  TileWriter& w_;
  ScheduledMatmul s_;
  Keep keep_;
  MatmulParts parts_;
  const TileShape& tile_;
  std::optional<OperandStream> lhs_kept_, rhs_kept_;
  DrainRings staged_;
  BufferRing bias_ring_;
  std::array<BufferRing, 2> lhs_rings_, rhs_rings_;
  std::uint64_t lhs_turn_ = 0, rhs_turn_ = 0;
  std::vector<std::uint64_t> bias_columns_;  ///< of every tile, in order of its drain
  std::vector<Handle> bias_rows_, spread_;   ///< biases as loaded, and on all partitions
  std::uint64_t drained_ = 0;                ///< tiles
};

std::uint64_t bias_bytes(const TileShape& tile, const ScheduledMatmul& s) {
  if (!has_bias(s)) return 0;
  std::uint64_t rows = 0, row = 0;
  for (const Range& block : cut({0, s.m}, s.block_m)) rows += ceil_div(block.size, tile.m);
  for (const Range& block : cut({0, s.n}, s.block_n)) {
    for (const Range& part : cut(block, tile.n)) row += storage_bytes(part.size, s.dtype);
  }
  return rows * row * s.batch;
}

void emit(TileWriter& w, const ScheduledMatmul& s, Keep keep) {
  if (is_empty(s)) return;
  const auto kernel = std::make_shared<Tiled>(w, s, keep);
  for (std::uint64_t i = 0; i < s.batch; ++i) kernel->emit();
  if (s.epilogue != MatmulEpilogue::kBiasGeluKernel) return;
  w.then_launch([kernel, batch = s.batch] {
    for (std::uint64_t i = 0; i < batch; ++i) kernel->launched_gelu();
  });
}

MatmulReads reads_of(const CoreSpec& core, const ScheduledMatmul& s, bool keeps_rhs) {
  if (is_empty(s)) return {};
  const TileShape tile(core, s.dtype, s.transpose_lhs);
  const std::uint64_t once = loaded_bytes({0, s.k}, s.k, tile.k, {0, s.n}, s.block_n, s.load_n, s.dtype);
  return {once * s.batch * (keeps_rhs ? 1 : ceil_div(s.m, s.block_m)), bias_bytes(tile, s)};
}

}  // namespace

void tiled_matmul(TileWriter& w, const ScheduledMatmul& s) {
  emit(w, s, Keep::kNothing);
}

MatmulReads tiled_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  return reads_of(core, s, false);
}

void hoisted_loads_matmul(TileWriter& w, const ScheduledMatmul& s) {
  emit(w, s, Keep::kLhs);
}

MatmulReads hoisted_loads_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  return reads_of(core, s, false);
}

void kept_loads_matmul(TileWriter& w, const ScheduledMatmul& s) {
  emit(w, s, Keep::kWhatFits);
}

MatmulReads kept_loads_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  return reads_of(core, s, !is_empty(s) && what_fits(core, s).rhs);
}

void resident_rhs_matmul(TileWriter& w, const ScheduledMatmul& s) {
  emit(w, s, Keep::kRhs);
}

MatmulReads resident_rhs_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  return reads_of(core, s, true);
}

}  // namespace trnsim
