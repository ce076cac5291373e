#include "workloads/kernels/vector_kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

LoweredWorkload lower_rope(const SettingReader& read, const MachineSpec& machine) {
  enum class Schedule { kTiled };
  if (!read.is_auto("schedule")) (void)read.choice<Schedule, 1>("schedule", {"tiled"});
  const std::uint64_t batch = read.count("batch"), heads = read.count("q_heads"), tokens = read.count("tokens");
  RotaryTiles r;
  r.head_dim = read.count("head_dim");
  if (r.head_dim % 2 != 0) {
    throw InputError(read.need("head_dim").place + ": rope turns pairs of elements; use an even head_dim");
  }
  r.columns = countable(Wide(batch) * heads * tokens);
  r.dtype = plain_dtype_of(read);
  // x read and written; an angle per token and pair of elements, sine and cosine.
  const Wide elements = r.columns == 0 ? Wide(0) : Wide(2) * r.columns * r.head_dim + Wide(tokens) * r.head_dim;
  return lower_plain(read, machine, bytes_of(elements, r.dtype), 0, [&](TileWriter& w) { rope_tiles(w, r); });
}

}  // namespace trnsim
