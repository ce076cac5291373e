#include <algorithm>
#include <array>
#include <string_view>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

struct OpName {
  std::string_view name;
  Op op;
};
constexpr std::array kOps = {OpName{"matmul", Op::kMatmul},
                             OpName{"transpose", Op::kTranspose},
                             OpName{"load_weights", Op::kLoadWeights},
                             OpName{"copy", Op::kCopy},
                             OpName{"tensor_scalar", Op::kTensorScalar},
                             OpName{"tensor_tensor", Op::kBinary},
                             OpName{"scalar_tensor_tensor", Op::kScalarTensorTensor},
                             OpName{"scan", Op::kScan},
                             OpName{"select", Op::kSelect},
                             OpName{"memset", Op::kMemset},
                             OpName{"reduce", Op::kReduce},
                             OpName{"activation", Op::kActivation},
                             OpName{"exponential", Op::kExponential},
                             OpName{"reciprocal", Op::kReciprocal},
                             OpName{"max8", Op::kMax8},
                             OpName{"quantize_mx", Op::kQuantizeMx},
                             OpName{"load_table", Op::kLoadTable},
                             OpName{"gather", Op::kGather},
                             OpName{"top_k", Op::kTopK}};
constexpr std::array<std::string_view, 12> kFunctions = {
    "identity", "exp", "square", "sigmoid", "silu", "gelu", "tanh", "sqrt", "rsqrt", "reciprocal", "log", "softplus"};

bool is_tensor(Op op) {
  return op == Op::kMatmul || op == Op::kTranspose || op == Op::kLoadWeights;
}

bool has_second_operand(Op op) {
  return op == Op::kBinary || op == Op::kScalarTensorTensor || op == Op::kScan || op == Op::kSelect;
}

// Reads one value per partition: a function its bias where one is given, a tensor-scalar its scalar always.
bool reads_scalar(const SettingReader& read, Op op) {
  if (op == Op::kTensorScalar || op == Op::kScalarTensorTensor) return true;
  return op == Op::kActivation && read.yes("bias");
}

Dtype dtype_of(const SettingReader& read, Op op, const MachineSpec& machine) {
  if (op != Op::kMatmul && op != Op::kLoadWeights) return plain_dtype_of(read);
  const Dtype dtype = read.dtype("dtype");
  check_multiplies(machine, dtype);
  return dtype;
}

std::uint32_t rows_of(const SettingReader& read, const CoreSpec& core, const Instruction& i) {
  if (!read.is_auto("partitions")) return read.degree("partitions");
  return i.op == Op::kMatmul ? most_rows(core.tensor, i) : core.partitions;
}

/// How a matmul lies in the array.
void read_layout(const SettingReader& read, Instruction& i) {
  i.sparsity = read.choice<Sparsity, kSparsityCount>("sparsity", kSparsityNames);
  i.row_tiles = static_cast<std::uint8_t>(read.count("row_tiles"));
  i.column_tiles = static_cast<std::uint8_t>(read.count("column_tiles"));
}

// Weights come from SBUF and results go to PSUM; the others have a choice.
void read_spaces(const SettingReader& read, Instruction& i) {
  if (i.op != Op::kMemset) i.source = read.space("source_space", "psum", Space::kPsum);
  i.destination = i.op == Op::kLoadWeights ? Space::kPsum : read.space("destination_space", "psum", Space::kPsum);
  if (has_second_operand(i.op) && !read.is_auto("second_space")) {
    i.second = read.space("second_space", "psum", Space::kPsum);
  }
  if (!is_tensor(i.op) || (i.source == Space::kSbuf && i.destination == Space::kPsum)) return;
  const WorkloadParameter& wrong = read.need(i.source == Space::kSbuf ? "destination_space" : "source_space");
  throw InputError(wrong.place + ": the tensor engine reads sbuf and writes psum; use " +
                   (i.source == Space::kSbuf ? "psum" : "sbuf"));
}

/// Only what `op` takes is read.
Instruction instruction_of(const SettingReader& read, const MachineSpec& machine) {
  Instruction i;
  const std::string& op = read.word("op");
  i.op = std::find_if(kOps.begin(), kOps.end(), [&](const OpName& row) { return row.name == op; })->op;
  i.free = Count::constant(1);
  if (i.op == Op::kLoadTable) return i;
  i.dtype = dtype_of(read, i.op, machine);
  if (i.op == Op::kMatmul) read_layout(read, i);
  i.rows = rows_of(read, machine.core, i);
  if (i.op != Op::kLoadWeights) i.free = Count::constant(read.count("free"));
  if (i.op == Op::kMatmul || i.op == Op::kLoadWeights || i.op == Op::kTopK) i.columns = read.degree("columns");
  read_spaces(read, i);
  if (i.op == Op::kActivation) i.function = read.choice<Function, kFunctions.size()>("function", kFunctions);
  i.reads_scalar = reads_scalar(read, i.op);
  if (i.op != Op::kMatmul) return i;
  i.keeps_weights = read.word("load_weights") == "once";
  i.passes = static_cast<std::uint8_t>(read.count_or("passes", 0));
  return i;
}

/// The engine that runs beside `s`, if one does, and where they meet.
void read_beside(const SettingReader& read, InstructionSeries& s) {
  constexpr std::array<std::string_view, 4> kBeside = {"none", "vector", "scalar", "gpsimd"};
  constexpr std::array kEngines = {Engine::kVector, Engine::kScalar, Engine::kGpSimd};
  const auto which = read.choice<std::size_t, kBeside.size()>("beside", kBeside);
  if (which == 0) return;
  s.beside = kEngines[which - 1];
  const WorkloadParameter& beside = read.need("beside");
  if (s.beside == s.engine || s.engine == Engine::kTensor) {
    throw InputError(beside.place + ": beside=" + beside.value +
                     " runs next to an instruction of vector, scalar or GpSimd, on another engine; set engine or op");
  }
  const Instruction& i = s.instruction;
  if (i.source != Space::kPsum && i.destination != Space::kPsum) return;
  if (s.beside == Engine::kGpSimd) {
    throw InputError(beside.place + ": GpSimd does not reach PSUM; set source_space and destination_space to sbuf");
  }
  s.same_bank = read.word("psum_banks") == "same";
}

InstructionSeries series_of(const SettingReader& read, const MachineSpec& machine) {
  InstructionSeries s;
  s.instruction = instruction_of(read, machine);
  s.engine = read.is_auto("engine") ? engine_of(s.instruction.op, machine.core)
                                    : read.choice<Engine, 4>("engine", {"tensor", "vector", "scalar", "gpsimd"});
  s.count = read.count("count");
  if (s.engine == Engine::kTensor) s.warmup = read.count("warmup");
  s.dependent = read.yes("dependent");
  s.table_load = s.instruction.op == Op::kActivation && read.yes("table_load");
  read_beside(read, s);
  return s;
}

/// Of whole products; some passes of one are no product.
std::uint64_t useful_flop(const InstructionSeries& s, std::uint32_t lnc) {
  const Instruction& i = s.instruction;
  if (i.op != Op::kMatmul || i.passes > 0) return 0;
  return countable(Wide(2) * i.stored_rows() * i.columns * i.free.scale * s.count * lnc);
}

}  // namespace

LoweredWorkload lower_instruction(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const InstructionSeries series = series_of(read, machine);
  LoweredWorkload lowered;
  lowered.facts.timed_engine = series.engine;
  lowered.job = tile_job_of(placement, machine, [&](TileWriter& w) { instruction_series(w, series); });
  const std::uint64_t useful = useful_flop(series, placement.lnc);
  if (useful > 0) lowered.facts.peak_dtype = std::string(name(series.instruction.dtype));
  finish_facts(lowered, placement, machine, series.instruction.dtype, useful);
  return lowered;
}

}  // namespace trnsim
