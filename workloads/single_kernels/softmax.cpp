#include "workloads/kernels/rows.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

LoweredWorkload lower_softmax(const SettingReader& read, const MachineSpec& machine) {
  enum class Schedule { kResident, kThreePasses };
  RowSoftmax s;
  s.m = read.count("m");
  s.n = read.count("n");
  s.dtype = plain_dtype_of(read);
  if (!read.is_auto("schedule")) {
    s.resident = read.choice<Schedule, 2>("schedule", {"resident", "three_passes"}) == Schedule::kResident;
  }
  return lower_plain(read, machine, bytes_of(Wide(2) * s.m * s.n, s.dtype), 0,
                     [&](TileWriter& w) { softmax_rows(w, s); });
}

}  // namespace trnsim
