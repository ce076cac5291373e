#include "workloads/collectives/collectives.h"

namespace trnsim {

// Variable sizes: the rows for each peer stand in a register. A peer that gets no rows still gets its (empty) message,
// so that everybody waits for the same number of arrivals.
Handle all_to_all(const Communicator& c, const RowCounts& rows, SemaphoreId arrival, Handle ready) {
  const std::uint32_t n = c.group.size;
  if (n == 1 || rows.row_bytes == 0) return ready;
  for (std::uint32_t d = 1; d < n; ++d) {
    Transfer transfer;
    transfer.bytes_per_repeat = Bytes(rows.row_bytes);
    transfer.peer = c.group.peer(d);
    transfer.queue = static_cast<std::uint8_t>(d % 2 == 0 ? Queue::kMessages : Queue::kMessages2);
    transfer.generation = DescriptorGeneration::kPrebuilt;
    transfer.traffic = Traffic::kCollective;
    transfer.source = c.memory;
    transfer.destination = c.memory;
    transfer.on_delivery = {arrival, 1};
    c.writer->segment().dma(Engine::kCollective, transfer, Count::reg(rows.first_register + d - 1), {ready});
  }
  return collective::arrivals(c, arrival, n - 1);
}

}  // namespace trnsim
