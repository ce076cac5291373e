#include <algorithm>
#include <array>
#include <string>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

bool has(const CoreSpec& core, Engine engine, Op op) {
  switch (op) {
    case Op::kMatmul:
    case Op::kTranspose:
      return engine == Engine::kTensor;
    case Op::kCopy:
      return engine != Engine::kTensor;
    case Op::kBinary:
      return engine == Engine::kVector || engine == Engine::kGpSimd;
    case Op::kActivation:
      return engine == Engine::kScalar;
    case Op::kExponential:
      return engine == Engine::kScalar || (engine == Engine::kVector && core.vector.exponential_rate > 0);
    case Op::kQuantizeMx:
      return engine == Engine::kVector && core.vector.quantize_mx_rate > 0;
    case Op::kGather:
      return engine == Engine::kGpSimd;
    default:
      return engine == Engine::kVector;
  }
}

void check_fits(const KernelWriter& w, const InstructionSeries& s) {
  const CoreSpec& core = w.core();
  const auto refuse = [](const std::string& what, std::uint64_t most) {
    throw InfeasibleError(what + "; at most " + std::to_string(most) + " on this machine");
  };
  if (!has(core, s.engine, s.op)) {
    throw InfeasibleError("the " + std::string(kEngineNames[static_cast<std::size_t>(s.engine)]) +
                          " engine of this machine does not have this operation");
  }
  const bool matmul = s.op == Op::kMatmul;
  const std::uint64_t rows = matmul ? w.contraction_rows(s.dtype) : w.partitions();
  if (s.partitions > rows) refuse("partitions=" + std::to_string(s.partitions), rows);
  if (!matmul) return;
  if (s.columns > core.tensor.columns) refuse("columns=" + std::to_string(s.columns), core.tensor.columns);
  if (s.free > core.moving_columns()) refuse("free=" + std::to_string(s.free), core.moving_columns());
}

}  // namespace

Engine engine_of(Op op, const CoreSpec& core) {
  for (const Engine engine : {Engine::kTensor, Engine::kVector, Engine::kScalar}) {
    if (has(core, engine, op)) return engine;
  }
  return Engine::kGpSimd;
}

Handle instruction_series(KernelWriter& w, const InstructionSeries& s) {
  check_fits(w, s);
  if (s.warmup > 0 && s.engine == Engine::kTensor) {
    w.segment().operator_is("warmup");
    w.matmul({.rows = w.core().tensor.rows,
              .columns = w.core().tensor.columns,
              .free = Count::constant(w.core().moving_columns()),
              .repeat = Count::constant(s.warmup)},
             {});
    w.segment().operator_is("instruction");
  }
  if (s.count == 0) return {};
  Instruction instruction;
  instruction.op = s.op;
  instruction.dtype = s.dtype;
  instruction.source = s.source;
  instruction.destination = s.destination;
  instruction.rows = s.partitions;
  instruction.columns = s.columns;
  instruction.free = Count::constant(s.free);
  instruction.repeat = Count::constant(s.count);
  return w.segment().emit(s.engine, instruction);
}

}  // namespace trnsim
