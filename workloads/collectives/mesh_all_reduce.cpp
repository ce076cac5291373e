#include "workloads/collectives/collectives.h"

namespace trnsim {

Handle mesh_all_reduce(const Communicator& c, std::uint64_t shard_bytes, Handle staged) {
  const std::uint32_t n = c.group.size;
  for (std::uint32_t d = 1; d < n; ++d) collective::send(c, d, shard_bytes, 1, c.first_phase, staged);
  const Handle here = collective::arrivals(c, c.first_phase, n - 1);
  const Handle reduced = collective::sum(c, n, shard_bytes, here);
  for (std::uint32_t d = 1; d < n; ++d) collective::send(c, d, shard_bytes, 1, c.second_phase, reduced);
  return collective::arrivals(c, c.second_phase, n - 1);
}

}  // namespace trnsim
