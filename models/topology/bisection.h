// How much a fabric carries from some chips to others.
#pragma once

#include <span>

#include "models/mechanism/ids.h"
#include "models/mechanism/units.h"
#include "models/topology/topology.h"

namespace trnsim {

/// The most that can flow from `sources` to `sinks`, however it is spread over them: the largest flow over links as
/// their routes join them, which is the bandwidth of the smallest cut. Zero without sources or sinks. No chip may be in
/// both.
[[nodiscard]] BytesPerSecond flow_between(const Topology& topology, std::span<const ChipId> sources,
                                          std::span<const ChipId> sinks);

}  // namespace trnsim
