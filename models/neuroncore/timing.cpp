#include "models/neuroncore/timing.h"

#include <algorithm>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

bool is_16bit_or_narrower(Dtype dtype) {
  return dtype != Dtype::kFp32;
}

bool touches_psum(const Instruction& i) {
  return i.source == Space::kPsum || i.destination == Space::kPsum;
}

// max(N, minimum interval) array cycles per pass; a matmul never waits for its weights unless loading them takes
// longer than the matmul before it ran (background load). FP32 needs several passes.
// Source: NKI architecture guide (initiation interval max(64, N), fast and background weight load, FP32 passes).
Cost tensor_cost(const CoreSpec& core, const Instruction& i, std::uint64_t free) {
  const TensorSpec& t = core.tensor;
  const std::uint64_t passes = i.dtype == Dtype::kFp32 ? t.fp32_passes : 1;
  if (i.op == Op::kTranspose) {
    const std::uint64_t cycles = std::max<std::uint64_t>(i.rows, std::min<std::uint64_t>(t.minimum_interval, free));
    return {cycles * passes, t.clock, Time(), t.fill};
  }
  check(i.op == Op::kMatmul, "the tensor engine multiplies and transposes");
  check(free <= core.moving_columns(), "the results of a matmul fit a PSUM bank");
  const std::uint64_t load = ceil_div(std::uint64_t{i.columns} * t.weight_load, t.columns);
  const std::uint64_t cycles = std::max({free, std::uint64_t{t.minimum_interval}, load});
  return {cycles * passes, t.clock, Time(), t.fill};
}

// Elements per partition and cycle; see VectorSpec. Source: NKI architecture guides (fast modes by dtype and space)
// and measured completion laws of an isolated-instruction probe.
std::uint64_t vector_rate(const VectorSpec& v, const Instruction& i) {
  switch (i.op) {
    case Op::kCopy:
      if (touches_psum(i)) return v.psum_rate;
      return is_16bit_or_narrower(i.dtype) ? v.copy_rate_16bit : v.copy_rate;
    case Op::kBinary:
      if (touches_psum(i)) return v.psum_rate;
      return is_16bit_or_narrower(i.dtype) ? v.binary_rate_16bit : v.binary_rate;
    case Op::kExponential:
      check(v.exponential_rate > 0, "this core's vector engine has no exponential");
      return v.exponential_rate;
    case Op::kQuantizeMx:
      check(v.quantize_mx_rate > 0, "this core's vector engine has no microscaling quantiser");
      return v.quantize_mx_rate;
    case Op::kReduce:
    case Op::kMax8:
      return v.reduce_rate;
    default:
      throw InvariantError("the vector engine does not have this operation");
  }
}

Cost vector_cost(const VectorSpec& v, const Instruction& i, std::uint64_t free) {
  const std::uint64_t cycles = i.op == Op::kReciprocal ? free * v.reciprocal_cycles : ceil_div(free, vector_rate(v, i));
  return {std::max<std::uint64_t>(cycles, v.minimum_interval), v.clock, v.issue_overhead, v.completion};
}

Cost scalar_cost(const ScalarSpec& s, const Instruction& i, std::uint64_t free) {
  check(i.op == Op::kCopy || i.op == Op::kActivation || i.op == Op::kExponential,
        "the scalar engine copies and applies functions");
  const std::uint64_t rate = is_16bit_or_narrower(i.dtype) && !touches_psum(i) ? s.rate_16bit : s.rate;
  return {std::max<std::uint64_t>(ceil_div(free, rate), s.minimum_interval), s.clock, s.issue_overhead, s.completion};
}

Cost gpsimd_cost(const GpSimdSpec& g, std::uint64_t free) {
  return {g.start + ceil_div(free, g.rate), g.clock, Time(), g.completion};
}

}  // namespace

Cost cost_of(const CoreSpec& core, Engine engine, const Instruction& instruction, std::uint64_t free) {
  switch (engine) {
    case Engine::kTensor:
      return tensor_cost(core, instruction, free);
    case Engine::kVector:
      return vector_cost(core.vector, instruction, free);
    case Engine::kScalar:
      return scalar_cost(core.scalar, instruction, free);
    case Engine::kGpSimd:
      return gpsimd_cost(core.gpsimd, free);
    case Engine::kSync:
    case Engine::kCollective:
      break;
  }
  throw InvariantError("sync engine and CC-cores only wait, signal and start transfers");
}

}  // namespace trnsim
