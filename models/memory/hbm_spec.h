// HBM of a chip, in numbers.
#pragma once

#include <cstdint>

#include "models/mechanism/units.h"

namespace trnsim {

struct HbmSpec {
  std::uint32_t stacks = 0;      ///< per chip
  Bytes capacity;                ///< of one stack
  BytesPerSecond bandwidth;      ///< of one stack, reads and writes together
  double read_fraction = 0;      ///< sustained fraction of `bandwidth` while it only reads
  double write_fraction = 0;     ///< the same while it only writes
  double mixed_fraction = 0;     ///< the same while reads and writes take turns
  Bytes reserve_per_core;        ///< not available to models (GpSimd microcode)
  Bytes reserve_other_per_core;  ///< not available to models (runtime, collectives), estimated
};

}  // namespace trnsim
