#include <vector>

#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kRows = 4;    // query tiles with all their scores in SBUF
constexpr std::uint32_t kTiles = 16;  // square tiles in SBUF
constexpr std::uint64_t kFp32Bytes = 4;

/// One head at a time. Every step of the softmax, the transposes and the products with V are passes over all scores,
/// each from HBM and back.
class HbmPasses {
 public:
  HbmPasses(TileWriter& w, const AttentionCall& call) : steps_(w), call_(call) {
    check_whole_blocks(steps_, call);
    queries_ = call.shape.queries / steps_.tile();
    keys_ = call.shape.keys / steps_.tile();
    element_ = storage_bytes(1, call.dtype);
    steps_.reserve_operands(call);
    banks_ = steps_.banks(w.core().psum_banks);
    rows_ = steps_.buffers(call.shape.keys * kFp32Bytes, kRows);
    reloaded_ = steps_.buffers(call.shape.keys * kFp32Bytes, kRows);
    tiles_ = steps_.buffers(steps_.tile() * kFp32Bytes, kTiles);
    turned_tiles_ = steps_.buffers(steps_.tile() * kFp32Bytes, kTiles);
  }

  void head() {
    const Handle q = steps_.load_operand(call_, call_.shape.queries, Traffic::kActivations);
    const Handle k = steps_.load_operand(call_, call_.shape.keys, Traffic::kKvRead);
    const Handle v = steps_.load_operand(call_, call_.shape.keys, Traffic::kKvRead);
    for (std::uint64_t key = 0; key < keys_; ++key) saved_values_ = turn_tile(call_.dtype, v);
    for (std::uint64_t query = 0; query < queries_; ++query) saved_.push_back(subtract(q, k));
    each_row(true, [&](Handle loaded) {
      return steps_.exponential(call_.shape.keys, Space::kSbuf, Dtype::kFp32, fused_sum(), {loaded});
    });
    if (!fused_sum()) {
      each_row(false,
               [&](Handle loaded) { return steps_.reduce(call_.shape.keys, Space::kSbuf, Dtype::kFp32, {loaded}); });
    }
    steps_.reciprocal(queries_, {});
    each_row(true, [&](Handle loaded) { return steps_.scale(call_.shape.keys, Space::kSbuf, Dtype::kFp32, {loaded}); });
    turn_all();
    multiply_all();
    saved_.clear();
  }

 private:
  [[nodiscard]] bool fused_sum() const { return call_.schedule == AttentionSchedule::kHbmPassesFusedSum; }

  [[nodiscard]] AttentionSteps::Tile row() const {
    return {.rows = steps_.tile(), .run_bytes = call_.shape.keys * kFp32Bytes};
  }
  [[nodiscard]] AttentionSteps::Tile square() const {
    return {.rows = steps_.tile(), .run_bytes = steps_.tile() * kFp32Bytes};
  }

  /// Scores of one query tile less their maximum, to HBM. They fill PSUM until both have read them.
  Handle subtract(Handle q, Handle k) {
    const std::uint64_t blocks = call_.shape.keys / steps_.block();
    std::vector<Handle> scores;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      steps_.segment().acquire(Engine::kTensor, banks_);
      scores.push_back(steps_.multiply(call_.dtype, call_.shape.head_dim, steps_.tile(), steps_.block(), {q, k}));
    }
    for (const Handle& block : scores) steps_.reduce(steps_.block(), Space::kPsum, Dtype::kFp32, {block});
    steps_.reduce(blocks, Space::kSbuf, Dtype::kFp32, {});
    steps_.segment().acquire(Engine::kVector, rows_);
    Handle done;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      done = steps_.scale(steps_.block(), Space::kPsum, Dtype::kFp32, {});
      steps_.segment().release(done, banks_);
    }
    const Handle stored = steps_.store(Engine::kGpSimd, Queue::kStore, row(), {done});
    steps_.segment().release(stored, rows_);
    return stored;
  }

  /// Reads the rows of each query tile, lets `step` work on them and, if `saves`, writes them back.
  template <class Step>
  void each_row(bool saves, const Step& step) {
    for (Handle& saved : saved_) {
      steps_.segment().acquire(Engine::kSync, reloaded_);
      const Handle done = step(steps_.load(Engine::kSync, Queue::kTiles, row(), {saved}));
      if (!saves) {
        steps_.segment().release(done, reloaded_);
        continue;
      }
      saved = steps_.store(Engine::kGpSimd, Queue::kStore, row(), {done});
      steps_.segment().release(saved, reloaded_);
    }
  }

  /// Transposes a tile that is in SBUF and saves it.
  Handle turn_tile(Dtype dtype, Handle ready) {
    steps_.segment().acquire(Engine::kTensor, turned_tiles_);
    steps_.segment().acquire(Engine::kTensor, banks_);
    turned_ = steps_.turn(dtype, steps_.tile(), steps_.tile(), {ready});
    const Handle copied = steps_.drain(steps_.tile(), {turned_});
    steps_.segment().release(copied, banks_);
    const Handle stored = steps_.store(Engine::kGpSimd, Queue::kStore, square(), {copied});
    steps_.segment().release(stored, turned_tiles_);
    return stored;
  }

  void turn_all() {
    for (Handle& saved : saved_) {
      const Handle row_saved = saved;
      for (std::uint64_t key = 0; key < keys_; ++key) {
        steps_.segment().acquire(Engine::kSync, tiles_);
        const Handle loaded = steps_.load(Engine::kSync, Queue::kTiles, square(), {row_saved});
        saved = turn_tile(Dtype::kFp32, loaded);
        steps_.segment().release(turned_, tiles_);
      }
    }
  }

  void multiply_all() {
    for (const Handle& saved : saved_) {
      steps_.segment().acquire(Engine::kTensor, banks_);
      Handle product;
      for (std::uint64_t key = 0; key < keys_; ++key) {
        steps_.segment().acquire(Engine::kSync, tiles_);
        steps_.load(Engine::kSync, Queue::kTiles, square(), {saved});
        steps_.segment().acquire(Engine::kSync, tiles_);
        const Handle both = steps_.load(Engine::kSync, Queue::kTiles, square(), {saved_values_});
        product = steps_.multiply(call_.softmax_dtype, steps_.tile(), steps_.tile(), call_.shape.head_dim, {both});
        steps_.segment().signal(product, tiles_.free_slots, 2);
      }
      const Handle copied = steps_.drain(call_.shape.head_dim, {product});
      steps_.segment().release(copied, banks_);
      steps_.store(Engine::kGpSimd, Queue::kStore,
                   {.rows = steps_.tile(), .run_bytes = call_.shape.head_dim * element_}, {copied});
    }
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  std::uint64_t queries_ = 0, keys_ = 0, element_ = 0;
  BufferRing banks_, rows_, reloaded_, tiles_, turned_tiles_;
  std::vector<Handle> saved_;  ///< by query tile: who wrote its rows to HBM last
  Handle saved_values_, turned_;
};

}  // namespace

void attention_hbm_passes(TileWriter& w, const AttentionCall& call) {
  HbmPasses passes(w, call);
  for (std::uint64_t head = 0; head < call.heads; ++head) passes.head();
}

}  // namespace trnsim
