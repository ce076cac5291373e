// What every kernel has at hand: the target's shapes, the program under construction, its buffer rings.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/program/builder.h"
#include "models/system/machine_spec.h"

namespace trnsim {

/// DMA queues by purpose. A queue is started by one engine and carries one kind of transfer, so that its
/// completions stay in order.
enum class Queue : std::uint8_t {
  kWeights,       ///< sync: weights, HBM to SBUF
  kSmall,         ///< sync: biases, gains, tables
  kKv,            ///< sync: keys and values
  kExpertBiases,  ///< gpsimd: rows picked by index
  kKvWrite,       ///< gpsimd: new keys and values
  kSibling,       ///< gpsimd: to the other core of the logical core
  kStore,         ///< gpsimd: results, SBUF to HBM
  kInput,         ///< gpsimd: activations, HBM to SBUF
  kScatter,       ///< gpsimd: activations, SBUF to HBM by index
  kTiles,         ///< sync: activations by tile, HBM to SBUF
  kTurn,          ///< gpsimd: transposes, SBUF to SBUF
  kSpill,         ///< scalar: intermediate results, SBUF to HBM
  kStage,         ///< collective: to and from the memory that messages leave from, and what else stays on the core
  kMessages,      ///< collective: to other ranks; one queue per stream
  kMessages2,
  kMessages3,
};

/// Features of an activation that one tile holds, one per partition.
[[nodiscard]] std::uint64_t features_per_tile(const CoreSpec& core);

/// Emits instructions of one physical core, sized by the target's spec alone.
class TileWriter {
 public:
  TileWriter(ProgramBuilder& program, const MachineSpec& machine, std::uint32_t lnc, std::uint32_t lane)
      : program_(program), machine_(machine), lnc_(lnc), lane_(lane) {}

  /// The segment that following emissions go to.
  void write_to(SegmentBuilder& segment) { segment_ = &segment; }
  [[nodiscard]] SegmentBuilder& segment() { return *segment_; }
  [[nodiscard]] ProgramBuilder& program() { return program_; }
  [[nodiscard]] const CoreSpec& core() const { return machine_.core; }
  [[nodiscard]] const MachineSpec& machine() const { return machine_; }
  [[nodiscard]] std::uint32_t lnc() const { return lnc_; }
  [[nodiscard]] std::uint32_t lane() const { return lane_; }
  [[nodiscard]] std::uint32_t partitions() const { return machine_.core.partitions; }

  /// A program that is launched once all that was written before has ended. `write` is called after this writer's
  /// segment is complete; handles of one do not reach into the other.
  void then_launch(std::function<void()> write) { launches_.push_back(std::move(write)); }
  [[nodiscard]] const std::vector<std::function<void()>>& launches() const { return launches_; }

  /// This core's part of `count` things dealt over the logical core: the first cores take one more.
  [[nodiscard]] std::uint64_t share(std::uint64_t count) const;
  /// Features of one tile: what the array puts out in one pass and takes in again, on as many partitions.
  [[nodiscard]] std::uint64_t tile_width() const { return features_per_tile(core()); }
  [[nodiscard]] std::uint64_t tiles(std::uint64_t count) const { return ceil_div(count, tile_width()); }
  [[nodiscard]] std::uint64_t contraction_rows(Dtype dtype) const;
  [[nodiscard]] std::uint64_t passes(std::uint64_t contraction, Dtype dtype) const;
  /// Elements per partition of a [features x tokens] tensor that has features on the partitions.
  [[nodiscard]] std::uint64_t free_elements(std::uint64_t features, std::uint64_t tokens) const {
    return tiles(features) * tokens;
  }

  struct Matmul {
    Dtype dtype = Dtype::kBf16;
    std::uint64_t rows = 0, columns = 0;
    Count free, repeat;
  };
  /// Throws InfeasibleError if more columns move than the results of fit a PSUM bank.
  Handle matmul(const Matmul& shape, std::span<const Handle> after);
  Handle matmul(const Matmul& shape, std::initializer_list<Handle> after) {
    return matmul(shape, std::span<const Handle>(after.begin(), after.size()));
  }
  /// `repeat` transposes of [rows x columns].
  Handle transpose(std::uint64_t rows, std::uint64_t columns, std::uint64_t repeat, std::initializer_list<Handle> after,
                   Dtype dtype = Dtype::kBf16);

  /// One operation over `free` elements per partition on vector, scalar or GpSimd.
  struct Elementwise {
    Op op = Op::kCopy;
    Count free;
    Space source = Space::kSbuf;
    Dtype dtype = Dtype::kBf16;
    std::uint32_t rows = 0;  ///< partitions; 0 = all
    Count repeat = Count::constant(1);
    Space destination = Space::kSbuf;
    Space second = Space::kNone;
    Function function = Function::kNone;
    bool reads_scalar = false;
    bool row_sum = false;
  };
  Handle run(Engine engine, const Elementwise& operation, std::initializer_list<Handle> after);
  /// exp, on the vector engine where it has the function, else on scalar.
  Handle exponential(Count free, Space source, std::initializer_list<Handle> after, Count repeat = Count::constant(1));

  struct Move {
    std::uint64_t bytes = 0;        ///< per repeat
    std::uint64_t descriptors = 0;  ///< per repeat; 0 = evenly over partitions
    Count repeat = Count::constant(1);
    Traffic traffic = Traffic::kActivations;
    Space source = Space::kHbm;
    Space destination = Space::kSbuf;
    DescriptorGeneration generation = DescriptorGeneration::kHardware;
    std::uint8_t reads = 1;
    std::uint8_t qos = 0;          ///< class of service, 0 the highest
    std::uint64_t partitions = 0;  ///< SBUF partitions that it touches, which bounds its DMA engines; 0 = all
    bool transposes = false;
    bool computes = false;  ///< casts or accumulates
  };
  /// A transfer between this core's own memories. No bytes: nothing is emitted.
  Handle move(Engine engine, Queue queue, const Move& what, std::initializer_list<Handle> after);
  /// Descriptors that carry `bytes` spread evenly over the partitions.
  [[nodiscard]] std::uint32_t descriptors(std::uint64_t bytes) const;

  /// Sends `send` bytes to the other core of the logical core and waits until as much has come from there.
  /// Returns a handle on the vector engine, where the data is used first. With one core nothing happens.
  Handle exchange(SemaphoreId arrival, std::uint64_t send_bytes, Handle ready);
  /// Two lanes whose exchange moves different amounts still wait for one message each.
  [[nodiscard]] SemaphoreId sibling_arrival();

  /// Runs `body` `count` times: written out if few, else as a loop. `body` returns its last handle on `last`.
  Handle times(std::uint64_t count, Engine last, const std::function<Handle()>& body);

 private:
  ProgramBuilder& program_;
  const MachineSpec& machine_;
  std::uint32_t lnc_;
  std::uint32_t lane_;
  SegmentBuilder* segment_ = nullptr;
  std::vector<std::function<void()>> launches_;
};

/// Buffer rings of a program. All sizes are per partition.
struct Rings {
  BufferRing weights, kv, psum, sums;
  std::uint64_t weight_slot = 0;  ///< bytes of one weight buffer
  std::uint64_t kv_slot = 0;
  std::uint64_t psum_slot = 0;  ///< FP32 elements of one PSUM buffer
  std::uint64_t sums_slot = 0;  ///< FP32 elements that accumulate over a whole expert
  std::uint32_t psum_buffers = 0, sums_buffers = 0;
};

/// A writer whose SBUF and PSUM are shared out to rings that every kernel of a model uses in turn.
class KernelWriter : public TileWriter {
 public:
  /// `resident` bytes per partition stay in SBUF for the whole program; the rest is shared out to the rings.
  /// `sums` FP32 elements per partition are what a kernel would like to accumulate in one PSUM buffer.
  KernelWriter(ProgramBuilder& program, const MachineSpec& machine, std::uint32_t lnc, std::uint32_t lane,
               std::uint64_t resident, std::uint64_t sums);

  [[nodiscard]] const Rings& rings() const { return rings_; }

 private:
  void share_psum(std::uint64_t sums);

  Rings rings_;
};

}  // namespace trnsim
