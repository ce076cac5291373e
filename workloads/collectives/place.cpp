#include "workloads/collectives/place.h"

#include <map>

#include "models/topology/embedding.h"

namespace trnsim {

collective::Place place_of(const RankGroup& group, std::uint32_t lnc, const MachineSpec& machine,
                           const Topology& topology) {
  collective::Place place;
  place.ranks = static_cast<std::uint32_t>(group.size());
  place.lanes = lnc;
  std::vector<ChipId> chips;
  std::map<ChipId, std::uint32_t> number;
  std::map<std::uint32_t, std::uint32_t> instance_number;
  std::vector<RankGroup> by_instance;
  for (const std::uint32_t rank : group) {
    const ChipId chip(rank * lnc / machine.cores_per_chip);
    const auto [found, fresh] = number.try_emplace(chip, static_cast<std::uint32_t>(chips.size()));
    if (fresh) {
      chips.push_back(chip);
      const std::uint32_t instance = chip.value() / machine.chips_per_instance();
      const auto next = static_cast<std::uint32_t>(instance_number.size());
      place.instance.push_back(instance_number.try_emplace(instance, next).first->second);
      place.coordinates.push_back(topology.coordinates(chip));
      place.coordinates.back().push_back(instance);
    }
    place.chip.push_back(found->second);
    by_instance.resize(instance_number.size());
    by_instance[place.instance[found->second]].push_back(rank);
  }
  if (by_instance.size() > 1) {
    for (const RankGroup& part : by_instance) place.within.push_back(place_of(part, lnc, machine, topology));
  }
  if (chips.size() < 2) return place;
  place.rings = directed_rings(topology, chips);
  place.cube = hypercube(topology, chips);
  return place;
}

}  // namespace trnsim
