// Which engine has which operation.
#pragma once

#include "models/neuroncore/core_spec.h"
#include "models/program/instruction.h"

namespace trnsim {

/// Whether `engine` of a core like `core` executes `op`. Source: NKI ISA reference and architecture guides.
[[nodiscard]] constexpr bool engine_has(const CoreSpec& core, Engine engine, Op op) {
  const bool vector = engine == Engine::kVector;
  const bool gpsimd = engine == Engine::kGpSimd;
  switch (op) {
    case Op::kMatmul:
    case Op::kTranspose:
    case Op::kLoadWeights:
      return engine == Engine::kTensor;
    case Op::kCopy:
      return vector || gpsimd || engine == Engine::kScalar;
    case Op::kTensorScalar:
    case Op::kBinary:
    case Op::kSelect:
    case Op::kMemset:
      return vector || gpsimd;
    case Op::kReduce:
    case Op::kScalarTensorTensor:
    case Op::kScan:
    case Op::kReciprocal:
    case Op::kMax8:
      return vector;
    case Op::kActivation:
    case Op::kLoadTable:
      return engine == Engine::kScalar;
    case Op::kExponential:
      return engine == Engine::kScalar || (vector && core.vector.exponential_rate > 0);
    case Op::kQuantizeMx:
      return vector && core.vector.quantize_mx_rate > 0;
    case Op::kGather:
      return gpsimd;
    case Op::kTopK:
      return gpsimd && core.gpsimd.top_k_cycles > 0;
    case Op::kNop:
    case Op::kDma:
    case Op::kLoopBegin:
    case Op::kLoopEnd:
      break;
  }
  return true;
}

}  // namespace trnsim
