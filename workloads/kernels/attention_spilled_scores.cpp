#include <algorithm>
#include <array>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kKeyParts = 2;          // parts of the keys, one after the other
constexpr std::uint64_t kResidentPercent = 40;  // of SBUF for Q; what does not fit is saved and fetched again
constexpr std::uint32_t kBlocks = 8;            // blocks of scores on their way to HBM
constexpr std::uint32_t kLoads = 3;             // loads that wait for their transposes
constexpr std::uint32_t kRows = 2;              // query tiles with all their scores in SBUF
constexpr std::uint32_t kTurned = 16;           // transposed tiles of weights
constexpr std::uint64_t kFp32Bytes = 4;

/// All heads together, FP32: Q and K transposed, all scores to HBM with their block maxima, then the softmax and the
/// products with V of each query tile.
class SpilledScores {
 public:
  SpilledScores(TileWriter& w, const AttentionCall& call) : steps_(w), call_(call) {
    check_whole_blocks(steps_, call);
    queries_ = call.shape.queries / steps_.tile();
    keys_ = call.shape.keys / steps_.tile();
    blocks_ = call.shape.keys / steps_.block();
    if (blocks_ % kKeyParts != 0) throw InfeasibleError("schedule=spilled_scores takes an even number of key blocks");
    element_ = storage_bytes(1, call.dtype);
    head_bytes_ = call.shape.queries * element_;
    resident_ = std::min(call.heads, w.core().sbuf_per_partition.count() * kResidentPercent / 100 / head_bytes_);
    scores_ = steps_.banks(3);
    turned_ = steps_.tiles_in_banks(3);
    results_ = steps_.banks(2);
    share_sbuf();
  }

  void write() {
    turn_queries();
    for (std::uint64_t part = 0; part < kKeyParts; ++part) {
      const std::uint64_t tiles = call_.kv_heads * keys_ / kKeyParts;
      for (std::uint64_t t = 0; t < tiles; t += tiles_per_load())
        turn_tiles(std::min(tiles_per_load(), tiles - t), Traffic::kKvRead);
      for (std::uint64_t head = 0; head < call_.heads; ++head) score_head(head);
    }
    load_values();
    softmax();
  }

 private:
  // The softmax takes the place of the scores.
  void share_sbuf() {
    const std::uint64_t row = call_.shape.keys * element_;
    const std::uint64_t keys = call_.kv_heads * row / kKeyParts;
    const std::uint64_t scoring = (resident_ + 1) * head_bytes_ + keys + (kLoads * kKeyParts + kBlocks) * block_bytes();
    const std::uint64_t values = call_.kv_heads * keys_ * call_.shape.head_dim * element_;
    steps_.writer().program().reserve_sbuf(
        Bytes(std::max(scoring, values + kRows * row + kTurned * steps_.tile() * element_)));
    operands_ = steps_.buffers(0, kLoads);
    fetched_ = steps_.buffers(0, 1);
    saved_blocks_ = steps_.buffers(0, kBlocks);
    rows_ = steps_.buffers(0, kRows);
    turned_tiles_ = steps_.buffers(0, kTurned);
  }

  [[nodiscard]] std::uint64_t block_bytes() const { return steps_.block() * kFp32Bytes; }
  /// Tiles of [128 tokens x head_dim] that one load brings.
  [[nodiscard]] std::uint64_t tiles_per_load() const {
    return std::max<std::uint64_t>(1, kKeyParts * block_bytes() / (call_.shape.head_dim * element_));
  }

  Handle load_tiles(std::uint64_t tiles, Traffic traffic) {
    return steps_.load(
        Engine::kSync, Queue::kTiles,
        {.rows = steps_.tile(), .run_bytes = tiles * call_.shape.head_dim * element_, .traffic = traffic}, {});
  }

  void turn_tiles(std::uint64_t tiles, Traffic traffic) {
    steps_.segment().acquire(Engine::kSync, operands_);
    const Handle loaded = load_tiles(tiles, traffic);
    Handle turned;
    for (std::uint64_t t = 0; t < tiles; ++t) {
      steps_.segment().acquire(Engine::kTensor, turned_);
      turned = steps_.turn(call_.dtype, steps_.tile(), call_.shape.head_dim, {loaded});
      steps_.segment().release(steps_.drain(steps_.tile(), {turned}), turned_);
    }
    steps_.segment().release(turned, operands_);
  }

  // Heads whose Q does not stay are written back transposed.
  void turn_queries() {
    const std::uint64_t tiles = call_.heads * queries_;
    for (std::uint64_t t = 0; t < tiles; t += tiles_per_load()) {
      const std::uint64_t count = std::min(tiles_per_load(), tiles - t);
      turn_tiles(count, Traffic::kActivations);
      if (t < resident_ * queries_) continue;
      q_saved_ = steps_.store(Engine::kGpSimd, Queue::kStore,
                              {.rows = call_.shape.head_dim, .run_bytes = count * steps_.tile() * element_},
                              {steps_.drained()[0], steps_.drained()[1]});
    }
  }

  /// Scores of one head with the keys of one part. Q that did not stay is fetched again.
  void score_head(std::uint64_t head) {
    Handle q = steps_.drained()[0];
    const bool fetches = head >= resident_;
    if (fetches) {
      steps_.segment().acquire(Engine::kSync, fetched_);
      q = steps_.load(Engine::kSync, Queue::kTiles, {.rows = call_.shape.head_dim, .run_bytes = head_bytes_},
                      {q_saved_});
    }
    Handle product;
    for (std::uint64_t i = 0; i < queries_ * blocks_ / kKeyParts; ++i) product = score_block(q);
    if (fetches) steps_.segment().release(product, fetched_);
  }

  Handle score_block(Handle q) {
    steps_.segment().acquire(Engine::kTensor, scores_);
    const Handle product =
        steps_.multiply(call_.dtype, call_.shape.head_dim, steps_.tile(), steps_.block(), {q, steps_.drained()[1]});
    // Scaled on scalar, as the engines' busy shares in the profile say.
    steps_.segment().acquire(Engine::kScalar, saved_blocks_);
    const Handle scaled = steps_.writer().run(
        Engine::kScalar,
        {.op = Op::kCopy, .free = Count::constant(steps_.block()), .source = Space::kPsum, .dtype = Dtype::kFp32},
        {product});
    steps_.segment().release(scaled, scores_);
    maximum_ = steps_.reduce(steps_.block(), Space::kSbuf, Dtype::kFp32, {scaled});
    scores_saved_ =
        steps_.store(Engine::kGpSimd, Queue::kStore, {.rows = steps_.tile(), .run_bytes = block_bytes()}, {maximum_});
    steps_.segment().release(scores_saved_, saved_blocks_);
    return product;
  }

  void load_values() {
    // The first loads of V wait for room: K and Q are no longer needed once the last scores are there.
    const std::uint64_t tiles = call_.kv_heads * keys_;
    for (std::uint64_t t = 0; t < tiles; t += tiles_per_load()) {
      v_ = steps_.load(Engine::kSync, Queue::kTiles,
                       {.rows = steps_.tile(),
                        .run_bytes = std::min(tiles_per_load(), tiles - t) * call_.shape.head_dim * element_,
                        .traffic = Traffic::kKvRead},
                       {maximum_});
    }
  }

  using Copies = std::vector<std::array<Handle, 2>>;  ///< of both engines, by tile of keys

  // Exponentials of a query tile come before the transposes of the one before; products with V one block after theirs.
  void softmax() {
    const std::uint64_t tiles = call_.heads * queries_;
    std::vector<Handle> next = exponentials();
    Copies behind;
    for (std::uint64_t t = 0; t < tiles; ++t) {
      std::vector<Handle> weights = next;
      if (t + 1 < tiles) next = exponentials();
      scale(weights);
      for (std::uint64_t b = 0; b < blocks_; ++b) {
        const Copies turned = turn_block(weights[b]);
        if (t + b > 0) multiply(t * blocks_ + b - 1, behind);
        behind = turned;
        if (b == blocks_ - 1) steps_.segment().release(turned_last_, rows_);
      }
    }
    multiply(tiles * blocks_ - 1, behind);
  }

  std::vector<Handle> exponentials() {
    steps_.segment().acquire(Engine::kSync, rows_);
    std::vector<Handle> blocks;
    for (std::uint64_t b = 0; b < blocks_; ++b) {
      blocks.push_back(steps_.load(Engine::kSync, Queue::kTiles, {.rows = steps_.tile(), .run_bytes = block_bytes()},
                                   {scores_saved_}));
    }
    const Handle negated = steps_.scale(1, Space::kSbuf, Dtype::kFp32, {maximum_});
    for (Handle& block : blocks) {
      block = steps_.exponential(steps_.block(), Space::kSbuf, Dtype::kFp32, false, {block, negated});
    }
    return blocks;
  }

  void scale(std::vector<Handle>& weights) {
    for (const Handle& block : weights) steps_.reduce(steps_.block(), Space::kSbuf, Dtype::kFp32, {block});
    steps_.reciprocal(1, {});
    for (Handle& block : weights) block = steps_.scale(steps_.block(), Space::kSbuf, Dtype::kFp32, {});
  }

  Copies turn_block(Handle weights) {
    Copies copies;
    for (std::uint64_t t = 0; t < steps_.block() / steps_.tile(); ++t) {
      steps_.segment().acquire(Engine::kTensor, turned_);
      steps_.segment().acquire(Engine::kTensor, turned_tiles_);
      turned_last_ = steps_.turn(call_.softmax_dtype, steps_.tile(), steps_.tile(), {weights});
      steps_.segment().release(steps_.drain(steps_.tile(), {turned_last_}), turned_);
      copies.push_back(steps_.drained());
    }
    return copies;
  }

  /// Products of block `i` of all.
  void multiply(std::uint64_t i, const Copies& copies) {
    if (i % blocks_ == 0) steps_.segment().acquire(Engine::kTensor, results_);
    Handle product;
    for (const auto& copied : copies) {
      product = steps_.multiply(call_.softmax_dtype, steps_.tile(), steps_.tile(), call_.shape.head_dim,
                                {v_, copied[0], copied[1]});
      steps_.segment().release(product, turned_tiles_);
    }
    if (i % blocks_ == blocks_ - 1) result(product);
  }

  void result(Handle product) {
    const Handle copied = steps_.drain(call_.shape.head_dim, {product});
    steps_.segment().release(copied, results_);
    steps_.store(Engine::kGpSimd, Queue::kStore, {.rows = steps_.tile(), .run_bytes = call_.shape.head_dim * element_},
                 {copied});
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  std::uint64_t queries_ = 0, keys_ = 0, blocks_ = 0, element_ = 0, head_bytes_ = 0;
  std::uint64_t resident_ = 0;  ///< heads whose Q stays in SBUF
  BufferRing scores_, turned_, results_, operands_, fetched_, saved_blocks_, rows_, turned_tiles_;
  Handle v_, maximum_, turned_last_, q_saved_, scores_saved_;
};

}  // namespace

void attention_spilled_scores(TileWriter& w, const AttentionCall& call) {
  SpilledScores(w, call).write();
}

}  // namespace trnsim
