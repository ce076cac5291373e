// Attention as published schedules run it: what a call is, and the instructions that such schedules are made of.
//
// Tiles have 128 queries, or keys, on the partitions; a block of scores is as wide as a PSUM bank. Schedules are
// written out, as compilers emit them: the order of emission is the order of each engine.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "workloads/kernels/kernels.h"

namespace trnsim {

/// Schedules by name; the parameter `schedule` of the workload.
enum class AttentionSchedule : std::uint8_t {
  kAuto,
  kThreePhases,
  kFused,
  kHbmPasses,
  kHbmPassesFusedSum,
  kRecompute,
  kRecomputeFusedSum,
  kSingleMax,
  kRowwise,
  kRowwiseFusedSum,
  kRowwiseDelayedDivision,
  kSpilledScores,
  kFlash,
  kFusedBlock
};
inline constexpr std::array<std::string_view, 14> kAttentionSchedules = {"auto",
                                                                         "three_phases",
                                                                         "fused",
                                                                         "hbm_passes",
                                                                         "hbm_passes_fused_sum",
                                                                         "recompute",
                                                                         "recompute_fused_sum",
                                                                         "single_max",
                                                                         "rowwise",
                                                                         "rowwise_fused_sum",
                                                                         "rowwise_delayed_division",
                                                                         "spilled_scores",
                                                                         "flash",
                                                                         "fused_block"};

/// Who does what in `flash`.
struct FlashBalance {
  bool vector_exponential = false;  ///< exp on the vector engine, which must have the fused exponential
  std::uint64_t scalar_maxima = 0;  ///< of every four blocks of scores, those whose row maximum scalar finds
  bool turns_on_tensor = false;     ///< P transposed by the tensor engine through PSUM, else by DMA
  std::uint64_t copy_columns = 0;   ///< PSUM columns that one copy of transposed P takes
};

/// One attention call on one physical core.
struct AttentionCall {
  AttentionSchedule schedule = AttentionSchedule::kAuto;
  std::uint64_t heads = 0;             ///< (sequence, query head) pairs of this core
  std::uint64_t kv_heads = 0;          ///< (sequence, KV head) pairs that they read
  std::uint64_t hidden = 0;            ///< width of the residual stream, kFusedBlock
  PrefillAttention shape;              ///< queries, keys, mask and head width; its numbers of heads are not used
  Dtype dtype = Dtype::kBf16;          ///< of Q, K, V and the result
  Dtype softmax_dtype = Dtype::kBf16;  ///< of P and of both operands of its product with V
  FlashBalance balance;
};

/// Writes `call` by its schedule, which is not kAuto. Throws InfeasibleError if the schedule does not take its shape.
void write_attention(TileWriter& w, const AttentionCall& call);
/// Bytes of keys and values that write_attention() reads from HBM.
[[nodiscard]] std::uint64_t attention_kv_bytes(const AttentionCall& call);

// One file each; by schedule.
void attention_phases(TileWriter& w, const AttentionCall& call);
void attention_hbm_passes(TileWriter& w, const AttentionCall& call);
void attention_recompute(TileWriter& w, const AttentionCall& call);
void attention_single_max(TileWriter& w, const AttentionCall& call);
void attention_rowwise(TileWriter& w, const AttentionCall& call);
void attention_spilled_scores(TileWriter& w, const AttentionCall& call);
/// Starts once `ready` holds; returns what makes the whole result ready.
Handle attention_flash(TileWriter& w, const AttentionCall& call, Handle ready);
void attention_block(TileWriter& w, const AttentionCall& call);

/// Projection of the residual stream to Q, K and V, attention by kFlash, projection back and sum with the residual.
struct FusedAttention {
  AttentionCall attention;
  std::uint64_t hidden = 0;
  Dtype projections = Dtype::kBf16;  ///< of both projections: BF16, FP8 or MXFP8

  [[nodiscard]] std::uint64_t q_width() const { return attention.heads * attention.shape.head_dim; }
  [[nodiscard]] std::uint64_t qkv_width() const {
    return q_width() + 2 * attention.kv_heads * attention.shape.head_dim;
  }
};
void fused_attention(TileWriter& w, const FusedAttention& shape);
/// Bytes of weights that it reads: all of them for every block of tokens.
[[nodiscard]] std::uint64_t fused_attention_weight_bytes(const TileWriter& w, const FusedAttention& shape);

/// Emits the instructions of hand-tiled attention. Sizes are elements per partition unless said otherwise.
class AttentionSteps {
 public:
  using After = std::initializer_list<Handle>;

  explicit AttentionSteps(TileWriter& w) : w_(w) {}

  [[nodiscard]] TileWriter& writer() const { return w_; }
  [[nodiscard]] SegmentBuilder& segment() const { return w_.segment(); }
  [[nodiscard]] std::uint64_t tile() const { return w_.tile_width(); }              ///< queries or keys of a tile
  [[nodiscard]] std::uint64_t block() const { return w_.core().moving_columns(); }  ///< keys of a block of scores
  [[nodiscard]] BufferRing banks(std::uint32_t count);                              ///< PSUM banks used in turn
  [[nodiscard]] BufferRing tiles_in_banks(std::uint32_t count);                     ///< the same, tile by tile
  [[nodiscard]] BufferRing buffers(std::uint64_t bytes, std::uint32_t count);       ///< SBUF, bytes per partition

  /// Stationary [contraction x stationary], moving [contraction x moving], into PSUM.
  Handle multiply(Dtype dtype, std::uint64_t contraction, std::uint64_t stationary, std::uint64_t moving, After after);
  /// Transpose on the tensor engine, into PSUM.
  Handle turn(Dtype dtype, std::uint64_t rows, std::uint64_t columns, After after);
  /// Copy out of PSUM to SBUF: one of four on vector, the others on scalar, as compilers were seen to deal them.
  Handle drain(std::uint64_t free, After after, std::uint32_t rows = 0) {
    return copy(free, Space::kPsum, after, rows);
  }
  /// A copy or cast of FP32, dealt in the same way.
  Handle copy(std::uint64_t free, Space from, After after, std::uint32_t rows = 0);
  /// The newest of those copies on vector and on scalar: who waits for both has all that were emitted so far.
  [[nodiscard]] const std::array<Handle, 2>& drained() const { return drained_; }

  /// Maximum or sum of each row, on vector.
  Handle reduce(std::uint64_t free, Space from, Dtype dtype, After after);
  /// A block of scores out of PSUM to SBUF, masked, with the maximum of each row: on vector, or on scalar where its
  /// activation reduces by maximum (NeuronCore-v4).
  Handle masked_maximum(Engine engine, std::uint64_t free, After after);
  /// Each row times its own scalar, on vector.
  Handle scale(std::uint64_t free, Space from, Dtype dtype, After after, std::uint32_t rows = 0);
  /// Two operands of FP32, element by element, on vector.
  Handle combine(std::uint64_t free, Space first, Space second, After after);
  Handle reciprocal(std::uint64_t free, After after);
  /// The same in one instruction of the vector engine, with the row sum, where it has the fused exponential.
  Handle vector_exponential(std::uint64_t free, Space from, Dtype dtype, After after);
  /// exp(x - maximum of the row) on scalar; `row_sum`: sums the results too.
  Handle exponential(std::uint64_t free, Space from, Dtype dtype, bool row_sum, After after);

  /// A tile of `rows` partitions, `runs` contiguous stretches of `run_bytes` in each.
  struct Tile {
    std::uint64_t rows = 0, run_bytes = 0;
    std::uint64_t runs = 1;
    Traffic traffic = Traffic::kActivations;
    DescriptorGeneration generation = DescriptorGeneration::kHardware;
    bool transposes = false;
    bool casts = false;
  };
  Handle load(Engine engine, Queue queue, const Tile& tile, After after);
  /// SBUF for Q, K and V of one head.
  void reserve_operands(const AttentionCall& call);
  /// `tokens` of Q, K or V of one head, in `call.dtype`, with the head on partitions.
  Handle load_operand(const AttentionCall& call, std::uint64_t tokens, Traffic traffic);
  Handle store(Engine engine, Queue queue, const Tile& tile, After after);

 private:
  Handle move(Engine engine, Queue queue, const Tile& tile, Space source, After after);

  TileWriter& w_;
  std::uint64_t drains_ = 0;
  std::array<Handle, 2> drained_;
};

/// Throws InfeasibleError unless queries and keys come in whole blocks, all queries see all keys and the head fits the
/// array: what kernels without a mask take.
void check_whole_blocks(const AttentionSteps& steps, const AttentionCall& call);

}  // namespace trnsim
