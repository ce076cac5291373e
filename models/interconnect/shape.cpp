#include "models/interconnect/shape.h"

#include <algorithm>
#include <cmath>

namespace trnsim {

std::uint32_t Shape::connect(std::uint32_t from, std::uint32_t to, std::string_view level, BytesPerSecond raw,
                             Time latency) {
  const double sustained = std::max(1.0, static_cast<double>(raw.count()) * fraction_);
  links_.push_back(
      {from, to, std::string(level), BytesPerSecond(static_cast<std::uint64_t>(std::llround(sustained))), latency});
  return static_cast<std::uint32_t>(links_.size() - 1);
}

}  // namespace trnsim
