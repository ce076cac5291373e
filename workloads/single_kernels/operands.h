// What the kernels of vector and scalar engines have in common.
#pragma once

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/single_kernels/job.h"

namespace trnsim {

/// `dtype` of operands that no tensor engine multiplies. Throws InputError for a microscaled one.
[[nodiscard]] inline Dtype plain_dtype_of(const SettingReader& read) {
  const Dtype dtype = read.dtype("dtype");
  if (!is_microscaled(dtype)) return dtype;
  throw InputError(read.need("dtype").place + ": dtype '" + read.word("dtype") +
                   "' is for matmuls alone; use fp32, bf16, fp16 or fp8");
}

/// Bytes of `elements` values, however many.
[[nodiscard]] inline Wide bytes_of(Wide elements, Dtype dtype) {
  constexpr std::uint64_t kQuarterBitsPerByte = 32;
  return (elements * quarter_bits(dtype) + kQuarterBitsPerByte - 1) / kQuarterBitsPerByte;
}

/// A kernel without matmuls of its own: `operand_bytes` in HBM, weights included, are read or written once at least;
/// `weight_bytes` are those that it reads in all.
template <class Kernel>
[[nodiscard]] LoweredWorkload lower_plain(const SettingReader& read, const MachineSpec& machine, Wide operand_bytes,
                                          std::uint64_t weight_bytes, Kernel kernel) {
  const Placement placement = placement_of(read, machine);
  check_operands(operand_bytes, machine);
  LoweredWorkload lowered;
  lowered.facts.operand_bytes = countable(operand_bytes * placement.cores);
  lowered.facts.weight_bytes = countable(Wide(weight_bytes) * placement.cores);
  lowered.job = tile_job_of(placement, machine, kernel);
  finish_facts(lowered, placement, machine, Dtype::kBf16, 0);
  return lowered;
}

}  // namespace trnsim
