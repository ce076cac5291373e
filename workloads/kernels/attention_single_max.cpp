#include <array>
#include <vector>

#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kTiles = 12;  // tiles of P, and of its transpose, in SBUF

/// One head at a time, operands resident. The row maxima of the first query tile serve all; weights are made, summed,
/// transposed and multiplied by V tile by tile, and the division comes last.
class SingleMax {
 public:
  SingleMax(TileWriter& w, const AttentionCall& call) : steps_(w), call_(call) {
    check_whole_blocks(steps_, call);
    queries_ = call.shape.queries / steps_.tile();
    keys_ = call.shape.keys / steps_.tile();
    element_ = storage_bytes(1, call.dtype);
    steps_.reserve_operands(call);
    scores_ = steps_.banks(4);
    turned_ = steps_.tiles_in_banks(2);
    results_ = steps_.banks(2);
    weights_ = steps_.buffers(steps_.tile() * element_, kTiles);
    tiles_ = steps_.buffers(steps_.tile() * element_, kTiles);
  }

  void head() {
    q_ = steps_.load_operand(call_, call_.shape.queries, Traffic::kActivations);
    k_ = steps_.load_operand(call_, call_.shape.keys, Traffic::kKvRead);
    for (std::uint64_t key = 0; key < keys_; ++key) {
      const Handle v = steps_.load_operand(call_, steps_.tile(), Traffic::kKvRead);
      steps_.segment().acquire(Engine::kTensor, turned_);
      const Handle turned = steps_.turn(call_.dtype, call_.shape.head_dim, steps_.tile(), {v});
      steps_.segment().release(steps_.drain(steps_.tile(), {turned}), turned_);
    }
    for (std::uint64_t b = 0; b < blocks(); ++b) {
      maximum_ = steps_.reduce(steps_.block(), Space::kPsum, Dtype::kFp32, {block()});
      steps_.segment().release(maximum_, scores_);
    }
    maximum_ = steps_.reduce(blocks(), Space::kSbuf, Dtype::kFp32, {});
    all_blocks();
  }

 private:
  [[nodiscard]] std::uint64_t blocks() const { return call_.shape.keys / steps_.block(); }

  Handle block() {
    steps_.segment().acquire(Engine::kTensor, scores_);
    return steps_.multiply(call_.dtype, call_.shape.head_dim, steps_.tile(), steps_.block(), {q_, k_});
  }

  using Copies = std::vector<std::array<Handle, 2>>;  ///< of both engines, by tile of keys

  // Scores of the next block come before the transposes of this one, products with V one block after theirs.
  void all_blocks() {
    const std::uint64_t count = queries_ * blocks();
    std::vector<Handle> next = weights();
    Copies behind;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::vector<Handle> now = next;
      if (i + 1 < count) next = weights();
      const Copies turned = turn_block(now);
      if (i > 0) multiply(i - 1, behind);
      behind = turned;
    }
    multiply(count - 1, behind);
  }

  std::vector<Handle> weights() {
    const Handle scores = block();
    std::vector<Handle> tiles;
    for (std::uint64_t i = 0; i < steps_.block() / steps_.tile(); ++i) {
      steps_.segment().acquire(Engine::kScalar, weights_);
      tiles.push_back(steps_.exponential(steps_.tile(), Space::kPsum, Dtype::kFp32, false, {scores, maximum_}));
    }
    steps_.segment().release(tiles.back(), scores_);
    return tiles;
  }

  Copies turn_block(const std::vector<Handle>& weights) {
    Copies copies;
    for (const Handle& weight : weights) {
      steps_.segment().acquire(Engine::kTensor, turned_);
      steps_.segment().acquire(Engine::kTensor, tiles_);
      const Handle turned = steps_.turn(call_.softmax_dtype, steps_.tile(), steps_.tile(), {weight});
      const Handle sum = steps_.reduce(steps_.tile(), Space::kSbuf, call_.softmax_dtype, {weight, turned});
      steps_.segment().release(sum, weights_);
      steps_.segment().release(steps_.drain(steps_.tile(), {turned}), turned_);
      copies.push_back(steps_.drained());
    }
    return copies;
  }

  /// Products of block `i` of all.
  void multiply(std::uint64_t i, const Copies& copies) {
    if (i % blocks() == 0) steps_.segment().acquire(Engine::kTensor, results_);
    for (const auto& copied : copies) {
      product_ = steps_.multiply(call_.softmax_dtype, steps_.tile(), steps_.tile(), call_.shape.head_dim,
                                 {copied[0], copied[1]});
      steps_.segment().release(product_, tiles_);
    }
    if (i % blocks() == blocks() - 1) result();
  }

  void result() {
    steps_.reduce(keys_, Space::kSbuf, Dtype::kFp32, {});
    steps_.reciprocal(1, {});
    const Handle scaled = steps_.scale(call_.shape.head_dim, Space::kPsum, Dtype::kFp32, {product_});
    steps_.segment().release(scaled, results_);
    steps_.store(Engine::kGpSimd, Queue::kStore, {.rows = steps_.tile(), .run_bytes = call_.shape.head_dim * element_},
                 {scaled});
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  std::uint64_t queries_ = 0, keys_ = 0, element_ = 0;
  BufferRing scores_, turned_, results_, weights_, tiles_;
  Handle q_, k_, maximum_, product_;
};

}  // namespace

void attention_single_max(TileWriter& w, const AttentionCall& call) {
  SingleMax kernel(w, call);
  for (std::uint64_t head = 0; head < call.heads; ++head) kernel.head();
}

}  // namespace trnsim
