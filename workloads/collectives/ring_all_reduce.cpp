#include "workloads/collectives/collectives.h"

namespace trnsim {

// Step s of the first half sends the own shard plus what the step before brought, added by the DMA engines as they
// read both (reads = 2). After n-1 steps the last sum is made locally and travels round once more.
Handle ring_all_reduce(const Communicator& c, std::uint64_t shard_bytes, Handle staged) {
  const std::uint32_t n = c.group.size;
  Handle ready = staged;
  for (std::uint32_t step = 1; step < n; ++step) {
    collective::send(c, 1, shard_bytes, step == 1 ? 1 : 2, c.first_phase, ready);
    ready = collective::arrivals(c, c.first_phase, 1);
  }
  ready = collective::sum(c, 2, shard_bytes, ready);
  for (std::uint32_t step = 1; step < n; ++step) {
    collective::send(c, 1, shard_bytes, 1, c.second_phase, ready);
    ready = collective::arrivals(c, c.second_phase, 1);
  }
  return ready;
}

}  // namespace trnsim
