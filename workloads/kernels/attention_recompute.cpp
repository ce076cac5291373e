#include <array>
#include <vector>

#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kWeightBlocks = 4;  // blocks of P in SBUF
constexpr std::uint32_t kTiles = 16;        // transposed tiles of P and V in SBUF
constexpr std::uint64_t kFp32Bytes = 4;

/// One head at a time, operands resident. Scores are multiplied anew in each of three passes over all queries and keys:
/// maxima, sums, then weights, their transposes (V is transposed again each time) and the products with V.
class Recompute {
 public:
  Recompute(TileWriter& w, const AttentionCall& call) : steps_(w), call_(call) {
    check_whole_blocks(steps_, call);
    queries_ = call.shape.queries / steps_.tile();
    blocks_ = call.shape.keys / steps_.block();
    element_ = storage_bytes(1, call.dtype);
    steps_.reserve_operands(call);
    scores_ = steps_.banks(3);
    turned_ = steps_.tiles_in_banks(3);
    results_ = steps_.banks(2);
    weights_ = steps_.buffers(steps_.block() * kFp32Bytes, kWeightBlocks);
    tiles_ = steps_.buffers(steps_.tile() * kFp32Bytes, kTiles);
  }

  void head() {
    q_ = steps_.load_operand(call_, call_.shape.queries, Traffic::kActivations);
    k_ = steps_.load_operand(call_, call_.shape.keys, Traffic::kKvRead);
    v_ = steps_.load_operand(call_, call_.shape.keys, Traffic::kKvRead);
    for (std::uint64_t query = 0; query < queries_; ++query) maxima();
    for (std::uint64_t query = 0; query < queries_; ++query) sums();
    steps_.reciprocal(queries_, {});
    values();
  }

 private:
  [[nodiscard]] bool fused_sum() const { return call_.schedule == AttentionSchedule::kRecomputeFusedSum; }

  Handle block() {
    steps_.segment().acquire(Engine::kTensor, scores_);
    return steps_.multiply(call_.dtype, call_.shape.head_dim, steps_.tile(), steps_.block(), {q_, k_});
  }

  void maxima() {
    for (std::uint64_t b = 0; b < blocks_; ++b) {
      maximum_ = steps_.reduce(steps_.block(), Space::kPsum, Dtype::kFp32, {block()});
      steps_.segment().release(maximum_, scores_);
      if (b > 0) maximum_ = steps_.combine(1, Space::kSbuf, Space::kSbuf, {});
    }
  }

  Handle exponential(bool row_sum) {
    const Handle scores = block();
    steps_.segment().acquire(Engine::kScalar, weights_);
    const Handle done = steps_.exponential(steps_.block(), Space::kPsum, Dtype::kFp32, row_sum, {scores, maximum_});
    steps_.segment().release(done, scores_);
    return done;
  }

  void sums() {
    for (std::uint64_t b = 0; b < blocks_; ++b) {
      const Handle weights = exponential(fused_sum());
      if (fused_sum()) {
        steps_.segment().release(weights, weights_);
        continue;
      }
      const Handle sum = steps_.reduce(steps_.block(), Space::kSbuf, Dtype::kFp32, {weights});
      steps_.segment().release(sum, weights_);
      steps_.combine(1, Space::kSbuf, Space::kSbuf, {});
    }
  }

  // Scores of the next block come before the transposes of this one, products with V one block after theirs.
  void values() {
    const std::uint64_t count = queries_ * blocks_;
    Handle next = weights();
    Copies behind;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Handle now = next;
      if (i + 1 < count) next = weights();
      const Copies turned = turn_block(now);
      if (i > 0) multiply(i - 1, behind);
      behind = turned;
    }
    multiply(count - 1, behind);
  }

  Handle weights() { return steps_.scale(steps_.block(), Space::kSbuf, call_.softmax_dtype, {exponential(false)}); }

  using Copies = std::vector<std::array<Handle, 2>>;  ///< of both engines, by tile of keys

  Copies turn_block(Handle weights) {
    Copies copies;
    Handle turned;
    for (std::uint64_t t = 0; t < steps_.block() / steps_.tile(); ++t) {
      turned = turn(call_.softmax_dtype, weights);
      turn(call_.dtype, v_);
      copies.push_back(steps_.drained());
    }
    steps_.segment().release(turned, weights_);
    return copies;
  }

  /// Products of block `i` of all.
  void multiply(std::uint64_t i, const Copies& copies) {
    if (i % blocks_ == 0) steps_.segment().acquire(Engine::kTensor, results_);
    Handle product;
    for (const auto& copied : copies) {
      product = steps_.multiply(call_.softmax_dtype, steps_.tile(), steps_.tile(), call_.shape.head_dim,
                                {copied[0], copied[1]});
      steps_.segment().signal(product, tiles_.free_slots, 2);
    }
    if (i % blocks_ == blocks_ - 1) result(product);
  }

  void result(Handle product) {
    const Handle copied = steps_.drain(call_.shape.head_dim, {product});
    steps_.segment().release(copied, results_);
    const Handle cast = steps_.copy(call_.shape.head_dim, Space::kSbuf, {copied});
    steps_.store(Engine::kGpSimd, Queue::kStore, {.rows = steps_.tile(), .run_bytes = call_.shape.head_dim * element_},
                 {cast});
  }

  Handle turn(Dtype dtype, Handle ready) {
    steps_.segment().acquire(Engine::kTensor, turned_);
    steps_.segment().acquire(Engine::kTensor, tiles_);
    const Handle turned = steps_.turn(dtype, steps_.tile(), steps_.tile(), {ready});
    steps_.segment().release(steps_.drain(steps_.tile(), {turned}), turned_);
    return turned;
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  std::uint64_t queries_ = 0, blocks_ = 0, element_ = 0;
  BufferRing scores_, turned_, results_, weights_, tiles_;
  Handle q_, k_, v_, maximum_;
};

}  // namespace

void attention_recompute(TileWriter& w, const AttentionCall& call) {
  Recompute kernel(w, call);
  for (std::uint64_t head = 0; head < call.heads; ++head) kernel.head();
}

}  // namespace trnsim
