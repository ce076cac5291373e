#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::array<std::pair<std::string_view, Op>, 12> kOps = {{{"matmul", Op::kMatmul},
                                                                   {"transpose", Op::kTranspose},
                                                                   {"copy", Op::kCopy},
                                                                   {"tensor_scalar", Op::kCopy},
                                                                   {"tensor_tensor", Op::kBinary},
                                                                   {"reduce", Op::kReduce},
                                                                   {"activation", Op::kActivation},
                                                                   {"exponential", Op::kExponential},
                                                                   {"reciprocal", Op::kReciprocal},
                                                                   {"max8", Op::kMax8},
                                                                   {"quantize_mx", Op::kQuantizeMx},
                                                                   {"gather", Op::kGather}}};

InstructionSeries series_of(const SettingReader& read, const CoreSpec& core) {
  InstructionSeries s;
  const std::string& op = read.word("op");
  s.op = std::find_if(kOps.begin(), kOps.end(), [&](const auto& row) { return row.first == op; })->second;
  s.engine = read.is_auto("engine") ? engine_of(s.op, core)
                                    : read.choice<Engine, 4>("engine", {"tensor", "vector", "scalar", "gpsimd"});
  s.partitions = read.degree("partitions");
  s.free = read.count("free");
  s.columns = read.degree("columns");
  s.dtype = read.dtype("dtype");
  s.source = read.space("source_space", "psum", Space::kPsum);
  s.destination = read.space("destination_space", "psum", Space::kPsum);
  s.count = read.count("count");
  s.warmup = read.count("warmup");
  return s;
}

}  // namespace

LoweredWorkload lower_instruction(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const InstructionSeries series = series_of(read, machine.core);
  LoweredWorkload lowered;
  lowered.facts.timed_engine = series.engine;
  lowered.job = job_of(placement, machine, 0, [&](KernelWriter& w) { instruction_series(w, series); });
  finish_facts(lowered, placement, machine, series.dtype, 0);
  return lowered;
}

}  // namespace trnsim
