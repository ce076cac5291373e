#include <algorithm>
#include <array>
#include <string_view>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/job.h"
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

// Reads one value per partition: a function its bias where one is given, a tensor-scalar its scalar always.
bool reads_scalar(const SettingReader& read, Op op) {
  if (op == Op::kTensorScalar || op == Op::kScalarTensorTensor) return true;
  return op == Op::kActivation && read.yes("bias");
}

Instruction instruction_of(const SettingReader& read) {
  Instruction i;
  const std::string& op = read.word("op");
  i.op = std::find_if(kOps.begin(), kOps.end(), [&](const OpName& row) { return row.name == op; })->op;
  i.rows = read.degree("partitions");
  i.free = Count::constant(read.count("free"));
  i.columns = read.degree("columns");
  i.dtype = read.dtype("dtype");
  i.source = read.space("source_space", "psum", Space::kPsum);
  i.destination = read.space("destination_space", "psum", Space::kPsum);
  if (!read.is_auto("second_space")) i.second = read.space("second_space", "psum", Space::kPsum);
  if (i.op == Op::kActivation) i.function = read.choice<Function, kFunctions.size()>("function", kFunctions);
  i.reads_scalar = reads_scalar(read, i.op);
  i.keeps_weights = read.word("load_weights") == "once";
  i.passes = static_cast<std::uint8_t>(read.count_or("passes", 0));
  return i;
}

InstructionSeries series_of(const SettingReader& read, const CoreSpec& core) {
  InstructionSeries s;
  s.instruction = instruction_of(read);
  s.engine = read.is_auto("engine") ? engine_of(s.instruction.op, core)
                                    : read.choice<Engine, 4>("engine", {"tensor", "vector", "scalar", "gpsimd"});
  s.count = read.count("count");
  s.warmup = read.count("warmup");
  s.dependent = read.yes("dependent");
  s.table_load = read.yes("table_load");
  return s;
}

}  // namespace

LoweredWorkload lower_instruction(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const InstructionSeries series = series_of(read, machine.core);
  LoweredWorkload lowered;
  lowered.facts.timed_engine = series.engine;
  lowered.job = tile_job_of(placement, machine, [&](TileWriter& w) { instruction_series(w, series); });
  finish_facts(lowered, placement, machine, series.instruction.dtype, 0);
  return lowered;
}

}  // namespace trnsim
