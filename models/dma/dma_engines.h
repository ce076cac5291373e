// The DMA engines and queues that serve one NeuronCore.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/dma/dma_spec.h"
#include "models/mechanism/flow_network.h"
#include "models/observe/run_record.h"
#include "models/observe/timeline.h"
#include "models/transport/ports.h"

namespace trnsim {

/// The DMA engines of a core, which interleave its queues.
///
/// Hardware: a transfer is cut into descriptors that are dealt over the engines; each engine serves its queues round
/// robin at packet boundaries, so that a queue with larger packets gets more; where there are classes of service, the
/// queues of a class together ahead of the lower ones. A queue is in order. Timing: a transfer reaches its queue
/// `dispatch` after issue. At the head of the queue it runs as a fair-shared flow with
///   engine work = reads * bytes + descriptors * descriptor time * engine bandwidth, over min(engines, descriptors)
///   engines, and takes its bytes from the HBM stack at the same time where source or destination is local HBM. Flows
///   that meet share in the ratio packet size x qos_ratio ^ (classes below theirs).
/// Its completion is visible `first-byte latency + notify` after the last byte; of a transfer to another core, `notify`
/// after the last byte is written there. The queue goes on when the last byte has left.
/// A transfer may read from a second core of its chip (inline reduction) and be written to a second core beside its
/// destination (duplication): engine work is then the larger of reads and writes.
/// Source: NKI DMA overview and bandwidth guide; latency law of an isolated-transfer probe on Trn2.
/// Leaves out: engines loaded unevenly by transfers whose descriptors do not divide by the engine count; read bursts.
class DmaEngines final : public DmaPort, private EventTarget {
 public:
  struct QueueCounters {
    Time busy;
    std::uint64_t served = 0;  ///< transfers
  };

  struct Counters {
    std::array<std::uint64_t, kTrafficCount> bytes{};
    std::uint64_t hbm_read_bytes = 0;
    std::uint64_t hbm_write_bytes = 0;  ///< local writes; writes from other cores are counted where they arrive
    std::uint64_t sbuf_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t transfers = 0;
    std::vector<QueueCounters> queues;
  };

  DmaEngines(CoreId core, const DmaSpec& spec, const StackShare& stack, CorePort& port, RemotePort& remote);

  /// From now on transfers are written to `timeline`.
  void record_on(CoreTimeline* timeline) { timeline_ = timeline; }

  void submit(Time at, const TransferRequest& request) override;
  /// `delivery`, which these engines sent, is written.
  void acknowledged(const Delivery& delivery);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] bool drained() const { return in_flight_ == 0; }

 private:
  struct Slot {
    TransferRequest request;
    Delivery* delivery = nullptr;
    Time started;
    std::uint32_t unread = 0;  ///< flows that have not ended
  };

  struct Queue {
    std::deque<std::uint32_t> slots;  ///< oldest first
    bool active = false;              ///< its head is moving bytes
  };

  void on_event(Time now, std::uint64_t argument) override;
  void arrive(Time now, std::uint32_t slot);
  void start_head(Time now, std::size_t queue);
  void flow_ended(Time now, std::uint32_t slot);
  void leave_queue(Time now, std::uint32_t slot);
  void complete(std::uint32_t slot, Time last_byte, std::uint64_t order);
  void count(const TransferRequest& request, std::uint64_t bytes);
  void begin_delivery(Time now, std::uint32_t slot, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t next_order() { return (std::uint64_t{core_.value()} + 1) << 36 | order_++; }
  [[nodiscard]] Time first_byte(const Transfer& transfer) const;
  [[nodiscard]] std::uint64_t packets(const Transfer& transfer, std::uint64_t repeat) const;
  [[nodiscard]] BytesPerSecond pace(std::uint64_t engines, double weight) const;
  /// Of the flow of `transfer`, see FlowDemand.
  [[nodiscard]] double turn(const Transfer& transfer) const;
  [[nodiscard]] Demand stack_demand(const Transfer& transfer, bool remote) const;
  /// Engine bandwidth taken per byte of the transfer.
  [[nodiscard]] double engine_weight(const TransferRequest& request, std::uint64_t bytes) const;
  /// Last packet of `request`, from start to end, less the time until the next could start.
  [[nodiscard]] Time packet_tail(const TransferRequest& request) const;

  CoreId core_;
  const DmaSpec& spec_;
  StackShare stack_;
  std::uint32_t engines_;  ///< resource number
  CorePort& port_;
  RemotePort& remote_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Queue> queues_;
  std::uint64_t order_ = 0;
  std::uint64_t in_flight_ = 0;
  Counters counters_;
  CoreTimeline* timeline_ = nullptr;
};

}  // namespace trnsim
