// Patterns of neighbours that collectives use, found among the chips of a group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/topology/topology.h"

namespace trnsim {

/// Orders of all of `chips`, as indices into it, in which each is a direct neighbour of the next, the last of the
/// first; no two use a link in the same direction. Each comes with its reverse, except for two chips.
///
/// Over direct links: as many edge-disjoint Hamiltonian cycles as a bounded search finds: two on a 4x4 torus (four
/// orders), one on a ring. Found by exchanging the edges of squares between the rings of two dimensions until each
/// dimension's rings have become one (Kotzig 1973 shows that two suffice for the product of two rings), else by depth
/// first search. Where only switches join the chips: the given order, or one that goes to and fro through sleds and
/// racks, and its reverse; they share the ports of the chips. Empty if there is none, and for one chip.
/// The same arguments give the same orders.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> directed_rings(const Topology& topology,
                                                                     std::span<const ChipId> chips);

/// If `chips` form a hypercube of direct neighbours: [d][c] = index of the neighbour of chip c along dimension d. Over
/// direct links, all links among the chips must belong to it (a 4x4 torus is the 4-cube by Gray code); over switches,
/// the indices are the corners' numbers. Empty if they form none, and for one chip.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> hypercube(const Topology& topology,
                                                                std::span<const ChipId> chips);

}  // namespace trnsim
