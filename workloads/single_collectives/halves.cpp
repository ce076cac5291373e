#include "workloads/single_collectives/halves.h"

#include <algorithm>
#include <vector>

#include "models/topology/bisection.h"

namespace trnsim {

Halves::Halves(const collective::Place& place, const RankGroup& group, const MachineSpec& machine,
               const Topology& topology)
    : place_(place) {
  std::array<std::vector<ChipId>, 2> chips;
  std::vector<bool> seen(place.chips());
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
    if (seen[place.chip[rank]]) continue;
    seen[place.chip[rank]] = true;
    chips[half(place.member(rank, 0))].emplace_back(group[rank] * place.lanes / machine.cores_per_chip);
  }
  if (chips[0].empty()) return;
  for (std::size_t from = 0; from < chips.size(); ++from) {
    bandwidth_[from] = static_cast<double>(flow_between(topology, chips[from], chips[1 - from]).count());
  }
}

void Halves::add(const collective::Script& script) {
  const std::size_t from = half(script.member());
  for (const collective::Step& step : script.steps()) {
    if (half(step.to) != from) elements_[from] += step.count;
  }
}

double Halves::bandwidth() const {
  return std::min(bandwidth_[0], bandwidth_[1]);
}

double Halves::bound(std::uint64_t element_bytes) const {
  double longest = 0;
  for (std::size_t from = 0; from < elements_.size(); ++from) {
    if (elements_[from] == 0) continue;
    longest = std::max(longest, static_cast<double>(elements_[from] * element_bytes) / bandwidth_[from]);
  }
  return longest;
}

}  // namespace trnsim
