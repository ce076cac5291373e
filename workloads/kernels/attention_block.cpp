#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kLargeLoad = 524288;  // bytes of one load of weights
constexpr std::uint64_t kWeightRows = 4096;   // bytes of one row of it
constexpr std::uint64_t kFp32Bytes = 4;

/// One new token: projections, normalisation and rotation of its query, key and value, attention over a KV cache and
/// the output projection, nothing but the result and the new key and value leaving the core. Weights are stationary
/// and one column moves; nearly all vector work is one or a few columns wide.
class Block {
 public:
  Block(TileWriter& w, const AttentionCall& call) : steps_(w), call_(call) {
    const std::uint64_t head = call.shape.head_dim;
    element_ = storage_bytes(1, call.dtype);
    if (call.shape.queries != 1 || call.kv_heads != 1 || head != steps_.tile() || call.hidden % steps_.block() != 0 ||
        (call.shape.keys - 1) % steps_.tile() != 0) {
      throw InfeasibleError("schedule=fused_block takes one sequence with one query token, one KV head, head_dim=" +
                            std::to_string(steps_.tile()) + ", hidden in multiples of " +
                            std::to_string(steps_.block()) + " and cached keys in multiples of " +
                            std::to_string(steps_.tile()));
    }
    tiles_ = call.hidden / steps_.tile();
    cached_ = (call.shape.keys - 1) / steps_.tile();
    const std::uint64_t weights = (2 * call.heads + 2) * head * tiles_ * element_;
    w.program().reserve_sbuf(Bytes(weights + 4 * cached_ * head * element_));
    banks_ = steps_.banks(4);
    outputs_ = steps_.banks(static_cast<std::uint32_t>(w.core().psum_banks) - 4);
  }

  void write() {
    load();
    const Handle k = normalised(projected(1, k_weights_), 1);
    save_row(rotated(k, 1));
    save_row(projected(1, v_weights_));
    Handle q = normalised(projected(call_.heads, q_weights_), call_.heads);
    load_output_weights(q);
    for (int factor = 0; factor < 3; ++factor) q = broadcast(2, q);  // gain, cosine and sine, to one column per head
    q_ = small(Engine::kVector, Op::kTensorScalar, call_.heads, {rotated(q, call_.heads)});
    prepare_keys();
    score();
    maximum_ = broadcast(2, maximum_);
    weigh();
    add_new_token();
    project_output();
  }

 private:
  Handle weights(std::uint64_t heads, AttentionSteps::After after) {
    const std::uint64_t bytes = heads * call_.shape.head_dim * call_.hidden * element_;
    Handle loaded;
    for (std::uint64_t at = 0; at < bytes; at += kLargeLoad) {
      const std::uint64_t part = std::min(kLargeLoad, bytes - at);
      loaded = steps_.load(Engine::kSync, Queue::kWeights,
                           {.rows = part / kWeightRows, .run_bytes = kWeightRows, .traffic = Traffic::kWeights}, after);
    }
    return loaded;
  }

  void load() {
    hidden_ =
        steps_.load(Engine::kSync, Queue::kSmall, {.rows = steps_.tile(), .run_bytes = element_, .runs = tiles_}, {});
    for (int vector = 0; vector < 4; ++vector) {  // gains of query and key, cosine, sine
      factors_ =
          steps_.load(Engine::kSync, Queue::kSmall, {.rows = 1, .run_bytes = call_.shape.head_dim * element_}, {});
    }
    k_weights_ = weights(1, {});
    v_weights_ = weights(1, {});
    q_weights_ = weights(call_.heads, {});
    const AttentionSteps::Tile cached{
        .rows = steps_.tile(), .run_bytes = call_.shape.head_dim * element_, .traffic = Traffic::kKvRead};
    for (std::uint64_t tile = 0; tile < 2 * cached_; ++tile) {
      cache_ = steps_.load(Engine::kSync, Queue::kKv, cached, {});
    }
  }

  void load_output_weights(Handle q) { output_weights_ = weights(call_.heads, {q}); }

  /// Result in PSUM, copied to SBUF.
  Handle product(Dtype dtype, std::uint64_t stationary, std::uint64_t moving, AttentionSteps::After after) {
    steps_.segment().acquire(Engine::kTensor, banks_);
    const Handle copied = steps_.drain(moving, {steps_.multiply(dtype, steps_.tile(), stationary, moving, after)});
    steps_.segment().release(copied, banks_);
    return copied;
  }
  Handle turned(Dtype dtype, std::uint64_t rows, std::uint64_t columns, Handle ready) {
    steps_.segment().acquire(Engine::kTensor, banks_);
    const Handle copied = steps_.drain(rows, {steps_.turn(dtype, rows, columns, {ready})});
    steps_.segment().release(copied, banks_);
    return copied;
  }
  /// One value per partition, or per head, made a column for each head by transposes.
  Handle broadcast(std::uint64_t turns, Handle ready) {
    for (std::uint64_t i = 0; i < turns; ++i) ready = turned(Dtype::kFp32, steps_.tile(), call_.heads, ready);
    return ready;
  }
  Handle small(Engine engine, Op op, std::uint64_t columns, AttentionSteps::After after,
               Function function = Function::kNone, std::uint64_t rows = 0) {
    return steps_.writer().run(engine,
                               {.op = op,
                                .free = Count::constant(columns),
                                .dtype = Dtype::kFp32,
                                .rows = static_cast<std::uint32_t>(rows),
                                .second = op == Op::kBinary ? Space::kSbuf : Space::kNone,
                                .function = function},
                               after);
  }
  /// Sum over the partitions, by a matmul with ones.
  Handle summed(std::uint64_t columns, Handle ready) { return product(Dtype::kFp32, steps_.tile(), columns, {ready}); }

  Handle projected(std::uint64_t heads, Handle weights) {
    Handle packed;
    for (std::uint64_t head = 0; head < heads; ++head) {
      steps_.segment().acquire(Engine::kTensor, banks_);
      Handle sum;
      for (std::uint64_t tile = 0; tile < tiles_; ++tile) {
        sum = steps_.multiply(call_.dtype, steps_.tile(), steps_.tile(), 1, {weights, hidden_});
      }
      packed = steps_.drain(1, {sum});
      steps_.segment().release(packed, banks_);
    }
    return packed;
  }

  Handle normalised(Handle x, std::uint64_t columns) {
    const Handle squares =
        small(Engine::kScalar, Op::kActivation, columns, {x, steps_.drained()[0]}, Function::kSquare);
    const Handle root = small(Engine::kScalar, Op::kActivation, columns, {summed(columns, squares)}, Function::kRsqrt);
    small(Engine::kVector, Op::kBinary, columns, {root, factors_});
    return small(Engine::kVector, Op::kBinary, columns, {});
  }

  /// Halves swapped, two products and a sum.
  Handle rotated(Handle x, std::uint64_t columns) {
    small(Engine::kVector, Op::kCopy, columns, {x}, Function::kNone, steps_.tile() / 2);
    small(Engine::kVector, Op::kCopy, columns, {x}, Function::kNone, steps_.tile() / 2);
    small(Engine::kVector, Op::kBinary, columns, {});
    small(Engine::kVector, Op::kBinary, columns, {});
    return small(Engine::kVector, Op::kBinary, columns, {});
  }

  void save_row(Handle column) {
    const Handle row = turned(Dtype::kFp32, steps_.tile(), 1, column);
    steps_.store(Engine::kGpSimd, Queue::kKvWrite,
                 {.rows = 1, .run_bytes = call_.shape.head_dim * element_, .traffic = Traffic::kKvWrite}, {row});
  }

  /// One step for all tiles of cached keys, `ready` by tile.
  template <class Step>
  void each_tile(std::vector<Handle>& ready, const Step& step) {
    for (Handle& handle : ready) handle = step(handle);
  }

  // K turned tile by tile, and the mask of its positions.
  void prepare_keys() {
    std::vector<Handle> masks(cached_);
    each_tile(masks, [&](Handle) { return turned(call_.dtype, steps_.tile(), steps_.tile(), cache_); });
    each_tile(masks, [&](Handle) { return small(Engine::kVector, Op::kTensorScalar, 1, {}); });
    each_tile(masks, [&](Handle mask) { return small(Engine::kScalar, Op::kActivation, 1, {mask}); });
    for (int turn = 0; turn < 3; ++turn) {
      each_tile(masks, [&](Handle mask) { return turned(Dtype::kFp32, steps_.tile(), call_.heads, mask); });
    }
  }

  void score() {
    std::vector<Handle> tiles(cached_);
    const std::array<Handle, 2> keys = steps_.drained();
    each_tile(tiles, [&](Handle) { return product(call_.dtype, steps_.tile(), call_.heads, {q_, keys[0], keys[1]}); });
    each_tile(tiles, [&](Handle scores) { return small(Engine::kVector, Op::kBinary, call_.heads, {scores}); });
    each_tile(tiles, [&](Handle masked) { return turned(Dtype::kFp32, steps_.tile(), call_.heads, masked); });
    each_tile(tiles, [&](Handle rows) {
      steps_.reduce(steps_.tile(), Space::kSbuf, Dtype::kFp32, {rows});
      return maximum_ = steps_.combine(1, Space::kSbuf, Space::kSbuf, {});
    });
  }

  void weigh() {
    std::vector<Handle> tiles(cached_, maximum_);
    each_tile(tiles, [&](Handle maximum) { return small(Engine::kVector, Op::kBinary, call_.heads, {maximum}); });
    each_tile(tiles, [&](Handle shifted) {
      return small(Engine::kScalar, Op::kActivation, call_.heads, {shifted}, Function::kExp);
    });
    std::vector<Handle> sums = tiles;
    each_tile(tiles, [&](Handle weights) { return small(Engine::kVector, Op::kCopy, call_.heads, {weights}); });
    each_tile(sums, [&](Handle weights) { return summed(call_.heads, weights); });
    each_tile(tiles, [&](Handle cast) { return product(call_.dtype, steps_.tile(), call_.heads, {cast, cache_}); });
    each_tile(sums, [&](Handle sum) { return small(Engine::kVector, Op::kBinary, call_.heads, {sum}); });
    each_tile(tiles, [&](Handle value) { return value_ = small(Engine::kVector, Op::kBinary, call_.heads, {value}); });
  }

  void add_new_token() {
    const Handle products = small(Engine::kVector, Op::kBinary, call_.heads, {value_});
    const Handle score = broadcast(2, summed(call_.heads, products));
    const Handle weight = small(Engine::kScalar, Op::kActivation, call_.heads, {score}, Function::kExp);
    small(Engine::kVector, Op::kBinary, call_.heads, {weight});
    const Handle sum = broadcast(2, small(Engine::kVector, Op::kBinary, call_.heads, {}));
    const Handle root = small(Engine::kScalar, Op::kActivation, call_.heads, {sum}, Function::kRsqrt);
    const Handle inverse = small(Engine::kScalar, Op::kActivation, call_.heads, {root}, Function::kSquare);
    value_ = small(Engine::kVector, Op::kBinary, call_.heads, {inverse});
  }

  // One column of a head stationary, the weights move.
  void project_output() {
    const std::uint64_t columns = call_.hidden / steps_.block();
    std::vector<Handle> sums(columns);
    for (std::uint64_t c = 0; c < columns; ++c) steps_.segment().acquire(Engine::kTensor, outputs_);
    for (std::uint64_t head = 0; head < call_.heads; ++head) {
      for (Handle& sum : sums) {
        sum = steps_.multiply(call_.dtype, steps_.tile(), 1, steps_.block(), {value_, output_weights_});
      }
    }
    Handle copied;
    for (const Handle& sum : sums) {
      copied = steps_.drain(steps_.block(), {sum}, 1);
      steps_.segment().release(copied, outputs_);
    }
    steps_.store(Engine::kGpSimd, Queue::kStore, {.rows = 1, .run_bytes = call_.hidden * element_},
                 {steps_.drained()[0], steps_.drained()[1]});
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  std::uint64_t tiles_ = 0, cached_ = 0, element_ = 0;
  BufferRing banks_, outputs_;
  Handle hidden_, factors_, k_weights_, v_weights_, q_weights_, output_weights_, cache_, q_, maximum_, value_;
};

}  // namespace

void attention_block(TileWriter& w, const AttentionCall& call) {
  Block(w, call).write();
}

}  // namespace trnsim
