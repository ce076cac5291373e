#include <algorithm>
#include <string>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

class Copy {
 public:
  Copy(TileWriter& w, const DmaCopy& copy) : w_(w), copy_(copy), last_(copy.queues) {
    const DmaSpec& dma = w.machine().dma;
    check_at_most("descriptor_bytes", copy.descriptor_bytes, dma.max_descriptor.count(), "bytes in a descriptor");
    check_at_most("queues", copy.first_queue + copy.queues, dma.queues_per_engine, "queues");
    check_class(copy.first_queue == 0 ? "qos" : "beside_qos", copy.qos, dma.qos_classes);
    check_at_most("partitions", copy.partitions, w.partitions(), "partitions");
    transfers_ = std::min(copy.transfers, copy.bytes);
    check_written_out(transfers_);
    if (copy.reduced) make_buffers();
  }

  Handle emit() {
    const std::uint64_t each = copy_.bytes / transfers_;
    const std::uint64_t longer = copy_.bytes % transfers_;  // the first transfers take one byte more
    for (std::uint64_t t = 0; t < transfers_; ++t) move(each + (t < longer ? 1 : 0), t % copy_.queues);
    Handle done;
    for (const Handle& handle : last_) done = w_.segment().emit(copy_.engine, Instruction{}, {done, handle});
    return done;
  }

 private:
  static void check_at_most(const char* what, std::uint64_t value, std::uint64_t most, const char* of) {
    if (value <= most) return;
    throw InfeasibleError(std::string(what) + "=" + std::to_string(value) + ": this machine has at most " +
                          std::to_string(most) + " " + of);
  }

  static void check_class(const std::string& name, std::uint64_t qos, std::uint32_t classes) {
    if (qos < classes) return;
    throw InfeasibleError(name + "=" + std::to_string(qos) + ": the DMA engines of this machine have " +
                          (classes == 1 ? "no classes of service; use 0"
                                        : std::to_string(classes) + " classes of service; use 0 to " +
                                              std::to_string(classes - 1) + ", the first is 0"));
  }

  // As many buffers as SBUF has room for: a load waits for one that the reduction has freed.
  void make_buffers() {
    const std::uint64_t tile = std::max<std::uint64_t>(1, ceil_div(copy_.bytes, transfers_ * partitions()));
    const std::uint64_t depth = w_.core().sbuf_per_partition.count() / tile;
    if (depth == 0) throw InfeasibleError("a tile of " + std::to_string(tile) + " bytes per partition exceeds SBUF");
    buffers_ = w_.program().sbuf_ring(Bytes(tile), static_cast<std::uint32_t>(std::min(depth, transfers_)));
  }

  [[nodiscard]] std::uint64_t partitions() const { return copy_.partitions == 0 ? w_.partitions() : copy_.partitions; }

  // Transfers are independent: the next one is issued as soon as the engine is free. Without a reader, what lies in
  // SBUF is overwritten without waiting.
  void move(std::uint64_t bytes, std::uint64_t queue) {
    if (copy_.reduced) w_.segment().acquire(copy_.engine, buffers_);
    last_[queue] = w_.move(copy_.engine, static_cast<Queue>(copy_.first_queue + queue),
                           {.bytes = bytes,
                            .descriptors = ceil_div(bytes, copy_.descriptor_bytes),
                            .traffic = copy_.traffic,
                            .source = copy_.source,
                            .destination = copy_.destination,
                            .generation = copy_.generation,
                            .qos = static_cast<std::uint8_t>(copy_.qos),
                            .partitions = copy_.partitions,
                            .computes = copy_.casts},
                           {});
    if (!copy_.reduced) return;
    const std::uint64_t elements = bytes * 4 / quarter_bits(copy_.dtype) * 8 / partitions();
    const TileWriter::Elementwise sum = {.op = Op::kReduce, .free = Count::constant(elements), .dtype = copy_.dtype};
    w_.segment().release(w_.run(Engine::kVector, sum, {last_[queue]}), buffers_);
  }

  TileWriter& w_;
  const DmaCopy& copy_;
  std::vector<Handle> last_;  ///< by queue
  std::uint64_t transfers_ = 0;
  BufferRing buffers_;
};

}  // namespace

Handle dma_copy(TileWriter& w, const DmaCopy& copy) {
  if (copy.bytes == 0) return {};
  return Copy(w, copy).emit();
}

}  // namespace trnsim
