#include "models/neuroncore/timing.h"

#include <algorithm>

#include "models/mechanism/error.h"
#include "models/neuroncore/operation_spec.h"

namespace trnsim {
namespace {

bool is_16bit_or_narrower(Dtype dtype) {
  return dtype != Dtype::kFp32;
}

bool touches_psum(const Instruction& i) {
  return i.source == Space::kPsum || i.destination == Space::kPsum || i.second == Space::kPsum;
}

// A pass moves `free` rows through the array; a matmul waits for its weights only if loading them takes longer than the
// matmul before it ran (background load). FP32 goes as several passes of slower rows, each with weights of its own.
// Source: NKI architecture guide (initiation interval max(64, N), fast and background weight load, FP32 at a quarter of
// the rate) and Trn2 kernel profiles (two FP32 passes, six cycles between back-to-back instructions, drain).
// Sparse weights pick from several moving elements per row and cycle; a pattern that needs more takes more cycles.
// In a group of rows or columns a matmul has the time of its own rows, and the engine issues the next one, for another
// group, after the minimum interval: on average each takes its part of the array.
Cost matmul_cost(const CoreSpec& core, const Instruction& i, std::uint64_t free, std::uint64_t row,
                 std::uint64_t load) {
  const TensorSpec& t = core.tensor;
  check(free <= core.moving_columns(), "the results of a matmul fit a PSUM bank");
  const bool sparse = i.sparsity != Sparsity::kDense;
  check(!sparse || t.sparse_inputs > 0, "sparse weights are for arrays that pick from several inputs");
  const std::uint64_t picks = sparse ? ceil_div(weights_per_stored(i.sparsity), t.sparse_inputs) : 1;
  const std::uint64_t alone = free * row * picks + t.issue_cycles;
  const std::uint64_t issue = std::max(std::uint64_t{t.minimum_interval}, i.keeps_weights ? 0 : load) + t.issue_cycles;
  const std::uint64_t taken = std::max(ceil_div(alone, i.side_by_side()), issue);
  const std::uint64_t passes = i.passes > 0 ? i.passes : i.dtype == Dtype::kFp32 ? t.fp32_passes : 1;
  return {taken * passes, t.clock, Time(), t.fill, 0, t.drain + (std::max(alone, taken) - taken) * passes};
}

Cost tensor_cost(const CoreSpec& core, const Instruction& i, std::uint64_t free) {
  const TensorSpec& t = core.tensor;
  const bool fp32 = i.dtype == Dtype::kFp32;
  const std::uint64_t row = fp32 ? t.fp32_row_cycles : 1;
  const std::uint64_t tile = fp32 ? t.weight_load_fp32 : t.weight_load;
  const std::uint64_t load = ceil_div(std::uint64_t{i.columns} * tile, t.columns);
  if (i.op == Op::kLoadWeights) return {load + t.issue_cycles, t.clock, Time(), t.weight_load_completion, 0, 0};
  if (i.op == Op::kTranspose) {
    const std::uint64_t moved = std::max<std::uint64_t>(i.rows, std::min<std::uint64_t>(t.minimum_interval, free));
    const std::uint64_t passes = fp32 ? t.fp32_transpose_passes : 1;
    return {(moved * row + t.issue_cycles) * passes, t.clock, Time(), t.fill, 0, t.drain};
  }
  check(i.op == Op::kMatmul, "the tensor engine multiplies, transposes and loads weights");
  return matmul_cost(core, i, free, row, load);
}

/// Elements per partition in `cycles`.
struct Rate {
  std::uint64_t elements = 1;
  std::uint64_t cycles = 1;
};

// See VectorSpec. Source: NKI architecture guides (fast modes by dtype and space) and measured completion laws of an
// isolated-instruction probe.
Rate vector_rate(const VectorSpec& v, const Instruction& i) {
  switch (i.op) {
    case Op::kCopy:
    case Op::kTensorScalar:
      if (touches_psum(i)) return {v.psum_rate, 1};
      return {is_16bit_or_narrower(i.dtype) ? v.copy_rate_16bit : v.copy_rate, 1};
    case Op::kBinary:
      if (touches_psum(i)) return {v.psum_rate, 1};
      return is_16bit_or_narrower(i.dtype) ? Rate{v.binary_rate_16bit, 1} : Rate{1, v.binary_cycles};
    case Op::kScalarTensorTensor:
      return touches_psum(i) ? Rate{v.psum_rate, 1} : Rate{1, v.binary_cycles};
    case Op::kExponential:
      return {v.exponential_rate, 1};
    case Op::kQuantizeMx:
      return {v.quantize_mx_rate, 1};
    case Op::kReciprocal:
      return {1, v.reciprocal_cycles};
    case Op::kScan:
      return {1, v.scan_cycles};
    default:  // reductions, selections, constants: no fast mode
      return {v.reduce_rate, 1};
  }
}

Cost vector_cost(const VectorSpec& v, const Instruction& i, std::uint64_t free) {
  const Rate rate = vector_rate(v, i);
  const Time pointer = i.reads_scalar ? v.pointer_overhead : Time();
  return {ceil_div(free * rate.cycles, rate.elements),
          v.clock,
          v.issue_overhead + pointer,
          v.completion,
          v.minimum_interval,
          0};
}

// A function, or a copy whose bias is read, costs its operands on top of a copy; so does a source in SBUF.
// Source: Trn2 kernel profiles of exp and copy from both memories.
Cost scalar_cost(const ScalarSpec& s, const Instruction& i, std::uint64_t free) {
  if (i.op == Op::kLoadTable) return {0, s.clock, s.table_load, Time(), 0, 0};
  const std::uint64_t rate = is_16bit_or_narrower(i.dtype) && !touches_psum(i) ? s.rate_16bit : s.rate;
  Time overhead = s.issue_overhead;
  if (i.op != Op::kCopy && (i.function != Function::kNone || i.reads_scalar)) overhead += s.function_overhead;
  if (i.source == Space::kSbuf) overhead += s.sbuf_overhead;
  return {ceil_div(free, rate), s.clock, overhead, s.completion, s.minimum_interval, 0};
}

// Source: NKI ISA reference (150 + N cycles; top-k 4 n + k).
Cost gpsimd_cost(const GpSimdSpec& g, const Instruction& i, std::uint64_t free) {
  if (i.op == Op::kTopK) return {free * g.top_k_cycles + i.columns, g.clock, Time(), g.completion, 0, 0};
  return {g.start + ceil_div(free, g.rate), g.clock, Time(), g.completion, 0, 0};
}

bool touches_sbuf(const Instruction& i) {
  return i.source == Space::kSbuf || i.destination == Space::kSbuf || i.second == Space::kSbuf;
}

bool is_fast(const VectorSpec& v, const Instruction& i) {
  const Rate rate = vector_rate(v, i);
  return rate.elements > rate.cycles;
}

}  // namespace

std::size_t port_count(const CoreSpec& core) {
  return 1 + std::max<std::size_t>(1, core.psum_banks);
}

std::size_t port_number(const CoreSpec& core, const Instruction& i, Port kind) {
  if (kind == Port::kSbuf) return 0;
  return core.psum_port == PsumPort::kSameBank && i.psum_bank > 0 ? i.psum_bank : 1;
}

bool takes_port(const CoreSpec& core, Engine engine, const Instruction& i, Port kind) {
  if (kind == Port::kPsum) {
    if (core.psum_port == PsumPort::kNone || !touches_psum(i)) return false;
    if (core.psum_port == PsumPort::kSameBank && i.psum_bank == 0) return false;
    return engine == Engine::kVector || engine == Engine::kScalar;
  }
  if (core.sbuf_port == SharedPort::kNone || !touches_sbuf(i)) return false;
  if (engine == Engine::kGpSimd) return true;
  return engine == Engine::kVector && (core.sbuf_port == SharedPort::kAll || is_fast(core.vector, i));
}

Cost cost_of(const CoreSpec& core, Engine engine, const Instruction& instruction, std::uint64_t free) {
  check(engine_has(core, engine, instruction.op), "an engine runs only operations that it has");
  switch (engine) {
    case Engine::kTensor:
      return tensor_cost(core, instruction, free);
    case Engine::kVector:
      return vector_cost(core.vector, instruction, free);
    case Engine::kScalar:
      return scalar_cost(core.scalar, instruction, free);
    case Engine::kGpSimd:
      return gpsimd_cost(core.gpsimd, instruction, free);
    case Engine::kSync:
    case Engine::kCollective:
    case Engine::kCollective2:
    case Engine::kCollective3:
    case Engine::kCollective4:
      break;
  }
  throw InvariantError("sync engine and CC-cores only wait, signal and start transfers");
}

}  // namespace trnsim
