#include <string>

#include "models/mechanism/error.h"
#include "models/neuroncore/operation_spec.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

constexpr std::uint16_t kBank = 1;
constexpr std::uint16_t kOtherBank = 2;

[[noreturn]] void refuse_layout(const std::string& what) {
  throw InfeasibleError("a matmul with " + what);
}

/// Which layouts the array has, and what excludes what. Source: NKI ISA reference (tile sizes; FP8 double row excludes
/// column tiles and sparsity), NeuronCore-v3 and -v4 Architecture (sparsity). No source has sparse or microscaled
/// operands in tiles.
void check_layout(const TensorSpec& array, const Instruction& i) {
  const bool sparse = i.sparsity != Sparsity::kDense;
  const bool tiled = i.side_by_side() > 1;
  if (sparse && array.sparse_inputs == 0) refuse_layout("sparse weights; this machine multiplies dense ones only");
  if (sparse && i.dtype != Dtype::kBf16) refuse_layout("sparse weights takes 16-bit operands; use dtype=bf16");
  if (tiled && (sparse || is_microscaled(i.dtype))) {
    refuse_layout("sparse or microscaled operands takes the whole array; use row_tiles=1 and column_tiles=1");
  }
  if (i.column_tiles > 1 && i.dtype == Dtype::kFp8 && array.fp8_rows > array.rows) {
    refuse_layout("FP8 operands in double rows takes all columns; use column_tiles=1");
  }
  const auto check_tiles = [](const char* name, std::uint32_t tiles, std::uint32_t most) {
    if (tiles <= most && most % tiles == 0) return;
    refuse_layout(std::string(name) + "=" + std::to_string(tiles) + "; the array of this machine has " +
                  std::to_string(most) + " groups, or some of them joined");
  };
  check_tiles("row_tiles", i.row_tiles, array.row_tiles);
  check_tiles("column_tiles", i.column_tiles, array.column_tiles);
}

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
  if (matmul) check_layout(core.tensor, i);
  const std::uint64_t rows = matmul ? most_rows(core.tensor, i) : w.partitions();
  if (i.rows > rows) refuse("partitions=" + std::to_string(i.rows), rows);
  const std::uint32_t columns = core.tensor.columns / i.column_tiles;
  if (s.engine == Engine::kTensor && i.columns > columns) refuse("columns=" + std::to_string(i.columns), columns);
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

Handle chain(TileWriter& w, const InstructionSeries& s, const Instruction& instruction) {
  const SemaphoreId previous = w.program().semaphore(WaitReason::kEngine);
  Handle last = w.segment().emit(s.engine, instruction);
  for (std::uint64_t i = 1; i < s.count; ++i) {
    w.segment().signal(last, previous);
    w.segment().wait(s.engine, previous, 1);
    last = w.segment().emit(s.engine, instruction);
  }
  return last;
}

/// The copy that the other engine does meanwhile.
Instruction copy_beside(const InstructionSeries& s) {
  Instruction copy;
  copy.op = Op::kCopy;
  copy.dtype = s.instruction.dtype;
  copy.source = s.instruction.source;
  copy.destination = s.instruction.destination;
  copy.rows = s.instruction.rows;
  copy.free = s.instruction.free;
  copy.psum_bank = s.same_bank ? kBank : kOtherBank;
  return copy;
}

/// Two engines at the same time, one instruction at a time at any level of detail: they may take turns.
Handle side_by_side(TileWriter& w, const InstructionSeries& s) {
  check_written_out(s.count);
  w.segment().operator_is("beside");
  for (std::uint64_t i = 0; i < s.count; ++i) w.segment().emit(*s.beside, copy_beside(s));
  w.segment().operator_is("instruction");
  Instruction instruction = s.instruction;
  instruction.psum_bank = kBank;
  if (s.dependent) return chain(w, s, instruction);
  Handle last;
  for (std::uint64_t i = 0; i < s.count; ++i) last = w.segment().emit(s.engine, instruction);
  return last;
}

}  // namespace

std::uint32_t most_rows(const TensorSpec& array, const Instruction& matmul) {
  const std::uint32_t ratio = weights_per_stored(matmul.sparsity);
  if (ratio > 1) return array.rows * ratio;
  return array.contraction_rows(matmul.dtype) / matmul.row_tiles;
}

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
  if (s.beside.has_value()) return side_by_side(w, s);
  if (s.dependent) return chain(w, s, s.instruction);
  Instruction instruction = s.instruction;
  instruction.repeat = Count::constant(s.count);
  return w.segment().emit(s.engine, instruction);
}

}  // namespace trnsim
