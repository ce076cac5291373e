#include "workloads/collectives/collectives.h"

namespace trnsim {

Handle all_reduce(const Communicator& c, std::uint64_t units, std::uint64_t unit_bytes, Handle ready) {
  const std::uint64_t bytes = units * unit_bytes;
  if (c.group.size == 1 || bytes == 0) return ready;
  const std::uint64_t shard = ceil_div(units, c.group.size) * unit_bytes;
  const Handle staged = collective::stage(c, bytes, ready);
  // The limit is in bytes of a rank; this core holds one part in lnc of it.
  const Handle done =
      c.uses_ring(bytes * c.writer->lnc()) ? ring_all_reduce(c, shard, staged) : mesh_all_reduce(c, shard, staged);
  return collective::unstage(c, bytes, done);
}

std::uint64_t all_reduce_bytes(std::uint32_t ranks, std::uint64_t units, std::uint64_t unit_bytes) {
  return ranks == 1 ? 0 : 2 * std::uint64_t{ranks - 1} * ceil_div(units, ranks) * unit_bytes;
}

}  // namespace trnsim
