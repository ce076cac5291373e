#include <string>

#include "models/mechanism/error.h"
#include "models/neuroncore/operation_spec.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

void check_fits(const TileWriter& w, const InstructionSeries& s) {
  const CoreSpec& core = w.core();
  const Instruction& i = s.instruction;
  const auto refuse = [](const std::string& what, std::uint64_t most) {
    throw InfeasibleError(what + "; at most " + std::to_string(most) + " on this machine");
  };
  if (!engine_has(core, engine_of(i.op, core), i.op)) {
    throw InfeasibleError("no engine of this machine has this operation");
  }
  if (!engine_has(core, s.engine, i.op)) {
    throw InfeasibleError("the " + std::string(kEngineNames[static_cast<std::size_t>(s.engine)]) +
                          " engine of this machine does not have this operation");
  }
  const bool matmul = i.op == Op::kMatmul;
  const std::uint64_t rows = matmul ? w.contraction_rows(i.dtype) : w.partitions();
  if (i.rows > rows) refuse("partitions=" + std::to_string(i.rows), rows);
  if (s.engine == Engine::kTensor && i.columns > core.tensor.columns) {
    refuse("columns=" + std::to_string(i.columns), core.tensor.columns);
  }
  if (matmul && i.free.scale > core.moving_columns()) {
    refuse("free=" + std::to_string(i.free.scale), core.moving_columns());
  }
}

void warm_up(TileWriter& w, std::uint64_t matmuls) {
  w.segment().operator_is("warmup");
  w.matmul({.rows = w.core().tensor.rows,
            .columns = w.core().tensor.columns,
            .free = Count::constant(w.core().moving_columns()),
            .repeat = Count::constant(matmuls)},
           {});
  w.segment().operator_is("instruction");
}

void load_table(TileWriter& w, Function function) {
  w.segment().operator_is("warmup");
  Instruction load;
  load.op = Op::kLoadTable;
  load.function = function;
  load.free = Count::constant(1);
  w.segment().emit(Engine::kScalar, load);
  w.segment().operator_is("instruction");
}

Handle chain(TileWriter& w, const InstructionSeries& s) {
  const SemaphoreId previous = w.program().semaphore(WaitReason::kEngine);
  Handle last = w.segment().emit(s.engine, s.instruction);
  for (std::uint64_t i = 1; i < s.count; ++i) {
    w.segment().signal(last, previous);
    w.segment().wait(s.engine, previous, 1);
    last = w.segment().emit(s.engine, s.instruction);
  }
  return last;
}

}  // namespace

Engine engine_of(Op op, const CoreSpec& core) {
  for (const Engine engine : {Engine::kTensor, Engine::kVector, Engine::kScalar}) {
    if (engine_has(core, engine, op)) return engine;
  }
  return Engine::kGpSimd;
}

Handle instruction_series(TileWriter& w, const InstructionSeries& s) {
  check_fits(w, s);
  if (s.count == 0) return {};
  if (s.warmup > 0) warm_up(w, s.warmup);
  if (s.instruction.function != Function::kNone && !s.table_load) load_table(w, s.instruction.function);
  if (s.dependent) return chain(w, s);
  Instruction instruction = s.instruction;
  instruction.repeat = Count::constant(s.count);
  return w.segment().emit(s.engine, instruction);
}

}  // namespace trnsim
