#include "workloads/collectives/collectives.h"

namespace trnsim {

// By mesh: every shard straight to its owner, which adds n of them; by ring: n-1 steps that add on the way.
Handle reduce_scatter(const Communicator& c, std::uint64_t shard_bytes, Handle ready) {
  const std::uint32_t n = c.group.size;
  if (n == 1 || shard_bytes == 0) return ready;
  Handle done = collective::stage(c, shard_bytes * n, ready);
  if (c.uses_ring(shard_bytes * n * c.writer->lnc())) {
    for (std::uint32_t step = 1; step < n; ++step) {
      collective::send(c, 1, shard_bytes, step == 1 ? 1 : 2, c.first_phase, done);
      done = collective::arrivals(c, c.first_phase, 1);
    }
    done = collective::sum(c, 2, shard_bytes, done);
  } else {
    for (std::uint32_t d = 1; d < n; ++d) collective::send(c, d, shard_bytes, 1, c.first_phase, done);
    done = collective::sum(c, n, shard_bytes, collective::arrivals(c, c.first_phase, n - 1));
  }
  return collective::unstage(c, shard_bytes, done);
}

}  // namespace trnsim
