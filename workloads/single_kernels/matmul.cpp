#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kQuarterBitsPerByte = 32;
constexpr std::uint64_t kSmallTensors = 8192;  // per partition
constexpr std::uint64_t kBf16Bytes = 2;

}  // namespace

LoweredWorkload lower_matmul(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const MatmulKernel shape{read.count("m"), read.count("n"), read.count("k"), read.dtype("dtype")};
  check_multiplies(machine, shape.dtype);
  const Wide m = shape.m, n = shape.n, k = shape.k;
  check_operands((m * k + k * n) * quarter_bits(shape.dtype) / kQuarterBitsPerByte + m * n * kBf16Bytes, machine);
  const std::uint64_t useful = countable(2 * m * n * k);
  LoweredWorkload lowered;
  lowered.job = job_of(placement, machine, kSmallTensors, [&](KernelWriter& w) {
    MatmulKernel part = shape;
    part.n = w.share(shape.n);
    matmul_kernel(w, part);
    if (shape.m > 0) lowered.facts.weight_bytes += placement.cores * storage_bytes(shape.k * part.n, shape.dtype);
  });
  lowered.facts.peak_dtype = std::string(name(shape.dtype));
  finish_facts(lowered, placement, machine, shape.dtype, useful);
  return lowered;
}

}  // namespace trnsim
