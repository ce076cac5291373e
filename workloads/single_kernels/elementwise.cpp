#include "workloads/kernels/vector_kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

LoweredWorkload lower_elementwise(const SettingReader& read, const MachineSpec& machine) {
  enum class Kernel { kAdamW };
  enum class Schedule { kTiled };
  (void)read.choice<Kernel, 1>("function", {"adamw"});
  if (!read.is_auto("schedule")) (void)read.choice<Schedule, 1>("schedule", {"tiled"});
  AdamW a;
  a.m = read.count("m");
  a.n = read.count("n");
  a.dtype = plain_dtype_of(read);
  constexpr std::uint64_t kOperands = 5;  // weights, two moments and gradient read, weights written
  const Wide elements = Wide(kOperands) * a.m * a.n;
  return lower_plain(read, machine, bytes_of(elements, a.dtype), 0, [&](TileWriter& w) { adamw(w, a); });
}

}  // namespace trnsim
