#include "workloads/kernels/vector_kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

LoweredWorkload lower_conv1d(const SettingReader& read, const MachineSpec& machine) {
  DepthwiseConvolution c;
  c.batch = read.count("batch");
  c.channels = read.count("channels");
  c.sequence = read.count("sequence");
  c.taps = read.count("taps");
  c.dtype = plain_dtype_of(read);
  if (!read.is_auto("schedule")) {
    enum class Residency { kWhole, kTile };
    c.tile_resident = read.choice<Residency, 2>("schedule", {"whole_resident", "tile_resident"}) == Residency::kTile;
  }
  const bool any = c.batch > 0 && c.sequence > 0;
  if (any && c.taps > c.sequence + DepthwiseConvolution::kPadded) {
    throw InputError(read.need("taps").place + ": " + std::to_string(c.taps) +
                     " taps leave no result of a padded sequence of " +
                     std::to_string(c.sequence + DepthwiseConvolution::kPadded) + "; use at most that many");
  }
  const Wide elements = Wide(2) * c.batch * c.channels * c.sequence;
  const std::uint64_t filters = any ? c.channels * storage_bytes(c.taps, c.dtype) : 0;
  return lower_plain(read, machine, bytes_of(elements, c.dtype) + filters, filters,
                     [&](TileWriter& w) { conv1d(w, c); });
}

}  // namespace trnsim
