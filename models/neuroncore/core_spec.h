// What a NeuronCore is, in numbers. Every value comes from a platform CSV.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/mechanism/units.h"
#include "models/program/dtype.h"

namespace trnsim {

/// Tensor engine: a `rows` x `columns` weight-stationary array.
struct TensorSpec {
  Hertz clock;
  std::uint32_t rows = 0;              ///< contraction depth of one pass in BF16
  std::uint32_t columns = 0;           ///< stationary columns of one pass
  std::uint32_t max_moving = 0;        ///< moving columns of one matmul (elements)
  std::uint32_t minimum_interval = 0;  ///< cycles between two matmuls at least
  std::uint32_t issue_cycles = 0;      ///< cycles from the last row of an instruction to the first of the next
  std::uint32_t weight_load = 0;       ///< cycles to load a full stationary tile, hidden behind the running matmul
  std::uint32_t weight_load_fp32 = 0;  ///< the same in FP32
  Time weight_load_completion;         ///< end of occupancy to the end of a weight load
  std::uint32_t fp32_passes = 0;       ///< passes per FP32 matmul, each with weights of its own
  std::uint32_t fp32_row_cycles = 0;   ///< cycles per moving row in FP32
  std::uint32_t fp32_transpose_passes = 0;
  std::uint32_t fp8_rows = 0;       ///< contraction depth of one FP8 pass
  std::uint32_t mx_rows = 0;        ///< contraction depth of one MXFP8 pass; 0 = no microscaling
  std::uint32_t mxfp4_rows = 0;     ///< contraction depth of one MXFP4 pass; 0 = no microscaling
  std::uint32_t sparse_inputs = 0;  ///< moving elements per row and cycle that sparse weights pick from; 0 = none can
  std::uint32_t row_tiles = 1;      ///< groups of rows that matmuls of their own can run in, at most
  std::uint32_t column_tiles = 1;   ///< the same of columns
  Time fill;                        ///< end of issue to result visible, beyond the drain
  std::uint32_t drain = 0;          ///< array cycles from the last row to its result
  bool limiter = false;             ///< dI/dt limiter present
  Time limiter_window;
  double limiter_open = 0;      ///< activity of a window above which the next runs at full rate
  double limiter_close = 0;     ///< activity of a window below which the next is limited
  double limiter_fraction = 0;  ///< rate while limited

  /// Contraction depth of one pass; 0 where the array does not have the format.
  [[nodiscard]] std::uint32_t contraction_rows(Dtype dtype) const {
    switch (dtype) {
      case Dtype::kMxfp4:
        return mxfp4_rows;
      case Dtype::kMxfp8:
        return mx_rows;
      case Dtype::kFp8:
        return fp8_rows;
      default:
        return rows;
    }
  }
};

/// Vector, scalar and GpSimd engines: `lanes` partitions in parallel.
struct VectorSpec {
  Hertz clock;
  std::uint32_t minimum_interval = 0;   ///< cycles
  std::uint32_t copy_rate_16bit = 0;    ///< elements/partition/cycle, one input, 16-bit (or FP8 where fast) in SBUF
  std::uint32_t copy_rate = 0;          ///< same, other types in SBUF
  std::uint32_t psum_rate = 0;          ///< any operand in PSUM
  std::uint32_t binary_rate_16bit = 0;  ///< two inputs, 16-bit in SBUF
  std::uint32_t binary_cycles = 0;      ///< cycles/element, two inputs, other
  std::uint32_t scan_cycles = 0;        ///< cycles/element
  std::uint32_t reduce_rate = 0;
  std::uint32_t reciprocal_cycles = 0;  ///< cycles/element
  std::uint32_t exponential_rate = 0;   ///< fused exponential, elements/partition/cycle; 0 = not present
  std::uint32_t quantize_mx_rate = 0;   ///< elements/partition/cycle; 0 = not present
  Time issue_overhead;                  ///< added to every occupancy
  Time pointer_overhead;                ///< added where one scalar per partition is read by pointer
  Time completion;                      ///< end of occupancy to result visible
};

struct ScalarSpec {
  Hertz clock;
  std::uint32_t minimum_interval = 0;
  std::uint32_t rate_16bit = 0;
  std::uint32_t rate = 0;
  Time issue_overhead;
  Time function_overhead;  ///< of a function of scale * x + bias, beyond a copy
  Time sbuf_overhead;      ///< of a source in SBUF, beyond one in PSUM
  Time table_load;         ///< to change the function
  Time completion;
};

struct GpSimdSpec {
  Hertz clock;
  std::uint32_t start = 0;         ///< cycles per instruction before the first element
  std::uint32_t rate = 0;          ///< elements/partition/cycle
  std::uint32_t top_k_cycles = 0;  ///< cycles per value of a top-k; 0 = not present
  Time completion;
};

/// Which instructions of vector and GpSimd take turns at SBUF.
enum class SharedPort : std::uint8_t { kNone, kFastModes, kAll };
/// Which instructions of vector and scalar take turns at PSUM: those in one bank, or all.
enum class PsumPort : std::uint8_t { kNone, kSameBank, kAll };

/// Sequencing: what it costs to hand over between engines.
struct ControlSpec {
  Time semaphore;      ///< engine to engine
  Time dispatch;       ///< a step of a sequencer: one trip of a loop
  Time program_entry;  ///< start of a program to its first instruction
  Time program_exit;   ///< last instruction to the end of the program
  std::uint32_t semaphores = 0;
};

/// CC-cores: sequencers that release prebuilt descriptor rings step by step.
struct CollectiveCoreSpec {
  Time message_issue;        ///< occupancy per message released
  Time step;                 ///< trigger or semaphore arrival to the first descriptor of the messages that depend on it
  Bytes mesh_limit;          ///< largest collective that the runtime does by mesh
  Bytes mesh_shard_limit;    ///< largest shard of a rank in them
  Bytes recursive_limit;     ///< largest that it does by recursive halving and doubling, where the chips form a cube
  bool pairs_ranks = false;  ///< whether it takes KangaRing, rings of pairs of ranks, for larger ones; else ring
  std::uint32_t slices = 1;  ///< parts of a chunk that go round a ring one behind the other
};

struct CoreSpec {
  TensorSpec tensor;
  VectorSpec vector;
  ScalarSpec scalar;
  GpSimdSpec gpsimd;
  ControlSpec control;
  CollectiveCoreSpec collective;
  std::uint32_t partitions = 0;
  Bytes sbuf_per_partition;  ///< usable by kernels
  Bytes psum_per_partition;
  std::uint32_t psum_banks = 0;
  SharedPort sbuf_port = SharedPort::kNone;  ///< kFastModes: vector takes it in its fast modes only
  PsumPort psum_port = PsumPort::kNone;
  /// One bank in one partition.
  [[nodiscard]] Bytes psum_bank() const { return Bytes(psum_per_partition.count() / psum_banks); }
  /// Moving columns of one matmul: its FP32 results stay in one PSUM bank.
  [[nodiscard]] std::uint64_t moving_columns() const {
    return std::min<std::uint64_t>(tensor.max_moving, psum_bank().count() / sizeof(float));
  }
};

}  // namespace trnsim
