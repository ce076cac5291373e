// Words for what programs are made of, as results and timelines print them.
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
    case Op::kCopy:
      return "copy";
    case Op::kBinary:
      return "binary";
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
    case Op::kGather:
      return "gather";
    case Op::kDma:
      return "dma";
    case Op::kLoopBegin:
      return "loop_begin";
    case Op::kLoopEnd:
      return "loop_end";
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
