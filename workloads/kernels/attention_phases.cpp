#include <algorithm>
#include <array>
#include <vector>

#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kGroup = 4;               // query tiles whose steps are issued together
constexpr std::uint64_t kMerged = 8;              // query tiles that share their small instructions, three phases
constexpr std::uint64_t kStored = 8;              // query tiles of one store of results, fused
constexpr std::uint64_t kTurnsPerBank = 4;        // transposes that one copy takes out of PSUM
constexpr std::uint64_t kTransferBytes = 524288;  // scores move in transfers of at least this, fewer if tiles are short
constexpr std::uint64_t kFp32Bytes = 4;
constexpr std::uint64_t kScoreShare = 3;  // rows of scores take at most one part of so many of SBUF

/// One head at a time. Three phases: scores, softmax and values, each over all query tiles, scores and weights through
/// HBM between them. Fused: all in one loop over groups of query tiles.
class Phases {
 public:
  Phases(TileWriter& w, const AttentionCall& call) : steps_(w), call_(call) {
    check_whole_blocks(steps_, call);
    queries_ = call.shape.queries / steps_.tile();
    keys_ = call.shape.keys / steps_.tile();
    blocks_ = call.shape.keys / steps_.block();
    row_bytes_ = call.shape.keys * kFp32Bytes;
    element_ = storage_bytes(1, call.dtype);
    const std::uint64_t rows =
        std::max<std::uint64_t>(2, w.core().sbuf_per_partition.count() / kScoreShare / row_bytes_);
    group_ = std::min({fused() ? kGroup : kMerged, fused() ? rows : rows / 2, queries_});
    w.program().reserve_sbuf(Bytes((call.shape.queries + call.shape.keys) * element_ + row_bytes_));
    banks_ = steps_.banks(kGroup + 2);  // those that a group of scores keeps, and two more
    results_ = steps_.banks(2);
    rows_ = steps_.buffers(row_bytes_, static_cast<std::uint32_t>(std::min(rows, 2 * group_)));
    turned_rows_ = steps_.buffers(row_bytes_, 2);
  }

  void head() {
    identity_ =
        steps_.load(Engine::kSync, Queue::kSmall, {.rows = steps_.tile(), .run_bytes = steps_.tile() * kFp32Bytes}, {});
    q_ = operand(call_.shape.queries, Traffic::kActivations);
    k_ = operand(call_.shape.keys, Traffic::kKvRead);
    const Handle v = operand(call_.shape.keys, Traffic::kKvRead);
    for (std::uint64_t key = 0; key < keys_; key += kTurnsPerBank) {
      turn_bank(std::min(kTurnsPerBank, keys_ - key), call_.dtype, v);
    }
    if (fused()) {
      fused_loop();
    } else {
      score_phase();
      softmax_phase();
      value_phase();
    }
  }

 private:
  struct Group {
    std::uint64_t first = 0, tiles = 0;
    std::vector<Handle> exponentials;  ///< by tile and block
    std::vector<bool> kept;            ///< by tile and block: scores stay in PSUM
  };

  [[nodiscard]] bool fused() const { return call_.schedule == AttentionSchedule::kFused; }
  [[nodiscard]] Group group_at(std::uint64_t first) const {
    return {first, std::min(group_, queries_ - first), {}, {}};
  }
  [[nodiscard]] std::uint64_t per_transfer() const {
    return std::clamp<std::uint64_t>(kTransferBytes / (steps_.tile() * row_bytes_), 1, group_);
  }

  Handle operand(std::uint64_t tokens, Traffic traffic) {
    return steps_.load(Engine::kGpSimd, Queue::kInput,
                       {.rows = call_.shape.head_dim,
                        .run_bytes = tokens * element_,
                        .traffic = traffic,
                        .generation = DescriptorGeneration::kSoftware},
                       {});
  }

  Handle turn_bank(std::uint64_t count, Dtype dtype, Handle ready) {
    steps_.segment().acquire(Engine::kTensor, banks_);
    Handle turned;
    for (std::uint64_t i = 0; i < count; ++i) {
      turned = steps_.turn(dtype, steps_.tile(), steps_.tile(), {ready, identity_});
    }
    steps_.segment().release(steps_.drain(count * steps_.tile(), {turned}), banks_);
    return turned;
  }

  Handle scores() {
    steps_.segment().acquire(Engine::kTensor, banks_);
    return steps_.multiply(call_.dtype, call_.shape.head_dim, steps_.tile(), steps_.block(), {q_, k_});
  }

  /// Transposed weights of one query tile.
  struct Turned {
    Handle last;                   ///< the last transpose
    std::array<Handle, 2> copied;  ///< out of PSUM, by both engines
  };
  /// Transposes P of one query tile, ready block by block.
  Turned turn_row(const Handle* ready) {
    steps_.segment().acquire(Engine::kTensor, turned_rows_);
    Turned turned;
    for (std::uint64_t b = 0; b < blocks_; ++b) {
      turned.last = turn_bank(steps_.block() / steps_.tile(), call_.softmax_dtype, ready[b]);
    }
    turned.copied = steps_.drained();
    return turned;
  }
  Handle multiply(const Turned& turned) {
    Handle product;
    for (std::uint64_t key = 0; key < keys_; ++key) {
      product = steps_.multiply(call_.softmax_dtype, steps_.tile(), steps_.tile(), call_.shape.head_dim,
                                {turned.copied[0], turned.copied[1]});
    }
    steps_.segment().release(product, turned_rows_);
    return product;
  }

  Handle store_results(std::uint64_t tiles, AttentionSteps::After after) {
    return steps_.store(Engine::kGpSimd, Queue::kStore,
                        {.rows = steps_.tile(),
                         .run_bytes = call_.shape.head_dim * element_,
                         .runs = tiles,
                         .casts = fused() && call_.dtype != Dtype::kFp32},
                        after);
  }

  // --- fused ---

  void fused_loop() {
    std::uint64_t unsaved = 0;
    for (std::uint64_t q = 0; q < queries_; q += group_) {
      Group group = group_at(q);
      score_group(group);
      const Handle scaled = value_group(group);
      unsaved += group.tiles;
      if (unsaved < kStored && q + group_ < queries_) continue;
      store_results(unsaved, {scaled});
      unsaved = 0;
    }
  }

  // The last block of a query tile stays in PSUM until its exponential, the others are copied.
  void score_group(Group& group) {
    std::vector<Handle> blocks;
    Handle maximum;
    for (std::uint64_t i = 0; i < group.tiles * blocks_; ++i) {
      const bool keeps = i % blocks_ == blocks_ - 1;
      if (i % blocks_ == 0) steps_.segment().acquire(Engine::kTensor, rows_);
      Handle block = scores();
      if (!keeps) {
        block = steps_.drain(steps_.block(), {block});
        steps_.segment().release(block, banks_);
      }
      group.kept.push_back(keeps);
      maximum = steps_.reduce(steps_.block(), keeps ? Space::kPsum : Space::kSbuf, Dtype::kFp32, {block});
      blocks.push_back(block);
    }
    maximum = steps_.reduce(group.tiles * blocks_, Space::kSbuf, Dtype::kFp32, {maximum});
    exponentials(group, maximum);
  }

  void exponentials(Group& group, Handle maximum) {
    for (std::uint64_t i = 0; i < group.tiles * blocks_; ++i) {
      const bool keeps = !group.kept.empty() && group.kept[i];
      const Handle done =
          steps_.exponential(steps_.block(), keeps ? Space::kPsum : Space::kSbuf, Dtype::kFp32, false, {maximum});
      if (keeps) steps_.segment().release(done, banks_);
      group.exponentials.push_back(done);
    }
  }

  // Row sums and their reciprocals come after the copies, so that vector, in order, does not wait for exponentials.
  Handle value_group(const Group& group) {
    steps_.segment().acquire(Engine::kTensor, results_);
    std::vector<Handle> products;
    std::vector<Handle> turned;
    Turned next = turn_row(group.exponentials.data());
    for (std::uint64_t t = 0; t < group.tiles; ++t) {
      const Turned now = next;
      if (t + 1 < group.tiles) next = turn_row(&group.exponentials[(t + 1) * blocks_]);
      products.push_back(multiply(now));
      turned.push_back(now.last);
    }
    sums(group, turned);
    Handle scaled;
    for (const Handle& product : products) {
      scaled = steps_.scale(call_.shape.head_dim, Space::kPsum, Dtype::kFp32, {product});
    }
    steps_.segment().release(scaled, results_);
    return scaled;
  }

  /// Row sums of a group and their reciprocals. `read`: who else reads the rows, by tile; they are free after both.
  void sums(const Group& group, const std::vector<Handle>& read) {
    for (std::uint64_t i = 0; i < group.tiles * blocks_; ++i) {
      const Handle other = read.empty() ? Handle{} : read[i / blocks_];
      const Handle sum = steps_.reduce(steps_.block(), Space::kSbuf, Dtype::kFp32, {group.exponentials[i], other});
      if (!read.empty() && i % blocks_ == blocks_ - 1) steps_.segment().release(sum, rows_);
    }
    steps_.reduce(group.tiles * blocks_, Space::kSbuf, Dtype::kFp32, {});
    steps_.reciprocal(group.tiles, {});
  }

  // --- three phases ---

  [[nodiscard]] AttentionSteps::Tile rows_of(std::uint64_t tiles) const {
    return {.rows = steps_.tile(), .run_bytes = row_bytes_, .runs = tiles};
  }

  void score_phase() {
    saved_.clear();
    for (std::uint64_t q = 0; q < queries_; q += per_transfer()) {
      const std::uint64_t tiles = std::min(per_transfer(), queries_ - q);
      for (std::uint64_t i = 0; i < tiles * blocks_; ++i) {
        if (i % blocks_ == 0) steps_.segment().acquire(Engine::kTensor, rows_);
        steps_.segment().release(steps_.drain(steps_.block(), {scores()}), banks_);
      }
      saved_.push_back(save(tiles, {steps_.drained()[0], steps_.drained()[1]}));
    }
  }

  Handle save(std::uint64_t tiles, AttentionSteps::After after) {
    const Handle stored = steps_.store(Engine::kScalar, Queue::kSpill, rows_of(tiles), after);
    steps_.segment().signal(stored, rows_.free_slots, static_cast<std::uint32_t>(tiles));
    return stored;
  }

  /// Rows of the query tiles of transfer number `index`, as saved before.
  Handle reload(std::size_t index, std::uint64_t tiles) {
    for (std::uint64_t i = 0; i < tiles; ++i) steps_.segment().acquire(Engine::kSync, rows_);
    return steps_.load(Engine::kSync, Queue::kTiles, rows_of(tiles), {saved_[index]});
  }

  // Scores of the next group come in, up to its exponentials, before this one is summed, scaled and saved.
  void softmax_phase() {
    std::vector<Group> groups;
    for (std::uint64_t q = 0; q < queries_; q += group_) groups.push_back(group_at(q));
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g == 0) softmax_front(groups[g]);
      if (g + 1 < groups.size()) softmax_front(groups[g + 1]);
      softmax_back(groups[g]);
    }
  }

  void softmax_front(Group& group) {
    Handle maximum;
    for (std::uint64_t t = 0; t < group.tiles; t += per_transfer()) {
      const std::uint64_t tiles = std::min(per_transfer(), group.tiles - t);
      const Handle loaded = reload((group.first + t) / per_transfer(), tiles);
      for (std::uint64_t i = 0; i < tiles * blocks_; ++i) {
        maximum = steps_.reduce(steps_.block(), Space::kSbuf, Dtype::kFp32, {loaded});
      }
    }
    maximum = steps_.reduce(group.tiles * blocks_, Space::kSbuf, Dtype::kFp32, {maximum});
    exponentials(group, maximum);
  }

  void softmax_back(const Group& group) {
    sums(group, {});
    for (std::uint64_t t = 0; t < group.tiles; t += per_transfer()) {
      const std::uint64_t tiles = std::min(per_transfer(), group.tiles - t);
      Handle scaled;
      for (std::uint64_t i = 0; i < tiles * blocks_; ++i) {
        scaled = steps_.scale(steps_.block(), Space::kSbuf, Dtype::kFp32, {});
      }
      saved_[(group.first + t) / per_transfer()] = save(tiles, {scaled});
    }
  }

  void value_phase() {
    Turned next = turn_saved(0);
    for (std::uint64_t q = 0; q < queries_; ++q) {
      const Turned now = next;
      if (q + 1 < queries_) next = turn_saved(q + 1);
      if (q % kGroup == 0) steps_.segment().acquire(Engine::kTensor, results_);
      const Handle copied = steps_.drain(call_.shape.head_dim, {multiply(now)});
      if (q % kGroup != kGroup - 1 && q + 1 < queries_) continue;
      steps_.segment().release(copied, results_);
      store_results(q % kGroup + 1, {steps_.drained()[0], steps_.drained()[1]});
    }
  }

  /// P of query tile `q`, fetched with those that share its transfer.
  Turned turn_saved(std::uint64_t q) {
    if (q % per_transfer() == 0) {
      const std::uint64_t tiles = std::min(per_transfer(), queries_ - q);
      fetched_.assign(blocks_, reload(q / per_transfer(), tiles));
    }
    const Turned turned = turn_row(fetched_.data());
    steps_.segment().release(turned.last, rows_);
    return turned;
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  std::uint64_t queries_ = 0, keys_ = 0, blocks_ = 0;  ///< tiles of queries, tiles of keys, blocks of keys
  std::uint64_t row_bytes_ = 0, element_ = 0, group_ = 0;
  BufferRing banks_, results_, rows_, turned_rows_;
  Handle identity_, q_, k_;
  std::vector<Handle> fetched_;  ///< P of the transfer that is being read, by block
  std::vector<Handle> saved_;    ///< by transfer of query tiles: who wrote them to HBM last
};

}  // namespace

void attention_phases(TileWriter& w, const AttentionCall& call) {
  Phases phases(w, call);
  for (std::uint64_t head = 0; head < call.heads; ++head) phases.head();
}

}  // namespace trnsim
