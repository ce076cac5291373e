#include <deque>
#include <optional>

#include "models/mechanism/error.h"
#include "workloads/kernels/matmul_parts.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kFp32Bytes = 4;
// Choices of software: rows of results packed for one store, partial sums on their way to HBM and back, banks for
// transposes.
constexpr std::uint64_t kPacked = 4;
constexpr std::uint64_t kSpilledBuffers = 4;
constexpr std::uint32_t kTransposeBanks = 2;
constexpr std::uint64_t kTurnedAhead = 4;  // banks of transposes that are done before they are needed

constexpr std::size_t index(Axis axis) {
  return static_cast<std::size_t>(axis);
}

/// Three block loops.
struct Blocks {
  explicit Blocks(const ScheduledMatmul& s)
      : order(s.order), of{cut({0, s.m}, s.block_m), cut({0, s.n}, s.block_n), cut({0, s.k}, s.block_k)} {}

  /// Loop level of an axis, 0 = outermost.
  [[nodiscard]] std::size_t level(Axis axis) const {
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), axis) - order.begin());
  }
  [[nodiscard]] std::size_t count(std::size_t level) const { return of[index(order[level])].size(); }

  std::array<Axis, 3> order;
  std::array<std::vector<Range>, 3> of;  ///< by Axis
};

/// How often an operand is loaded. It is not indexed by `missing`: what the loops around that one name is loaded once
/// and stays for all of it; if that is the outermost, every block is loaded where it is used, unless all of it stays.
struct Residency {
  Residency(const Blocks& b, Axis missing_axis, bool all_stays)
      : missing(missing_axis), level(b.level(missing_axis)), whole(all_stays) {}

  /// Units of loads that are in use together.
  [[nodiscard]] std::size_t units(const Blocks& b) const {
    if (whole) return 1;
    if (level == 1) return b.count(0);
    return b.count(0) * b.count(1) * (level == 0 ? b.count(2) : 1);
  }
  [[nodiscard]] std::size_t unit(const Blocks& b, const std::array<std::size_t, 3>& at) const {
    if (whole) return 0;
    if (level == 1) return at[0];
    const std::size_t block = at[0] * b.count(1) + at[1];
    return level == 0 ? block * b.count(2) + at[2] : block;
  }
  /// Blocks of `axis` that unit number `unit` holds.
  [[nodiscard]] std::vector<Range> held(const Blocks& b, Axis axis, std::size_t unit) const {
    const std::vector<Range>& all = b.of[index(axis)];
    const std::size_t at = b.level(axis);
    if (whole || (level == 1 && at == 2)) return all;
    std::array<std::size_t, 3> place{};
    if (level == 1) {
      place[0] = unit;
    } else {
      place = level == 0
                  ? std::array{unit / (b.count(1) * b.count(2)), unit / b.count(2) % b.count(1), unit % b.count(2)}
                  : std::array{unit / b.count(1), unit % b.count(1), std::size_t{0}};
    }
    return {all[place[at]]};
  }
  /// How much of the loads ahead is to be started by the visit at `at`: spread over the first half of a unit's visits.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress(const Blocks& b,
                                                                 const std::array<std::size_t, 3>& at) const {
    if (level == 0) return {1, 1};
    const std::uint64_t all = level == 2 ? b.count(2) : b.count(1) * b.count(2);
    const std::uint64_t visit = level == 2 ? at[2] : at[1] * b.count(2) + at[2];
    return {std::min(2 * (visit + 1), all), all};
  }
  /// Times that the whole operand is read.
  [[nodiscard]] std::uint64_t reads(const Blocks& b) const { return !whole && level == 0 ? b.count(0) : 1; }

  Axis missing;
  std::size_t level;
  bool whole;
};

class Blocked {
 public:
  Blocked(TileWriter& w, const ScheduledMatmul& s)
      : w_(w), s_(s), blocks_(s), parts_(w, s, s.transpose_lhs ? kTransposeBanks : 0), tile_(parts_.tile()) {
    plan();
  }

  void emit() {
    lhs_unit_ = rhs_unit_ = std::nullopt;
    turned_ = 0;
    for (std::size_t i = 0; i < blocks_.count(0); ++i) {
      for (std::size_t j = 0; j < blocks_.count(1); ++j) {
        for (std::size_t l = 0; l < blocks_.count(2); ++l) visit({i, j, l});
      }
    }
  }

 private:
  using Place = std::pair<std::uint64_t, std::uint64_t>;  ///< of a result tile: first row, first column

  // SBUF: at least one unit of each operand and the partial sums that live together; then second buffers, A's first.
  // Partial sums that do not fit go through HBM.
  void plan() {
    std::uint64_t room = w_.core().sbuf_per_partition.count();
    packs_ = s_.store_n > tile_.n;
    if (packs_) {
      const std::uint64_t packed = s_.store_n * kFp32Bytes;
      if (kPacked * packed > room) throw InfeasibleError("packed results do not fit SBUF");
      pack_ring_ = w_.program().sbuf_ring(Bytes(packed), kPacked);
      room -= kPacked * packed;
    }
    sum_slot_ = storage_bytes(tile_.n, s_.accumulator_dtype);
    const std::uint64_t live = live_sums();
    plan_operands(false);
    if (blocks_.of[index(Axis::kM)].size() == 1 && blocks_.level(Axis::kN) == 0) {
      plan_operands(true);
      if (lhs_->least() + 2 * rhs_->least() + live * sum_slot_ > room) plan_operands(false);
    }
    const std::uint64_t operands = lhs_->least() + rhs_->least();
    std::uint64_t kept = live;
    if (operands + live * sum_slot_ > room) {
      const std::uint64_t need = operands + kSpilledBuffers * sum_slot_;
      if (need > room || blocks_.level(Axis::kK) == 2) throw InfeasibleError("the blocks do not fit SBUF");
      kept = (room - need) / sum_slot_;
      new_ring_ = w_.program().sbuf_ring(Bytes(sum_slot_), kSpilledBuffers / 2);
      spill_ring_ = w_.program().sbuf_ring(Bytes(sum_slot_), kSpilledBuffers / 2);
      room -= kSpilledBuffers * sum_slot_;
    }
    kept_ = kept;
    room -= kept * sum_slot_;
    room -= rhs_->least();
    lhs_->reserve(room);
    room += rhs_->least();
    rhs_->reserve(room);
    const std::uint64_t more = std::min(live == kept ? live : 0, room / sum_slot_);
    if (kept + more > 0) sum_ring_ = w_.program().sbuf_ring(Bytes(sum_slot_), static_cast<std::uint32_t>(kept + more));
  }

  // Result tiles whose sums live at the same time: those that the loops inside k's go over, and the block.
  [[nodiscard]] std::uint64_t live_sums() const {
    const auto tiles = [&](Axis axis, std::uint64_t tile) {
      std::uint64_t all = 0, most = 0;
      for (const Range& block : blocks_.of[index(axis)]) {
        all += ceil_div(block.size, tile);
        most = std::max(most, ceil_div(block.size, tile));
      }
      return blocks_.level(axis) > blocks_.level(Axis::kK) ? all : most;
    };
    return tiles(Axis::kM, tile_.m) * tiles(Axis::kN, tile_.n);
  }

  void plan_operands(bool lhs_whole) {
    lhs_residency_ = Residency(blocks_, Axis::kN, lhs_whole);
    rhs_residency_ = Residency(blocks_, Axis::kM, false);
    lhs_.emplace(parts_, operand(true, lhs_residency_));
    rhs_.emplace(parts_, operand(false, rhs_residency_));
  }

  [[nodiscard]] OperandStream::Plan operand(bool lhs, const Residency& residency) {
    OperandStream::Plan plan;
    plan.turns = true;
    plan.traffic = lhs ? Traffic::kActivations : Traffic::kWeights;
    plan.dtype = s_.dtype;
    plan.single = s_.buffers == 1;
    plan.units = residency.units(blocks_);
    plan.unit = [=, this](std::size_t unit) { return pieces(lhs, residency, unit); };
    const auto largest = pieces(lhs, residency, 0);  // the first block of an axis is its largest
    plan.pieces = largest.size();
    plan.slot = slot_bytes(w_.core(), largest[0].rows, largest[0].columns, s_.dtype);
    return plan;
  }

  std::vector<OperandStream::Piece> pieces(bool lhs, const Residency& residency, std::size_t unit) const {
    const Axis mine = lhs ? Axis::kM : Axis::kN, other = lhs ? Axis::kN : Axis::kM;
    const std::uint64_t tile = lhs ? tile_.m : tile_.n, other_tile = lhs ? tile_.n : tile_.m;
    std::uint64_t passes = 0;
    for (const Range& block :
         residency.level == 0 && !residency.whole ? residency.held(blocks_, other, unit) : blocks_.of[index(other)]) {
      passes += ceil_div(block.size, other_tile);
    }
    const bool turned = lhs && s_.transpose_lhs;
    std::vector<OperandStream::Piece> all;
    for (const Range& block : residency.held(blocks_, mine, unit)) {
      for (const Range& part : cut(block, turned ? tile_.m : lhs ? s_.load_m : s_.load_n)) {
        for (const Range& k_block : residency.held(blocks_, Axis::kK, unit)) {
          for (const Range& k : cut(k_block, tile_.k)) {
            const std::uint64_t uses = ceil_div(part.size, tile) * passes;
            all.push_back({part.begin, k.begin, turned ? part.size : k.size, turned ? k.size : part.size, uses});
          }
        }
      }
    }
    return all;
  }

  void visit(const std::array<std::size_t, 3>& at) {
    begin_units(at);
    const auto block = [&](Axis axis) { return blocks_.of[index(axis)][at[blocks_.level(axis)]]; };
    const Range m = block(Axis::kM), n = block(Axis::kN), k = block(Axis::kK);
    for (const Range& m_tile : cut(m, tile_.m)) {
      for (const Range& store : cut(n, s_.store_n)) {
        std::vector<Handle> sums;
        for (const Range& n_tile : cut(store, tile_.n)) sums.push_back(result_tile(m_tile, n_tile, k));
        if (k.end() == s_.k) finish(m_tile, store, sums);
      }
    }
  }

  void begin_units(const std::array<std::size_t, 3>& at) {
    const auto begin = [&](OperandStream& stream, const Residency& residency, std::optional<std::size_t>& open) {
      const std::size_t unit = residency.unit(blocks_, at);
      if (open != unit) stream.begin(unit);
      open = unit;
    };
    begin(*rhs_, rhs_residency_, rhs_unit_);
    const std::optional<std::size_t> before = lhs_unit_;
    begin(*lhs_, lhs_residency_, lhs_unit_);
    if (before != lhs_unit_) unit_results_ = 0;
    for (const auto& [stream, residency] : {std::pair{&*rhs_, &rhs_residency_}, std::pair{&*lhs_, &lhs_residency_}}) {
      const auto [part, of_parts] = residency->progress(blocks_, at);
      stream->ahead(part, of_parts);
    }
    if (!s_.transpose_lhs) return;
    for (LoadedTile* tile : lhs_->take_fresh()) {
      tile->raw = true;
      to_turn_.push_back(tile);
    }
  }

  // One bank accumulates over the k tiles of the block; adding it to the sum in SBUF empties it.
  Handle result_tile(Range m, Range n, Range k) {
    std::vector<MatmulParts::Step> steps;
    for (const Range& part : cut(k, tile_.k)) {
      LoadedTile& a = lhs_->find(load_of(m, Axis::kM, s_.transpose_lhs ? tile_.m : s_.load_m), part.begin);
      if (s_.transpose_lhs) turn_until(a);
      steps.push_back({&a, &rhs_->find(load_of(n, Axis::kN, s_.load_n), part.begin), part.size});
    }
    w_.segment().acquire(Engine::kTensor, parts_.bank());
    const Handle product =
        parts_.accumulate(steps, m.size, n.size, [&](Handle done, const LoadedTile& a, const LoadedTile& b) {
          lhs_->spend(done, a);
          rhs_->spend(done, b);
        });
    if (s_.transpose_lhs) turn_some();
    return add(m, n, k, product);
  }

  // First element of the load that holds `tile`: loads are cut from the begin of a block.
  [[nodiscard]] std::uint64_t load_of(Range tile, Axis axis, std::uint64_t load) const {
    const std::vector<Range>& blocks = blocks_.of[index(axis)];
    const std::uint64_t begin = tile.begin / blocks[0].size * blocks[0].size;
    return begin + (tile.begin - begin) / load * load;
  }

  // Transposes as many tiles as share a bank, and copies them back in place.
  void turn_group() {
    const std::size_t most = std::max<std::uint64_t>(1, tile_.n / tile_.m);
    w_.segment().acquire(Engine::kTensor, parts_.transpose_bank());
    std::vector<LoadedTile*> group;
    Handle turned;
    while (group.size() < most && !to_turn_.empty()) {
      group.push_back(to_turn_.front());
      to_turn_.pop_front();
      turned = w_.transpose(tile_.m, tile_.k, 1, {group.back()->ready}, s_.dtype);
    }
    // The vector engine has the sums to add.
    const Handle copied = w_.run(
        s_.evacuation.value_or(Engine::kScalar),
        {.op = Op::kCopy, .free = Count::constant(tile_.m * group.size()), .source = Space::kPsum, .dtype = s_.dtype},
        {turned});
    w_.segment().release(copied, parts_.transpose_bank());
    turned_ += group.size();
    for (LoadedTile* tile : group) {
      tile->ready = copied;
      tile->raw = false;
    }
  }

  void turn_until(const LoadedTile& tile) {
    while (tile.raw) turn_group();
  }

  // Tiles are turned between the products of others, a unit ahead, or some groups if units are small.
  void turn_some() {
    const std::uint64_t results = lhs_->uses() / ceil_div(s_.block_k, tile_.k);
    const std::uint64_t used = lhs_->before() + lhs_->pieces() * ++unit_results_ / std::max<std::uint64_t>(1, results);
    const std::uint64_t group = std::max<std::uint64_t>(1, tile_.n / tile_.m);
    const std::uint64_t ahead = std::max(lhs_->pieces(), kTurnedAhead * group);
    while (to_turn_.size() >= group && turned_ + group <= used + ahead) turn_group();
  }

  Handle add(Range m, Range n, Range k, Handle product) {
    const bool first = k.begin == 0;
    const Place place{m.begin, n.begin};
    Sum& sum = sums_[place];
    if (first) open_sum(sum, n);
    if (!first && sum.spills) reload(sum, m, n);
    const Handle added = w_.run(Engine::kVector,
                                {.op = Op::kBinary,
                                 .free = Count::constant(n.size),
                                 .source = Space::kPsum,
                                 .dtype = Dtype::kFp32,
                                 .rows = static_cast<std::uint32_t>(m.size),
                                 .second = Space::kSbuf},
                                {product, sum.ready});
    w_.segment().release(added, parts_.bank());
    if (sum.spills && k.end() < s_.k) spill(sum, m, n, added);
    return added;
  }

  struct Sum {
    Handle ready;
    BufferRing ring;
    bool spills = false;
  };

  void open_sum(Sum& sum, Range n) {
    sum.spills = spill_ring_.has_value() && open_sums_ >= kept_;
    if (!sum.spills) ++open_sums_;
    sum.ring = sum.spills ? new_ring_ : sum_ring_;
    w_.segment().acquire(Engine::kVector, sum.ring);
    sum.ready = w_.run(Engine::kVector,
                       {.op = Op::kMemset, .free = Count::constant(n.size), .dtype = s_.accumulator_dtype}, {});
  }

  void spill(Sum& sum, Range m, Range n, Handle added) {
    sum.ready = parts_.store(Engine::kGpSimd, Queue::kStore, m.size, n.size, s_.accumulator_dtype, s_.accumulator_dtype,
                             {added});
    w_.segment().release(sum.ready, sum.ring);
  }

  void reload(Sum& sum, Range m, Range n) {
    sum.ring = *spill_ring_;
    w_.segment().acquire(Engine::kGpSimd, sum.ring);
    sum.ready = parts_.load(Engine::kGpSimd, Queue::kExpertBiases, m.size, n.size, s_.accumulator_dtype,
                            Traffic::kActivations, {sum.ready});
  }

  // Stores wider than a bank are packed in FP32 by the scalar engine and cast by the transfer; others go as they are.
  void finish(Range m, Range n, const std::vector<Handle>& sums) {
    std::vector<BufferRing> rings;
    for (const Range& part : cut(n, tile_.n)) {
      const auto sum = sums_.find({m.begin, part.begin});
      rings.push_back(sum->second.ring);
      if (!sum->second.spills) --open_sums_;
      sums_.erase(sum);
    }
    Handle ready = sums.back();
    if (packs_) {
      w_.segment().acquire(Engine::kScalar, pack_ring_);
      std::size_t i = 0;
      for (const Range& part : cut(n, tile_.n)) {
        ready = w_.run(Engine::kScalar,
                       {.op = Op::kCopy,
                        .free = Count::constant(part.size),
                        .dtype = Dtype::kFp32,
                        .rows = static_cast<std::uint32_t>(m.size)},
                       {sums[i]});
        w_.segment().release(ready, rings[i++]);
      }
    }
    const Handle stored = parts_.store(Engine::kGpSimd, Queue::kStore, m.size, n.size,
                                       packs_ ? Dtype::kFp32 : s_.accumulator_dtype, s_.result_dtype, {ready});
    if (packs_) return w_.segment().release(stored, pack_ring_);
    for (const BufferRing& ring : rings) w_.segment().release(stored, ring);
  }

  TileWriter& w_;
  const ScheduledMatmul& s_;
  Blocks blocks_;
  MatmulParts parts_;
  const TileShape& tile_;
  std::optional<OperandStream> lhs_, rhs_;
  Residency lhs_residency_{blocks_, Axis::kN, false}, rhs_residency_{blocks_, Axis::kM, false};
  std::optional<std::size_t> lhs_unit_, rhs_unit_;
  std::deque<LoadedTile*> to_turn_;
  std::uint64_t unit_results_ = 0;  ///< result tiles of this unit of A
  std::uint64_t turned_ = 0;        ///< tiles of A
  BufferRing pack_ring_, sum_ring_;
  BufferRing new_ring_;                   ///< sums that will go through HBM, before they do so first
  std::optional<BufferRing> spill_ring_;  ///< the same when they come back
  std::uint64_t sum_slot_ = 0;
  std::uint64_t kept_ = 0;       ///< sums that stay in SBUF while others go through HBM
  std::uint64_t open_sums_ = 0;  ///< of those that stay
  bool packs_ = false;
  std::map<Place, Sum> sums_;
};

bool is_empty(const ScheduledMatmul& s) {
  return s.m == 0 || s.n == 0 || s.k == 0;
}

}  // namespace

void blocked_matmul(TileWriter& w, const ScheduledMatmul& s) {
  if (is_empty(s)) return;
  Blocked kernel(w, s);
  for (std::uint64_t i = 0; i < s.batch; ++i) kernel.emit();
}

MatmulReads blocked_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s) {
  if (is_empty(s)) return {};
  const Blocks blocks(s);
  const std::uint64_t once = loaded_bytes({0, s.k}, s.block_k, TileShape(core, s.dtype, s.transpose_lhs).k, {0, s.n},
                                          s.block_n, s.load_n, s.dtype);
  return {once * Residency(blocks, Axis::kM, false).reads(blocks) * s.batch, 0};
}

}  // namespace trnsim
