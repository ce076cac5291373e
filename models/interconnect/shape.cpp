#include "models/interconnect/shape.h"

#include <cmath>

namespace trnsim {

std::uint32_t Shape::connect(std::uint32_t from, std::uint32_t to, std::string_view level, const LinkLevelSpec& spec) {
  const BytesPerSecond raw = reading_ == LinkReading::kLanes ? spec.lanes_bandwidth : spec.level_table_bandwidth;
  const double sustained = static_cast<double>(raw.count()) * fraction_;
  links_.push_back({from, to, std::string(level), BytesPerSecond(static_cast<std::uint64_t>(std::llround(sustained))),
                    spec.latency});
  return static_cast<std::uint32_t>(links_.size() - 1);
}

}  // namespace trnsim
