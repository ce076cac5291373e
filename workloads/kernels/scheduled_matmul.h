// Matmuls whose blocks, loop order, residency and buffering are given, as unrolled instruction streams.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/kernels/writer.h"

namespace trnsim {

enum class Axis : std::uint8_t { kM, kN, kK };
enum class MatmulPrologue : std::uint8_t { kNone, kAddRmsNorm };
enum class MatmulEpilogue : std::uint8_t { kNone, kBiasGelu, kBiasGeluKernel, kSoftmax };

/// C[m x n] = A[m x k] B[k x n] per batch. Extents are elements; a block that exceeds the matrix is cut.
struct ScheduledMatmul {
  std::uint64_t batch = 1;
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint64_t lora_rank = 0;  ///< C = A B + (A L1[k x r]) L2[r x n]
  Dtype dtype = Dtype::kBf16;
  Dtype result_dtype = Dtype::kBf16;
  Dtype accumulator_dtype = Dtype::kBf16;  ///< of partial sums in SBUF
  std::array<Axis, 3> order = {Axis::kN, Axis::kK, Axis::kM};
  std::uint64_t block_m = 1, block_n = 1, block_k = 1;
  std::uint64_t load_m = 1, load_n = 1, load_k = 1;
  std::uint64_t store_n = 1;
  std::uint64_t buffers = 2;   ///< of each operand block
  bool transpose_lhs = false;  ///< A lies in HBM as [m x k]
  bool rolled = false;         ///< hardware loops
  std::optional<Engine> evacuation;
  MatmulPrologue prologue = MatmulPrologue::kNone;
  MatmulEpilogue epilogue = MatmulEpilogue::kNone;
};

/// What a schedule reads from HBM beside A, in closed form.
struct MatmulReads {
  std::uint64_t rhs = 0;     ///< bytes of B and of the low-rank factors
  std::uint64_t biases = 0;  ///< bytes
};

/// Emits one schedule, or only says what it reads. All throw InfeasibleError if the buffers do not fit.
struct MatmulScheduleInfo {
  std::string_view name;
  void (*emit)(TileWriter&, const ScheduledMatmul&);
  MatmulReads (*reads)(const CoreSpec&, const ScheduledMatmul&);
};

/// Every tile is loaded where it is used; an m x n group of PSUM banks accumulates over all of k.
void tiled_matmul(TileWriter& w, const ScheduledMatmul& s);
[[nodiscard]] MatmulReads tiled_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s);
/// The same, with A's row block loaded before the loop over n.
void hoisted_loads_matmul(TileWriter& w, const ScheduledMatmul& s);
[[nodiscard]] MatmulReads hoisted_loads_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s);
/// The same, keeping what the loops inside do not change as far as SBUF holds it: A's row block, then all of B. Loads
/// take turns between two queues.
void kept_loads_matmul(TileWriter& w, const ScheduledMatmul& s);
[[nodiscard]] MatmulReads kept_loads_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s);
/// n outermost, B's column block resident.
void resident_rhs_matmul(TileWriter& w, const ScheduledMatmul& s);
[[nodiscard]] MatmulReads resident_rhs_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s);
/// Three block loops; partial sums of a block of k are added up in SBUF.
void blocked_matmul(TileWriter& w, const ScheduledMatmul& s);
[[nodiscard]] MatmulReads blocked_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s);
/// Strips of A's rows, transposed on the tensor engine.
void strip_matmul(TileWriter& w, const ScheduledMatmul& s);
[[nodiscard]] MatmulReads strip_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s);
/// A product and a low-rank correction of it.
void lora_matmul(TileWriter& w, const ScheduledMatmul& s);
[[nodiscard]] MatmulReads lora_matmul_reads(const CoreSpec& core, const ScheduledMatmul& s);

}  // namespace trnsim
