#include <optional>

#include "models/mechanism/error.h"
#include "workloads/kernels/matmul_parts.h"

namespace trnsim {
namespace {

enum class Hoist : std::uint8_t { kNothing, kLhs, kRhs };

constexpr std::uint64_t kStagedResults = 4;  // result tiles on their way out: a choice of software
constexpr std::uint64_t kBiasBuffers = 2;

/// An m x n group of tiles, each in a PSUM bank of its own, accumulates over all of k; its operands are loaded k tile
/// by k tile, the hoisted one once per iteration of the outer loop.
class Tiled {
 public:
  Tiled(TileWriter& w, const ScheduledMatmul& s, Hoist hoist)
      : w_(w), s_(s), hoist_(hoist), parts_(w, s, 0), tile_(parts_.tile()) {
    check_group();
    reserve();
  }

  void emit() {
    if (s_.rolled) return rolled();
    if (has_bias()) bias_columns_ = columns_of_biases();
    drained_ = 0;
    spread_.clear();
    const std::vector<Range> outer = hoist_ == Hoist::kRhs ? cut({0, s_.n}, s_.block_n) : cut({0, s_.m}, s_.block_m);
    const std::vector<Range> inner = hoist_ == Hoist::kRhs ? cut({0, s_.m}, s_.block_m) : cut({0, s_.n}, s_.block_n);
    for (std::size_t i = 0; i < outer.size(); ++i) {
      if (strip_) strip_->begin(i);
      for (const Range& in : inner) {
        if (hoist_ == Hoist::kRhs) {
          group(in, outer[i]);
        } else {
          group(outer[i], in);
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

  [[nodiscard]] bool has_bias() const {
    return s_.epilogue == MatmulEpilogue::kBiasGelu || s_.epilogue == MatmulEpilogue::kBiasGeluKernel;
  }

  void reserve() {
    std::uint64_t room = w_.core().sbuf_per_partition.count();
    const std::uint64_t result = storage_bytes(tile_.n, s_.result_dtype);
    const std::uint64_t fixed = kStagedResults * result + (has_bias() ? kBiasBuffers * result : 0);
    if (fixed > room) throw InfeasibleError("results do not fit SBUF");
    staged_ = w_.program().sbuf_ring(Bytes(result), kStagedResults);
    if (has_bias()) bias_ring_ = w_.program().sbuf_ring(Bytes(result), kBiasBuffers);
    room -= fixed;
    if (hoist_ != Hoist::kNothing) {
      strip_.emplace(parts_, strip_plan());
      strip_->reserve(room);
    }
    reserve_body(room);
  }

  // Loads of the k body go ahead as far as SBUF has room.
  void reserve_body(std::uint64_t room) {
    lhs_slot_ = hoist_ == Hoist::kLhs ? 0 : parts_.slot(tile_.k, s_.load_m, s_.dtype);
    rhs_slot_ = hoist_ == Hoist::kRhs ? 0 : parts_.slot(tile_.k, s_.load_n, s_.dtype);
    const std::uint64_t lhs_loads = ceil_div(s_.block_m, s_.load_m), rhs_loads = ceil_div(s_.block_n, s_.load_n);
    const std::uint64_t ahead = room / (lhs_loads * lhs_slot_ + rhs_loads * rhs_slot_);
    if (ahead == 0) throw InfeasibleError("the loads of one k tile do not fit SBUF");
    const auto ring = [&](std::uint64_t slot, std::uint64_t loads) {
      const std::uint64_t depth = std::min(ahead, std::max<std::uint64_t>(1, s_.k)) * loads;
      return w_.program().sbuf_ring(Bytes(slot), static_cast<std::uint32_t>(depth));
    };
    if (lhs_slot_ > 0) lhs_ring_ = ring(lhs_slot_, lhs_loads);
    if (rhs_slot_ > 0) rhs_ring_ = ring(rhs_slot_, rhs_loads);
  }

  [[nodiscard]] OperandStream::Plan strip_plan() {
    const bool lhs = hoist_ == Hoist::kLhs;
    const std::uint64_t block = lhs ? s_.block_m : s_.block_n, load = lhs ? s_.load_m : s_.load_n;
    const Range all{0, lhs ? s_.m : s_.n};
    const std::uint64_t tile = lhs ? tile_.m : tile_.n;
    const std::uint64_t passes =
        lhs ? tiles_in({0, s_.n}, s_.block_n, tile_.n) : tiles_in({0, s_.m}, s_.block_m, tile_.m);
    return {.engine = Engine::kGpSimd,
            .queue = lhs ? Queue::kInput : Queue::kExpertBiases,
            .traffic = lhs ? Traffic::kActivations : Traffic::kWeights,
            .dtype = s_.dtype,
            .slot = parts_.slot(tile_.k, load, s_.dtype),
            .pieces = ceil_div(s_.k, tile_.k) * ceil_div(std::min(block, all.size), load),
            .buffers = s_.buffers,
            .units = cut(all, block).size(),
            .unit = [=, this](std::size_t unit) {
              std::vector<OperandStream::Piece> pieces;
              for (const Range& k : cut({0, s_.k}, tile_.k)) {
                for (const Range& part : cut(cut(all, block)[unit], load)) {
                  pieces.push_back({part.begin, k.begin, k.size, part.size, ceil_div(part.size, tile) * passes});
                }
              }
              return pieces;
            }};
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
                                         spend(product, lhs, Hoist::kLhs, lhs_ring_);
                                         spend(product, rhs, Hoist::kRhs, rhs_ring_);
                                       });
    }
  }

  // The loads of one k tile of an operand, new or out of the strip.
  Pieces pieces(std::vector<LoadedTile>& own, Range mine, Range other, Range k, bool lhs) {
    Pieces found;
    const std::uint64_t tile = lhs ? tile_.m : tile_.n, others = lhs ? tile_.n : tile_.m;
    for (const Range& part : cut(mine, lhs ? s_.load_m : s_.load_n)) {
      if (hoist_ == (lhs ? Hoist::kLhs : Hoist::kRhs)) {
        found.emplace_back(part, &strip_->find(part.begin, k.begin));
        continue;
      }
      w_.segment().acquire(Engine::kSync, lhs ? lhs_ring_ : rhs_ring_);
      const Handle ready = parts_.load(Engine::kSync, Queue::kTiles, k.size, part.size, s_.dtype,
                                       lhs ? Traffic::kActivations : Traffic::kWeights);
      own.push_back({.ready = ready, .uses = ceil_div(part.size, tile) * ceil_div(other.size, others)});
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

  void spend(Handle product, const LoadedTile& tile, Hoist which, BufferRing ring) {
    if (hoist_ == which) return strip_->spend(product, tile);
    if (tile.uses == 0) w_.segment().release(product, ring);
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
    w_.segment().acquire(engine, staged_);
    Handle ready = parts_.copy(engine, bank.m.size, bank.n.size, {bank.product});
    w_.segment().release(ready, parts_.bank());
    if (has_bias()) ready = biased(bank, ready);
    if (s_.epilogue == MatmulEpilogue::kBiasGelu) ready = gelu(bank, ready);
    Handle stored;
    for (const Range& part : cut(bank.n, s_.store_n)) {
      stored = parts_.store(Engine::kGpSimd, Queue::kStore, bank.m.size, part.size, s_.result_dtype, s_.result_dtype,
                            {ready});
    }
    w_.segment().release(stored, staged_);
  }

  // The bias of the next tile is on its way before this tile's store is started on the same engine.
  Handle biased(const Bank& bank, Handle copied) {
    if (spread_.empty()) spread_.push_back(spread_bias(bank.n.size));
    const Handle spread = spread_.back();
    if (const std::uint64_t next = ++drained_; next < bias_columns_.size()) {
      spread_.push_back(spread_bias(bias_columns_[next]));
    }
    const Handle sum = w_.run(Engine::kVector,
                              {.op = Op::kBinary,
                               .free = Count::constant(bank.n.size),
                               .dtype = s_.result_dtype,
                               .rows = static_cast<std::uint32_t>(bank.m.size),
                               .second = Space::kSbuf},
                              {copied, spread});
    w_.segment().release(sum, bias_ring_);
    return sum;
  }

  // One row of [1 x columns], copied to all partitions.
  Handle spread_bias(std::uint64_t columns) {
    w_.segment().acquire(Engine::kGpSimd, bias_ring_);
    const Handle row = parts_.load(Engine::kGpSimd, Queue::kInput, 1, columns, s_.dtype, Traffic::kBiases);
    return w_.run(Engine::kGpSimd, {.op = Op::kCopy, .free = Count::constant(columns), .dtype = s_.dtype}, {row});
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
    if (s_.m % s_.block_m != 0 || s_.n % s_.block_n != 0 || s_.k % tile_.k != 0 || hoist_ != Hoist::kNothing ||
        has_bias()) {
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
  const ScheduledMatmul& s_;
  Hoist hoist_;
  MatmulParts parts_;
  const TileShape& tile_;
  std::optional<OperandStream> strip_;
  BufferRing staged_, bias_ring_, lhs_ring_, rhs_ring_;
  std::uint64_t lhs_slot_ = 0, rhs_slot_ = 0;
  std::vector<std::uint64_t> bias_columns_;  ///< of every tile, in order of its drain
  std::vector<Handle> spread_;               ///< biases on all partitions
  std::uint64_t drained_ = 0;                ///< tiles
};

bool is_empty(const ScheduledMatmul& s) {
  return s.m == 0 || s.n == 0 || s.k == 0;
}

MatmulReads reads_of(const CoreSpec& core, const ScheduledMatmul& s, bool keeps_rhs) {
  if (is_empty(s)) return {};
  const TileShape tile(core, s.dtype);
  const std::uint64_t once = loaded_bytes({0, s.k}, s.k, tile.k, {0, s.n}, s.block_n, s.load_n, s.dtype);
  MatmulReads reads{once * s.batch * (keeps_rhs ? 1 : ceil_div(s.m, s.block_m)), 0};
  if (s.epilogue != MatmulEpilogue::kBiasGelu && s.epilogue != MatmulEpilogue::kBiasGeluKernel) return reads;
  std::uint64_t rows = 0;
  for (const Range& block : cut({0, s.m}, s.block_m)) rows += ceil_div(block.size, tile.m);
  std::uint64_t row = 0;
  for (const Range& block : cut({0, s.n}, s.block_n)) {
    for (const Range& part : cut(block, tile.n)) row += storage_bytes(part.size, s.dtype);
  }
  reads.biases = rows * row * s.batch;
  return reads;
}

void emit(TileWriter& w, const ScheduledMatmul& s, Hoist hoist) {
  if (is_empty(s)) return;
  Tiled kernel(w, s, hoist);
  for (std::uint64_t i = 0; i < s.batch; ++i) kernel.emit();
}

}  // namespace

void tiled_matmul(TileWriter& w, const ScheduledMatmul& s) {
  emit(w, s, Hoist::kNothing);
}

MatmulReads tiled_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  return reads_of(core, s, false);
}

void hoisted_loads_matmul(TileWriter& w, const ScheduledMatmul& s) {
  emit(w, s, Hoist::kLhs);
}

MatmulReads hoisted_loads_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  return reads_of(core, s, false);
}

void resident_rhs_matmul(TileWriter& w, const ScheduledMatmul& s) {
  emit(w, s, Hoist::kRhs);
}

MatmulReads resident_rhs_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  return reads_of(core, s, true);
}

}  // namespace trnsim
