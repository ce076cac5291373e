#include <vector>

#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kVectorEvery = 2;
constexpr std::uint32_t kRows = 2;    // query tiles with all their scores in SBUF
constexpr std::uint32_t kTurned = 2;  // query tiles with all their transposed weights in SBUF
constexpr std::uint64_t kFp32Bytes = 4;
constexpr Dtype kOperands = Dtype::kBf16;  // the tensor engine's, whatever lies in HBM

/// One head at a time, operands resident, scores tile by tile and the softmax of a query tile in whole rows.
class Rowwise {
 public:
  Rowwise(TileWriter& w, const AttentionCall& call) : steps_(w, kVectorEvery), call_(call) {
    check_whole_blocks(steps_, call);
    queries_ = call.shape.queries / steps_.tile();
    keys_ = call.shape.keys / steps_.tile();
    element_ = storage_bytes(1, call.dtype);
    operand_ = storage_bytes(1, kOperands);
    const std::uint64_t values = keys_ * call.shape.head_dim;
    w.program().reserve_sbuf(Bytes((call.shape.queries + call.shape.keys + values) * operand_));
    scores_ = steps_.banks(2);
    turned_ = steps_.banks(4);
    results_ = steps_.banks(2);
    rows_ = steps_.buffers(call.shape.keys * storage_bytes(1, logits()), kRows);
    weights_ = steps_.buffers(call.shape.keys * operand_, kRows);
    turned_rows_ = steps_.buffers(call.shape.keys * operand_, kTurned);
  }

  void head() {
    load();
    // Scores and weights of the next query tile come before the transposes of this one.
    weights();
    Handle next = weights_ready_;
    for (std::uint64_t query = 0; query < queries_; ++query) {
      const Handle now = next;
      if (query + 1 < queries_) {
        weights();
        next = weights_ready_;
      }
      result(values(now));
    }
  }

 private:
  [[nodiscard]] bool delays_division() const { return call_.schedule == AttentionSchedule::kRowwiseDelayedDivision; }
  [[nodiscard]] bool fused_sum() const { return call_.schedule != AttentionSchedule::kRowwise; }
  [[nodiscard]] Dtype logits() const { return delays_division() ? kOperands : Dtype::kFp32; }

  // Casting and transposing loads, one per tile.
  void load() {
    const std::uint64_t row = call_.shape.head_dim * element_;
    const AttentionSteps::Tile keys{.rows = steps_.tile(), .run_bytes = row, .traffic = Traffic::kKvRead};
    for (std::uint64_t key = 0; key < keys_; ++key) v_ = steps_.load(Engine::kSync, Queue::kTiles, keys, {});
    for (std::uint64_t query = 0; query < queries_; ++query) {
      const Handle q = steps_.load(Engine::kSync, Queue::kTiles, {.rows = steps_.tile(), .run_bytes = row}, {});
      q_ = steps_.scale(steps_.tile(), Space::kSbuf, kOperands, {q}, static_cast<std::uint32_t>(call_.shape.head_dim));
    }
    for (std::uint64_t key = 0; key < keys_; ++key) k_ = steps_.load(Engine::kSync, Queue::kTiles, keys, {});
  }

  /// Scores of one query tile, their row maxima and exponentials, in the format that the tensor engine takes.
  void weights() {
    steps_.segment().acquire(Engine::kTensor, rows_);
    for (std::uint64_t key = 0; key < keys_; ++key) {
      steps_.segment().acquire(Engine::kTensor, scores_);
      const Handle product = steps_.multiply(kOperands, call_.shape.head_dim, steps_.tile(), steps_.tile(), {q_, k_});
      const Handle copied = steps_.drain(steps_.tile(), {product});
      steps_.segment().release(copied, scores_);
      steps_.reduce(steps_.tile(), Space::kSbuf, logits(), {copied});
    }
    const Handle maximum = steps_.reduce(keys_, Space::kSbuf, Dtype::kFp32, {});
    if (delays_division()) steps_.segment().acquire(Engine::kScalar, weights_);
    const Handle exponential = steps_.exponential(call_.shape.keys, Space::kSbuf, logits(), fused_sum(), {maximum});
    weights_ready_ = delays_division() ? exponential : cast(exponential);
    steps_.segment().release(weights_ready_, rows_);
  }

  Handle cast(Handle exponential) {
    if (!fused_sum()) steps_.reduce(call_.shape.keys, Space::kSbuf, Dtype::kFp32, {exponential});
    steps_.segment().acquire(Engine::kVector, weights_);
    return steps_.writer().run(Engine::kVector, {.free = Count::constant(call_.shape.keys), .dtype = Dtype::kFp32},
                               {exponential});
  }

  Handle values(Handle ready) {
    steps_.segment().acquire(Engine::kTensor, turned_rows_);
    Handle turned;
    for (std::uint64_t key = 0; key < keys_; ++key) {
      steps_.segment().acquire(Engine::kTensor, turned_);
      turned = steps_.turn(kOperands, steps_.tile(), steps_.tile(), {ready});
      steps_.segment().release(steps_.drain(steps_.tile(), {turned}), turned_);
    }
    steps_.segment().release(turned, weights_);
    const std::uint64_t head = call_.shape.head_dim;
    steps_.segment().acquire(Engine::kTensor, results_);
    Handle product;
    for (std::uint64_t key = 0; key < keys_; ++key) {
      const Handle copied[] = {v_, steps_.drained()[0], steps_.drained()[1]};
      product = delays_division()
                    ? steps_.multiply(kOperands, steps_.tile(), steps_.tile(), head, {copied[0], copied[1], copied[2]})
                    : steps_.multiply(kOperands, steps_.tile(), head, steps_.tile(), {copied[0], copied[1], copied[2]});
    }
    steps_.segment().release(product, turned_rows_);
    return product;
  }

  void result(Handle product) {
    steps_.reciprocal(1, {});
    if (delays_division()) {
      const Handle scaled = steps_.scale(call_.shape.head_dim, Space::kPsum, Dtype::kFp32, {product});
      steps_.segment().release(scaled, results_);
      steps_.store(Engine::kGpSimd, Queue::kStore,
                   {.rows = steps_.tile(), .run_bytes = call_.shape.head_dim * element_}, {scaled});
      return;
    }
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
  Handle q_, k_, v_, weights_ready_;
};

}  // namespace

void attention_rowwise(TileWriter& w, const AttentionCall& call) {
  Rowwise kernel(w, call);
  for (std::uint64_t head = 0; head < call.heads; ++head) kernel.head();
}

}  // namespace trnsim
