// Words for what programs are made of, as timelines print them.
#pragma once

#include <string_view>

#include "models/program/instruction.h"

namespace trnsim {

[[nodiscard]] constexpr std::string_view name(Op op) {
  switch (op) {
    case Op::kNop:
      return "nop";
    case Op::kMatmul:
      return "matmul";
    case Op::kTranspose:
      return "transpose";
    case Op::kLoadWeights:
      return "load_weights";
    case Op::kCopy:
      return "copy";
    case Op::kTensorScalar:
      return "tensor_scalar";
    case Op::kBinary:
      return "binary";
    case Op::kScalarTensorTensor:
      return "scalar_tensor_tensor";
    case Op::kScan:
      return "scan";
    case Op::kSelect:
      return "select";
    case Op::kMemset:
      return "memset";
    case Op::kReduce:
      return "reduce";
    case Op::kActivation:
      return "activation";
    case Op::kExponential:
      return "exponential";
    case Op::kReciprocal:
      return "reciprocal";
    case Op::kMax8:
      return "max8";
    case Op::kQuantizeMx:
      return "quantize_mx";
    case Op::kLoadTable:
      return "load_table";
    case Op::kGather:
      return "gather";
    case Op::kTopK:
      return "top_k";
    case Op::kDma:
      return "dma";
    case Op::kLoopBegin:
      return "loop_begin";
    case Op::kLoopEnd:
      return "loop_end";
  }
  return "";
}

[[nodiscard]] constexpr std::string_view name(Function function) {
  switch (function) {
    case Function::kNone:
      return "none";
    case Function::kExp:
      return "exp";
    case Function::kSquare:
      return "square";
    case Function::kSigmoid:
      return "sigmoid";
    case Function::kSilu:
      return "silu";
    case Function::kGelu:
      return "gelu";
    case Function::kTanh:
      return "tanh";
    case Function::kSqrt:
      return "sqrt";
    case Function::kRsqrt:
      return "rsqrt";
    case Function::kReciprocal:
      return "reciprocal";
    case Function::kLog:
      return "log";
    case Function::kSoftplus:
      return "softplus";
  }
  return "";
}

[[nodiscard]] constexpr std::string_view name(Space space) {
  switch (space) {
    case Space::kNone:
      return "none";
    case Space::kSbuf:
      return "sbuf";
    case Space::kPsum:
      return "psum";
    case Space::kHbm:
      return "hbm";
  }
  return "";
}

}  // namespace trnsim
