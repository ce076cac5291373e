// What software may ask of the hardware: instructions, DMA transfers, and the semaphores that order them.
//
// The engines of a NeuronCore run asynchronously, each through its own instruction list. An instruction
// waits until its semaphores hold the counts it asks for, takes those counts away, runs, and on completion
// adds to other semaphores (on its own core, or, for a DMA transfer, on the core that received the data).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/mechanism/units.h"
#include "models/program/dtype.h"

namespace trnsim {

/// The sequencers of a NeuronCore. The CC-cores that serve it run four streams side by side, kCollective is the first.
enum class Engine : std::uint8_t {
  kTensor,
  kVector,
  kScalar,
  kGpSimd,
  kSync,
  kCollective,
  kCollective2,
  kCollective3,
  kCollective4
};
inline constexpr std::size_t kEngineCount = 9;
inline constexpr std::array<std::string_view, kEngineCount> kEngineNames = {
    "tensor", "vector", "scalar", "gpsimd", "sync", "collective", "collective2", "collective3", "collective4"};
inline constexpr std::size_t kStreamCount = 4;

[[nodiscard]] constexpr bool is_collective(Engine engine) {
  return engine >= Engine::kCollective;
}
/// Stream 0 to kStreamCount - 1 of the CC-cores.
[[nodiscard]] constexpr Engine stream(std::size_t number) {
  return static_cast<Engine>(static_cast<std::size_t>(Engine::kCollective) + number);
}
/// One bit per engine.
using EngineSet = std::uint16_t;
[[nodiscard]] constexpr EngineSet set_of(Engine engine) {
  return static_cast<EngineSet>(1U << static_cast<unsigned>(engine));
}

enum class Space : std::uint8_t { kNone, kSbuf, kPsum, kHbm };

/// Operations by the rule that gives their cost, not by their arithmetic.
enum class Op : std::uint8_t {
  kNop,           ///< control only: waits and signals
  kMatmul,        ///< tensor: stationary [rows x columns], moving [rows x free]
  kTranspose,     ///< tensor: matmul against the identity, `rows` x `free`
  kLoadWeights,   ///< tensor: a stationary tile [rows x columns] alone; a matmul's own load hides behind the one before
  kCopy,          ///< vector/scalar/gpsimd: one input, one output (copies, casts)
  kTensorScalar,  ///< vector/gpsimd: one input and scalars, one per partition if `reads_scalar`
  kBinary,        ///< vector/gpsimd: two inputs (tensor-tensor)
  kScalarTensorTensor,  ///< vector: (tensor x scalar) x tensor in one pass
  kScan,                ///< vector: running combination of two inputs along the free dimension
  kSelect,              ///< vector/gpsimd: elements by a mask or a range
  kMemset,              ///< vector/gpsimd: a constant
  kReduce,              ///< vector: one input, reduced along the free dimension
  kActivation,          ///< scalar: `function` of scale*x+bias, optional row sum
  kExponential,         ///< vector where the core has the fused exponential, else scalar
  kReciprocal,          ///< vector
  kMax8,                ///< vector: eight largest values or their indices per partition
  kQuantizeMx,          ///< vector: BF16 to MXFP8 with scales, where the core has it
  kLoadTable,           ///< scalar: the table of `function`
  kGather,              ///< gpsimd: select or scatter by index
  kTopK,                ///< gpsimd: the `columns` largest of `free` values
  kDma,                 ///< any engine: start the DMA transfer `transfer`
  kLoopBegin,           ///< repeat the instructions up to the matching kLoopEnd `repeat` times (zero skips them)
  kLoopEnd,
};

/// What a scalar engine looks up in a table that it holds one of; kNone needs no table.
enum class Function : std::uint8_t {
  kNone,
  kExp,
  kSquare,
  kSigmoid,
  kSilu,
  kGelu,
  kTanh,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kLog,
  kSoftplus
};

/// Structured sparsity of stationary weights: how many of how many consecutive ones along the contraction are stored,
/// each with a 4-bit tag that says which it is. Source: NeuronCore-v3 Architecture (patterns), Trainium2 Architecture
/// Guide for NKI (tags of 128 x 32 16-bit words for 128 x 128 weights).
enum class Sparsity : std::uint8_t { kDense, k4Of16, k4Of12, k4Of8, k2Of8, k2Of4, k1Of4, k1Of2 };
inline constexpr std::size_t kSparsityCount = 8;
inline constexpr std::array<std::string_view, kSparsityCount> kSparsityNames = {"none", "4of16", "4of12", "4of8",
                                                                                "2of8", "2of4",  "1of4",  "1of2"};
inline constexpr std::uint64_t kSparsityTagBits = 4;

/// Weights of the product for one that is stored.
[[nodiscard]] constexpr std::uint32_t weights_per_stored(Sparsity sparsity) {
  constexpr std::array<std::uint32_t, kSparsityCount> kRatios = {1, 4, 3, 2, 4, 2, 4, 2};
  return kRatios[static_cast<std::size_t>(sparsity)];
}

/// A number known when the program is built, or read from the core's registers when it runs:
/// value() = scale * base, where base is 1 (constant), reg[index] or reg[index + innermost loop counter].
struct Count {
  enum class Kind : std::uint8_t { kConstant, kRegister, kIndexed };
  std::uint64_t scale = 1;
  std::uint32_t index = 0;  ///< register, relative to the frame of the running call
  Kind kind = Kind::kConstant;

  static constexpr Count constant(std::uint64_t value) { return {value, 0, Kind::kConstant}; }
  static constexpr Count reg(std::uint32_t index, std::uint64_t scale = 1) { return {scale, index, Kind::kRegister}; }
  static constexpr Count indexed(std::uint32_t index, std::uint64_t scale = 1) {
    return {scale, index, Kind::kIndexed};
  }
  constexpr bool operator==(const Count&) const = default;
};

using SemaphoreId = std::uint16_t;

/// One count taken from, or added to, a semaphore.
struct SemaphoreUse {
  SemaphoreId semaphore = 0;
  std::uint16_t count = 0;  ///< 0 = unused slot
};

inline constexpr std::size_t kMaxWaits = 6;
inline constexpr std::size_t kMaxSignals = 4;

/// One instruction of one engine. `repeat` equal instructions may be written as one; `run.detail` decides
/// whether they are executed one by one or as a run with the same total cost.
struct Instruction {
  Op op = Op::kNop;
  Dtype dtype = Dtype::kBf16;   ///< of the input that sets the rate
  Space source = Space::kSbuf;  ///< of the main input
  Space destination = Space::kSbuf;
  Space second = Space::kNone;  ///< of the second tensor operand
  Function function = Function::kNone;
  bool reads_scalar =
      false;                ///< one value per partition comes by pointer: scale of a tensor-scalar, bias of a function
  std::uint8_t passes = 0;  ///< kMatmul: passes of the array; 0 = as many as `dtype` needs
  Sparsity sparsity = Sparsity::kDense;  ///< kMatmul: of the stationary tile
  /// kMatmul: it takes one of so many groups of the array's rows and columns, and others run beside it in the rest.
  std::uint8_t row_tiles = 1;
  std::uint8_t column_tiles = 1;
  /// One more than the PSUM bank of its operand; 0 = a bank that no other engine uses meanwhile.
  std::uint16_t psum_bank = 0;
  bool keeps_weights = false;  ///< kMatmul: the stationary tile is that of the matmul before
  bool row_sum = false;        ///< a function also sums its results along the free dimension
  std::uint8_t wait_count = 0;
  std::uint8_t signal_count = 0;
  std::uint16_t operator_id = 0;    ///< index into Program::operators
  std::uint32_t rows = 0;           ///< partitions used; for kMatmul the contraction depth of one pass
  std::uint32_t columns = 0;        ///< kMatmul: stationary columns
  Count free = Count::constant(0);  ///< elements per partition; kMatmul: moving columns
  Count repeat = Count::constant(1);
  std::uint32_t transfer = 0;  ///< kDma: index into Segment::transfers; kLoopBegin/kLoopEnd: partner's position
  std::array<SemaphoreUse, kMaxWaits> waits{};
  std::array<SemaphoreUse, kMaxSignals> signals{};

  /// kMatmul: rows of weights that the array holds and multiplies.
  [[nodiscard]] constexpr std::uint32_t stored_rows() const {
    const std::uint32_t ratio = weights_per_stored(sparsity);
    return (rows + ratio - 1) / ratio;
  }
  /// kMatmul: as many of its kind run side by side in the array.
  [[nodiscard]] constexpr std::uint32_t side_by_side() const { return std::uint32_t{row_tiles} * column_tiles; }
};

/// How the descriptors of a transfer come to be.
enum class DescriptorGeneration : std::uint8_t { kPrebuilt, kHardware, kSoftware };

/// Why bytes are moved; counted apart.
enum class Traffic : std::uint8_t { kWeights, kBiases, kKvRead, kKvWrite, kActivations, kCollective };
inline constexpr std::size_t kTrafficCount = 6;
inline constexpr std::array<std::string_view, kTrafficCount> kTrafficNames = {"weights",  "biases",      "kv_read",
                                                                              "kv_write", "activations", "collective"};

/// Who owns the destination memory of a transfer.
inline constexpr std::uint32_t kSelf = 0xffffffff;  ///< the core that starts it

/// One DMA transfer: a burst of descriptors on one queue, spread over the core's DMA engines.
struct Transfer {
  Bytes bytes_per_repeat;  ///< total = this times Instruction::repeat
  std::uint32_t descriptors_per_repeat = 1;
  std::uint32_t peer = kSelf;  ///< index into the core's peer table, or kSelf
  /// Another core on the chip of `peer`, or kSelf for none: gets the same bytes and signal. They cross links once.
  std::uint32_t copy_peer = kSelf;
  /// A core of this chip, or kSelf for none: its memory is read `partner_reads` times more (inline reduction).
  std::uint32_t partner = kSelf;
  std::uint8_t queue = 0;  ///< DMA queue of the core; transfers of one queue stay in order
  std::uint8_t qos = 0;    ///< class of service, 0 the highest, below DmaSpec::qos_classes
  DescriptorGeneration generation = DescriptorGeneration::kHardware;
  Traffic traffic = Traffic::kActivations;
  Space source = Space::kHbm;        ///< on the starting core
  Space destination = Space::kSbuf;  ///< on the destination core
  std::uint8_t engines = 0;          ///< DMA engines that its partitions lie on; 0 = as many as it has descriptors
  bool transposes = false;
  bool computes = false;  ///< casts or accumulates on the way
  /// Its descriptors wait in the ring for what it depends on: no step of a CC-core in between.
  bool chained = false;
  std::uint8_t reads = 1;  ///< times each byte is read at the source (inline reduction: 2 or 3)
  std::uint8_t partner_reads = 0;
  SemaphoreUse on_delivery{};  ///< added at the destination core once all bytes are written

  [[nodiscard]] std::uint64_t descriptors(std::uint64_t repeat) const { return descriptors_per_repeat * repeat; }
};

}  // namespace trnsim
