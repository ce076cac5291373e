#include <array>

#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kRows = 2;    // query tiles with all their scores in SBUF
constexpr std::uint32_t kTurned = 3;  // query tiles with all their transposed weights in SBUF
constexpr std::uint64_t kFp32Bytes = 4;
constexpr Dtype kOperands = Dtype::kBf16;  // the tensor engine's, whatever lies in HBM

/// One head at a time, operands resident, scores tile by tile and the softmax of a query tile in whole rows.
class Rowwise {
 public:
  Rowwise(TileWriter& w, const AttentionCall& call) : steps_(w), call_(call) {
    check_whole_blocks(steps_, call);
    queries_ = call.shape.queries / steps_.tile();
    keys_ = call.shape.keys / steps_.tile();
    element_ = storage_bytes(1, call.dtype);
    operand_ = storage_bytes(1, kOperands);
    const std::uint64_t values = keys_ * call.shape.head_dim;
    w.program().reserve_sbuf(Bytes((call.shape.queries + call.shape.keys + values) * operand_));
    scores_ = steps_.tiles_in_banks(3);
    turned_ = steps_.tiles_in_banks(3);
    results_ = steps_.banks(2);
    rows_ = steps_.buffers(call.shape.keys * storage_bytes(1, logits()), kRows);
    weights_ = steps_.buffers(call.shape.keys * operand_, kRows);
    turned_rows_ = steps_.buffers(call.shape.keys * operand_, kTurned);
  }

  // Scores of a query tile, transposes of the one before and products of the one before that go side by side.
  void head() {
    load();
    Row scoring, turning, multiplying;
    for (std::uint64_t step = 0; step < queries_ + 2; ++step) {
      multiplying = turning;
      turning = scoring;
      scoring = {};
      const bool scores = step < queries_;
      const bool turns = step >= 1 && step <= queries_;
      const bool multiplies = step >= 2;
      if (scores) steps_.segment().acquire(Engine::kTensor, rows_);
      if (turns) steps_.segment().acquire(Engine::kTensor, turned_rows_);
      if (multiplies) steps_.segment().acquire(Engine::kTensor, results_);
      for (std::uint64_t key = 0; key < keys_; ++key) {
        if (scores) score();
        if (turns) turn(turning);
        if (multiplies) multiply(multiplying);
      }
      if (scores) weigh(scoring);
      if (turns) steps_.segment().release(turning.turned, weights_);
      if (multiplies) result(multiplying);
    }
  }

 private:
  [[nodiscard]] bool delays_division() const { return call_.schedule == AttentionSchedule::kRowwiseDelayedDivision; }
  [[nodiscard]] bool fused_sum() const { return call_.schedule != AttentionSchedule::kRowwise; }
  [[nodiscard]] Dtype logits() const { return delays_division() ? kOperands : Dtype::kFp32; }

  // Casting and transposing loads, one per tile.
  void load() {
    const std::uint64_t row = call_.shape.head_dim * element_;
    const AttentionSteps::Tile values{
        .rows = steps_.tile(), .run_bytes = row, .traffic = Traffic::kKvRead, .casts = true};
    AttentionSteps::Tile keys = values;
    keys.transposes = true;
    AttentionSteps::Tile queries = keys;
    queries.traffic = Traffic::kActivations;
    for (std::uint64_t key = 0; key < keys_; ++key) v_ = steps_.load(Engine::kSync, Queue::kTiles, values, {});
    for (std::uint64_t query = 0; query < queries_; ++query) {
      const Handle q = steps_.load(Engine::kSync, Queue::kTiles, queries, {});
      q_ = steps_.scale(steps_.tile(), Space::kSbuf, kOperands, {q}, static_cast<std::uint32_t>(call_.shape.head_dim));
    }
    for (std::uint64_t key = 0; key < keys_; ++key) k_ = steps_.load(Engine::kSync, Queue::kTiles, keys, {});
  }

  /// One query tile on its way.
  struct Row {
    Handle weights, turned, product;
    std::array<Handle, 2> copied;
  };

  void score() {
    steps_.segment().acquire(Engine::kTensor, scores_);
    const Handle product = steps_.multiply(kOperands, call_.shape.head_dim, steps_.tile(), steps_.tile(), {q_, k_});
    const Handle copied = steps_.drain(steps_.tile(), {product});
    steps_.segment().release(copied, scores_);
    steps_.reduce(steps_.tile(), Space::kSbuf, logits(), {copied});
  }

  /// Row maxima and exponentials, in the format that the tensor engine takes.
  void weigh(Row& row) {
    const Handle maximum = steps_.reduce(keys_, Space::kSbuf, Dtype::kFp32, {});
    steps_.segment().acquire(Engine::kScalar, weights_);
    const Handle exponential = steps_.exponential(call_.shape.keys, Space::kSbuf, logits(), fused_sum(), {maximum});
    row.weights = delays_division() ? exponential : cast(exponential);
    steps_.segment().release(row.weights, rows_);
  }

  Handle cast(Handle exponential) {
    if (!fused_sum()) steps_.reduce(call_.shape.keys, Space::kSbuf, Dtype::kFp32, {exponential});
    return steps_.copy(call_.shape.keys, Space::kSbuf, {exponential});
  }

  void turn(Row& row) {
    steps_.segment().acquire(Engine::kTensor, turned_);
    row.turned = steps_.turn(kOperands, steps_.tile(), steps_.tile(), {row.weights});
    steps_.segment().release(steps_.drain(steps_.tile(), {row.turned}), turned_);
    row.copied = steps_.drained();
  }

  void multiply(Row& row) {
    const std::uint64_t head = call_.shape.head_dim;
    const std::uint64_t stationary = delays_division() ? steps_.tile() : head;
    const std::uint64_t moving = delays_division() ? head : steps_.tile();
    row.product = steps_.multiply(kOperands, steps_.tile(), stationary, moving, {v_, row.copied[0], row.copied[1]});
  }

  void result(const Row& row) {
    steps_.segment().release(row.product, turned_rows_);
    steps_.reciprocal(1, {});
    if (delays_division()) {
      const Handle scaled = steps_.scale(call_.shape.head_dim, Space::kPsum, Dtype::kFp32, {row.product});
      steps_.segment().release(scaled, results_);
      steps_.store(Engine::kGpSimd, Queue::kStore,
                   {.rows = steps_.tile(), .run_bytes = call_.shape.head_dim * element_}, {scaled});
      return;
    }
    divide_and_turn(row.product);
  }

  void divide_and_turn(Handle product) {
    const auto rows = static_cast<std::uint32_t>(call_.shape.head_dim);
    const Handle copied = steps_.drain(steps_.tile(), {product}, rows);
    steps_.segment().release(copied, results_);
    const Handle divisor = turned_divisor();
    const Handle divided = steps_.writer().run(Engine::kVector,
                                               {.op = Op::kBinary,
                                                .free = Count::constant(steps_.tile()),
                                                .dtype = Dtype::kFp32,
                                                .rows = rows,
                                                .second = fused_sum() ? Space::kSbuf : Space::kPsum},
                                               {copied, divisor});
    if (!fused_sum()) steps_.segment().release(divided, turned_);
    // Written transposed: every element for itself.
    steps_.store(Engine::kGpSimd, Queue::kStore, {.rows = rows, .run_bytes = element_, .runs = steps_.tile()},
                 {divided});
  }

  /// 1 / sum of each query, along the free dimension on as many partitions as the head is wide.
  Handle turned_divisor() {
    const Handle broadcast = steps_.writer().run(
        Engine::kVector, {.free = Count::constant(call_.shape.head_dim), .dtype = Dtype::kFp32}, {});
    if (fused_sum()) {  // transposed in squares by the vector engine
      return steps_.writer().run(Engine::kVector, {.free = Count::constant(steps_.tile()), .dtype = Dtype::kFp32}, {});
    }
    steps_.segment().acquire(Engine::kTensor, turned_);
    return steps_.turn(Dtype::kFp32, steps_.tile(), call_.shape.head_dim, {broadcast});
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  std::uint64_t queries_ = 0, keys_ = 0, element_ = 0, operand_ = 0;
  BufferRing scores_, turned_, results_, rows_, weights_, turned_rows_;
  Handle q_, k_, v_;
};

}  // namespace

void attention_rowwise(TileWriter& w, const AttentionCall& call) {
  Rowwise kernel(w, call);
  for (std::uint64_t head = 0; head < call.heads; ++head) kernel.head();
}

}  // namespace trnsim
