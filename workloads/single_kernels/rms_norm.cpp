#include "workloads/kernels/rows.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

LoweredWorkload lower_rms_norm(const SettingReader& read, const MachineSpec& machine) {
  RowNorm n;
  n.tokens = read.count("tokens");
  n.hidden = read.count("hidden");
  n.dtype = plain_dtype_of(read);
  n.result = read.dtype_or("result_dtype", n.dtype);
  const Wide elements = Wide(n.tokens) * n.hidden;
  const Placement placement = placement_of(read, machine);
  std::uint64_t gains = 0;  // every core with tokens reads the gain
  for (std::uint32_t lane = 0; lane < placement.lnc; ++lane) {
    if (share_of(n.tokens, placement.lnc, lane) > 0) gains += storage_bytes(n.hidden, n.dtype);
  }
  return lower_plain(
      read, machine,
      bytes_of(elements, n.dtype) + bytes_of(elements, n.result) + (gains > 0 ? storage_bytes(n.hidden, n.dtype) : 0),
      gains, [&](TileWriter& w) { rms_norm_rows(w, n); });
}

}  // namespace trnsim
