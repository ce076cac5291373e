#include <optional>

#include "models/mechanism/error.h"
#include "workloads/kernels/matmul_parts.h"

namespace trnsim {
namespace {

// Choices of software: result tiles on their way out, copies of row blocks and activations, banks for transposes.
constexpr std::uint64_t kStagedResults = 4;
constexpr std::uint64_t kBuffers = 2;
constexpr std::uint32_t kTransposeBanks = 2;
constexpr std::uint64_t kOperandsOfTheSum = 2;

bool is_empty(const ScheduledMatmul& s) {
  return s.m == 0 || s.n == 0 || s.k == 0;
}

std::uint64_t pieces_of(std::uint64_t extent, std::uint64_t block, std::uint64_t part) {
  std::uint64_t count = 0;
  for (const Range& range : cut({0, extent}, block)) count += ceil_div(range.size, part);
  return count;
}

/// How long B stays: all of it, a column block while the rows pass, or only for the block of rows at hand.
enum class RhsStay : std::uint8_t { kAll, kBlock, kPass };

/// SBUF per partition: what is kept of both operands, by what fits.
struct StripPlan {
  StripPlan(const CoreSpec& core, const ScheduledMatmul& s) : tile(core, s.dtype, true) {
    const auto bytes = [&](std::uint64_t elements) { return storage_bytes(elements, s.dtype); };
    norms = s.prologue == MatmulPrologue::kAddRmsNorm;
    if (norms && s.block_m > tile.m) throw InfeasibleError("a prologue takes one row tile at a time as block_m");
    row_slot = bytes(s.load_k);
    rows_of_block = ceil_div(s.block_m, tile.m) * ceil_div(s.k, s.load_k);
    turned_slot = bytes(tile.m);
    turned_of_block = ceil_div(s.block_m, tile.m) * ceil_div(s.k, tile.k);
    rhs_slot = bytes(s.load_n);
    room = core.sbuf_per_partition.count();
    take(kStagedResults * bytes(tile.n));
    if (norms) take((kOperandsOfTheSum + kBuffers + 1) * kBuffers * bytes(s.k));
    take(kBuffers * (rows_of_block * row_slot + turned_of_block * turned_slot));
    const std::uint64_t k_tiles = ceil_div(s.k, tile.k);
    const std::uint64_t all_turned = k_tiles * pieces_of(s.m, s.block_m, tile.m);
    const std::uint64_t rhs_all = k_tiles * pieces_of(s.n, s.block_n, s.load_n);
    const std::uint64_t rhs_block = k_tiles * ceil_div(s.block_n, s.load_n);
    keeps_lhs = !norms && fits(all_turned * turned_slot + rhs_all * rhs_slot);
    stay = fits(rhs_all * rhs_slot) ? RhsStay::kAll : fits(rhs_block * rhs_slot) ? RhsStay::kBlock : RhsStay::kPass;
    if (keeps_lhs) take(all_turned * turned_slot);
    turned = keeps_lhs ? all_turned : kBuffers * turned_of_block;
    rhs = stay == RhsStay::kAll ? rhs_all : stay == RhsStay::kBlock ? rhs_block : room / rhs_slot;
    if (rhs == 0) throw InfeasibleError("one load of B does not fit SBUF");
    take(rhs * rhs_slot);
  }

  [[nodiscard]] bool fits(std::uint64_t bytes) const { return bytes <= room; }
  void take(std::uint64_t bytes) {
    if (!fits(bytes)) throw InfeasibleError("the strips of this matmul do not fit SBUF");
    room -= bytes;
  }

  TileShape tile;
  bool norms = false;
  bool keeps_lhs = false;  ///< A stays transposed for the whole product
  RhsStay stay = RhsStay::kAll;
  std::uint64_t row_slot = 0, rows_of_block = 0;
  std::uint64_t turned_slot = 0, turned_of_block = 0, turned = 0;
  std::uint64_t rhs_slot = 0, rhs = 0;
  std::uint64_t room = 0;  ///< left
};

/// Row blocks of A are loaded as they lie, transposed tile by tile on the tensor engine, and meet column blocks of B.
class Strip {
 public:
  Strip(TileWriter& w, const ScheduledMatmul& s)
      : w_(w), s_(s), plan_(w.core(), s), parts_(w, s, kTransposeBanks), tile_(plan_.tile) {
    const auto ring = [&](std::uint64_t slot, std::uint64_t depth) {
      return w_.program().sbuf_ring(Bytes(slot), static_cast<std::uint32_t>(depth));
    };
    turned_ring_ = ring(plan_.turned_slot, plan_.turned);
    rhs_ring_ = ring(plan_.rhs_slot, plan_.rhs);
    row_ring_ = ring(plan_.row_slot, kBuffers * plan_.rows_of_block);
    if (plan_.norms) {
      norm_ring_ = ring(storage_bytes(s_.k, s_.dtype), kBuffers);
      sum_ring_ = ring(storage_bytes(s_.k, s_.dtype), kOperandsOfTheSum * kBuffers);
    }
    result_rings_ = DrainRings(w_.program(), storage_bytes(tile_.n, s_.dtype), kStagedResults, s_.evacuation);
    if (s_.epilogue == MatmulEpilogue::kSoftmax) plan_scores();
  }

  void product() {
    turned_.clear();
    rhs_.clear();
    scores_.clear();
    const std::vector<Range> rows = cut({0, s_.m}, s_.block_m), columns = cut({0, s_.n}, s_.block_n);
    if (plan_.norms) {
      for (const Range& m : rows) {
        normalise(m);
        for (const Range& n : columns) visit(m, n, n.end() == s_.n);
      }
      return;
    }
    for (const Range& n : columns) {
      for (const Range& m : rows) visit(m, n, m.end() == s_.m);
    }
    if (s_.epilogue == MatmulEpilogue::kSoftmax) softmax();
  }

 private:
  using Place = std::pair<std::uint64_t, std::uint64_t>;
  struct Copied {
    Handle ready;
    BufferRing ring;
  };
  struct Score {
    Handle ready;
    Handle maximum;
    bool spilled = false;
  };

  [[nodiscard]] std::uint64_t m_tiles() const { return pieces_of(s_.m, s_.block_m, tile_.m); }
  [[nodiscard]] std::uint64_t n_tiles() const { return pieces_of(s_.n, s_.block_n, tile_.n); }

  void visit(Range m, Range n, bool last) {
    if (!plan_.keeps_lhs || n.begin == 0) turn(m, n, last);
    if (plan_.stay == RhsStay::kPass) return pass(m, n);
    if (rhs_.find({n.begin, 0}) == rhs_.end()) load_block(n);
    for (const Range& m_tile : cut(m, tile_.m)) {
      for (const Range& store : cut(n, s_.store_n)) {
        std::vector<Copied> copied;
        for (const Range& n_tile : cut(store, tile_.n)) {
          w_.segment().acquire(Engine::kTensor, parts_.bank());
          const auto steps = steps_of(m_tile, n_tile, n);
          copied.push_back(drain(m_tile, n_tile, parts_.accumulate(steps, m_tile.size, n_tile.size, spender())));
        }
        finish(m_tile, store, copied);
      }
    }
    if (last && plan_.stay == RhsStay::kBlock) rhs_.clear();
  }

  std::vector<MatmulParts::Step> steps_of(Range m_tile, Range n_tile, Range n) {
    std::vector<MatmulParts::Step> steps;
    const std::uint64_t load = n.begin + (n_tile.begin - n.begin) / s_.load_n * s_.load_n;
    for (const Range& k : cut({0, s_.k}, tile_.k)) {
      steps.push_back({&turned_.at({m_tile.begin, k.begin}), &rhs_.at({load, k.begin}), k.size});
    }
    return steps;
  }

  MatmulParts::Spend spender() {
    return [this](Handle product, const LoadedTile& a, const LoadedTile& b) {
      if (a.uses == 0) w_.segment().release(product, turned_ring_);
      if (b.uses == 0) w_.segment().release(product, rhs_ring_);
    };
  }

  // B's k tiles feed every bank of the block as they arrive.
  void pass(Range m, Range n) {
    struct Bank {
      Range m, n;
      Handle product;
    };
    std::vector<Bank> banks;
    for (const Range& m_tile : cut(m, tile_.m)) {
      for (const Range& n_tile : cut(n, tile_.n)) banks.push_back({m_tile, n_tile, {}});
    }
    if (banks.size() > parts_.banks()) throw InfeasibleError("a block's results do not fit PSUM");
    for (const Range& k : cut({0, s_.k}, tile_.k)) {
      for (const Range& piece : cut(n, s_.load_n)) {
        load_rhs(piece, k, ceil_div(piece.size, tile_.n) * ceil_div(m.size, tile_.m));
      }
      for (Bank& bank : banks) {
        if (k.begin == 0) w_.segment().acquire(Engine::kTensor, parts_.bank());
        const std::uint64_t load = n.begin + (bank.n.begin - n.begin) / s_.load_n * s_.load_n;
        const MatmulParts::Step step{&turned_.at({bank.m.begin, k.begin}), &rhs_.at({load, k.begin}), k.size};
        bank.product = parts_.accumulate({&step, 1}, bank.m.size, bank.n.size, spender());
      }
    }
    rhs_.clear();
    std::vector<Copied> copied;
    for (const Bank& bank : banks) {
      copied.push_back(drain(bank.m, bank.n, bank.product));
      const Range store{n.begin + (bank.n.begin - n.begin) / s_.store_n * s_.store_n, 0};
      const std::uint64_t end = std::min(store.begin + s_.store_n, n.end());
      if (bank.n.end() < end) continue;
      finish(bank.m, {store.begin, end - store.begin}, copied);
      copied.clear();
    }
  }

  void load_block(Range n) {
    for (const Range& piece : cut(n, s_.load_n)) {
      for (const Range& k : cut({0, s_.k}, tile_.k)) load_rhs(piece, k, ceil_div(piece.size, tile_.n) * m_tiles());
    }
  }

  void load_rhs(Range piece, Range k, std::uint64_t uses) {
    w_.segment().acquire(Engine::kSync, rhs_ring_);
    const Handle ready = parts_.load(Engine::kSync, Queue::kTiles, k.size, piece.size, s_.dtype, Traffic::kWeights);
    rhs_[{piece.begin, k.begin}] = {.ready = ready, .uses = uses};
  }

  // Loads a row block, unless a prologue has made it, and transposes it: as many tiles at a time as share a bank.
  void turn(Range m, Range n, bool last) {
    const std::uint64_t uses = plan_.keeps_lhs ? n_tiles() : ceil_div(n.size, tile_.n);
    const std::size_t most = std::max<std::uint64_t>(1, tile_.n / tile_.m);
    std::vector<LoadedTile*> group;
    Handle turned;
    for (const Range& m_tile : cut(m, tile_.m)) {
      for (const Range& strip : cut({0, s_.k}, plan_.norms ? s_.k : s_.load_k)) {
        const Handle rows = plan_.norms ? normed_ : load_rows(m_tile, strip);
        for (const Range& k : cut(strip, tile_.k)) {
          if (group.empty()) w_.segment().acquire(Engine::kTensor, parts_.transpose_bank());
          w_.segment().acquire(Engine::kTensor, turned_ring_);  // it frees them itself: nobody else takes one first
          turned = w_.transpose(m_tile.size, k.size, 1, {rows}, s_.dtype);
          LoadedTile& tile = turned_[{m_tile.begin, k.begin}];
          tile = {.ready = {}, .uses = uses};
          group.push_back(&tile);
          if (group.size() == most) put_back(group, turned);
        }
        if (!plan_.norms) {
          w_.segment().release(turned, row_ring_);
        } else if (last) {
          w_.segment().release(turned, norm_ring_);
        }
      }
    }
    if (!group.empty()) put_back(group, turned);
  }

  Handle load_rows(Range m_tile, Range strip) {
    w_.segment().acquire(Engine::kSync, row_ring_);
    return parts_.load(Engine::kSync, Queue::kTiles, m_tile.size, strip.size, s_.dtype, Traffic::kActivations);
  }

  void put_back(std::vector<LoadedTile*>& group, Handle turned) {
    const Engine engine = parts_.next_drain();
    const Handle copied = parts_.copy(engine, tile_.k, tile_.m * group.size(), {turned});
    w_.segment().release(copied, parts_.transpose_bank());
    for (LoadedTile* tile : group) tile->ready = copied;
    group.clear();
  }

  Copied drain(Range m, Range n, Handle product) {
    const Engine engine = parts_.next_drain();
    const bool scores = s_.epilogue == MatmulEpilogue::kSoftmax;
    const bool spills = scores && m.begin / tile_.m >= kept_rows_;
    const BufferRing ring = scores && !spills ? score_ring_ : result_rings_.on(engine);
    w_.segment().acquire(engine, ring);
    const Handle copied = parts_.copy(engine, m.size, n.size, {product});
    w_.segment().release(copied, parts_.bank());
    if (scores) keep_score(m, n, spills, {copied, ring});
    return {copied, ring};
  }

  void finish(Range m, Range n, const std::vector<Copied>& copied) {
    if (s_.epilogue == MatmulEpilogue::kSoftmax) return;
    const Handle other = copied.size() > 1 ? copied[copied.size() - 2].ready : Handle{};
    const Handle stored = parts_.store(Engine::kGpSimd, Queue::kStore, m.size, n.size, s_.dtype, s_.result_dtype,
                                       {copied.back().ready, other});
    for (const Copied& tile : copied) w_.segment().release(stored, tile.ring);
  }

  Handle whole(Engine engine, Op op, std::uint64_t free, std::initializer_list<Handle> after,
               Function function = Function::kNone) {
    const bool two = op == Op::kBinary;
    return w_.run(engine,
                  {.op = op,
                   .free = Count::constant(free),
                   .dtype = s_.dtype,
                   .second = two ? Space::kSbuf : Space::kNone,
                   .function = function,
                   .reads_scalar = op == Op::kTensorScalar || function == Function::kExp},
                  after);
  }

  // rms_norm(x + z) * gamma of one row block: add, square, row sum, scale and epsilon, inverse root, two products.
  void normalise(Range m) {
    if (!gamma_.valid()) {
      const Handle row = parts_.load(Engine::kGpSimd, Queue::kInput, 1, s_.k, s_.dtype, Traffic::kBiases);
      gamma_ = whole(Engine::kGpSimd, Op::kCopy, s_.k, {row});
    }
    const auto load = [&] {
      w_.segment().acquire(Engine::kSync, sum_ring_);
      return parts_.load(Engine::kSync, Queue::kTiles, m.size, s_.k, s_.dtype, Traffic::kActivations);
    };
    const Handle x = load(), z = load();
    const Handle sum = whole(Engine::kVector, Op::kBinary, s_.k, {x, z});
    const Handle squares = whole(Engine::kScalar, Op::kActivation, s_.k, {sum}, Function::kSquare);
    const Handle total = whole(Engine::kVector, Op::kReduce, s_.k, {squares});
    const Handle mean = whole(Engine::kVector, Op::kTensorScalar, 1, {total});
    const Handle root = whole(Engine::kScalar, Op::kActivation, 1, {mean}, Function::kRsqrt);
    const Handle scaled = whole(Engine::kVector, Op::kTensorScalar, s_.k, {root});
    w_.segment().signal(scaled, sum_ring_.free_slots, kOperandsOfTheSum);
    w_.segment().acquire(Engine::kVector, norm_ring_);
    normed_ = whole(Engine::kVector, Op::kBinary, s_.k, {scaled, gamma_});
  }

  // Scores of the first row tiles stay in SBUF until their softmax; those of the others go to HBM and come back.
  void plan_scores() {
    const std::uint64_t slot = storage_bytes(tile_.n, s_.dtype);
    const std::uint64_t buffers = plan_.room / slot, flow = 2 * n_tiles();
    if (buffers < flow) throw InfeasibleError("two rows of scores do not fit SBUF");
    kept_rows_ = buffers >= m_tiles() * n_tiles() ? m_tiles() : (buffers - flow) / n_tiles();
    const auto ring = [&](std::uint64_t depth) {
      return w_.program().sbuf_ring(Bytes(slot), static_cast<std::uint32_t>(depth));
    };
    if (kept_rows_ > 0) score_ring_ = ring(kept_rows_ * n_tiles());
    if (kept_rows_ < m_tiles()) fetch_ring_ = ring(flow);
  }

  void keep_score(Range m, Range n, bool spills, const Copied& copied) {
    Score& score = scores_[{m.begin, n.begin}];
    score.ready = copied.ready;
    score.maximum = whole(Engine::kVector, Op::kReduce, n.size, {copied.ready});
    score.spilled = spills;
    if (!score.spilled) return;
    score.ready = parts_.store(Engine::kGpSimd, Queue::kStage, m.size, n.size, s_.dtype, s_.dtype, {score.maximum});
    w_.segment().release(score.ready, copied.ring);
  }

  void softmax() {
    for (const Range& block : cut({0, s_.m}, s_.block_m)) {
      for (const Range& m : cut(block, tile_.m)) softmax_row(m);
    }
  }

  void softmax_row(Range m) {
    std::vector<std::pair<Range, Handle>> tiles;
    for (const Range& block : cut({0, s_.n}, s_.block_n)) {
      for (const Range& n : cut(block, tile_.n)) tiles.emplace_back(n, fetched(m, n));
    }
    const Handle maximum = whole(Engine::kVector, Op::kReduce, tiles.size(), {});
    for (auto& [n, ready] : tiles)
      ready = whole(Engine::kScalar, Op::kActivation, n.size, {ready, maximum}, Function::kExp);
    Handle sum;
    for (const auto& [n, ready] : tiles) sum = whole(Engine::kVector, Op::kReduce, n.size, {ready});
    sum = whole(Engine::kVector, Op::kReduce, tiles.size(), {sum});
    const Handle inverse = whole(Engine::kVector, Op::kReciprocal, 1, {sum});
    for (auto& [n, ready] : tiles) ready = whole(Engine::kVector, Op::kTensorScalar, n.size, {ready, inverse});
    std::size_t at = 0;
    for (const Range& block : cut({0, s_.n}, s_.block_n)) {
      for (const Range& store : cut(block, s_.store_n)) {
        const std::uint64_t count = ceil_div(store.size, tile_.n);
        at += count;
        const Handle stored = parts_.store(Engine::kGpSimd, Queue::kStore, m.size, store.size, s_.dtype,
                                           s_.result_dtype, {tiles[at - 1].second});
        const bool spilled = scores_.at({m.begin, store.begin}).spilled;
        w_.segment().signal(stored, (spilled ? fetch_ring_ : score_ring_).free_slots,
                            static_cast<std::uint32_t>(count));
      }
    }
  }

  Handle fetched(Range m, Range n) {
    const Score& score = scores_.at({m.begin, n.begin});
    if (!score.spilled) return score.ready;
    w_.segment().acquire(Engine::kSync, fetch_ring_);
    return parts_.load(Engine::kSync, Queue::kTiles, m.size, n.size, s_.dtype, Traffic::kActivations, {score.ready});
  }

  TileWriter& w_;
  const ScheduledMatmul& s_;
  StripPlan plan_;
  MatmulParts parts_;
  TileShape tile_;
  BufferRing turned_ring_, rhs_ring_, row_ring_, norm_ring_, sum_ring_, score_ring_, fetch_ring_;
  DrainRings result_rings_;
  std::map<Place, LoadedTile> turned_, rhs_;
  std::map<Place, Score> scores_;
  std::uint64_t kept_rows_ = 0;  ///< row tiles whose scores stay in SBUF
  Handle gamma_, normed_;
};

}  // namespace

void strip_matmul(TileWriter& w, const ScheduledMatmul& s) {
  if (is_empty(s)) return;
  Strip kernel(w, s);
  for (std::uint64_t i = 0; i < s.batch; ++i) kernel.product();
}

MatmulReads strip_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  if (is_empty(s)) return {};
  const StripPlan plan(core, s);
  const std::uint64_t once = loaded_bytes({0, s.k}, s.k, plan.tile.k, {0, s.n}, s.block_n, s.load_n, s.dtype) * s.batch;
  const std::uint64_t passes = plan.stay != RhsStay::kPass ? 1 : ceil_div(s.m, s.block_m);
  return {once * passes, plan.norms ? storage_bytes(s.k, s.dtype) : 0};
}

}  // namespace trnsim
