#pragma once
#include <span>
#include <vector>
#include "models/interconnect/topology.h"
namespace trnsim {
std::vector<std::vector<ChipId>> directed_rings(const Topology& topology, std::span<const ChipId> chips);
std::vector<std::vector<ChipId>> hypercube(const Topology& topology, std::span<const ChipId> chips);
}
