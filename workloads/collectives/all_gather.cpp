#include "workloads/collectives/collectives.h"

namespace trnsim {

// By mesh: one message to every peer; by ring: n-1 steps, each passing on what the step before brought.
Handle all_gather(const Communicator& c, std::uint64_t bytes, Handle ready) {
  const std::uint32_t n = c.group.size;
  if (n == 1 || bytes == 0) return ready;
  Handle done = collective::stage(c, bytes, ready);
  if (c.uses_ring(bytes * n * c.writer->lnc())) {
    for (std::uint32_t step = 1; step < n; ++step) {
      collective::send(c, 1, bytes, 1, c.second_phase, done);
      done = collective::arrivals(c, c.second_phase, 1);
    }
  } else {
    for (std::uint32_t d = 1; d < n; ++d) collective::send(c, d, bytes, 1, c.second_phase, done);
    done = collective::arrivals(c, c.second_phase, n - 1);
  }
  return collective::unstage(c, bytes * n, done);
}

std::uint64_t all_gather_bytes(std::uint32_t ranks, std::uint64_t bytes) {
  return (ranks - 1) * bytes;
}

}  // namespace trnsim
