// What the parts of a chip ask of each other. Plain calls: sockets stand only at chip boundaries.
#pragma once

#include <cstdint>

#include "models/mechanism/flow_network.h"
#include "models/mechanism/ids.h"
#include "models/mechanism/units.h"
#include "models/program/instruction.h"

namespace trnsim {

/// A core's share in its HBM stack.
struct StackShare {
  FlowNetwork* network = nullptr;  ///< event loop of the stack
  std::uint32_t resource = 0;      ///< the stack's bandwidth in `network`
};

/// A transfer that an engine has issued, on its way to a DMA queue.
struct TransferRequest {
  const Instruction* instruction = nullptr;  ///< its signals are added when the transfer has left or arrived locally
  const Transfer* transfer = nullptr;
  std::uint64_t repeat = 1;
  std::uint32_t times = 1;  ///< it counts so often, see CallGate
  CoreId destination;
  CoreId copy;              ///< Transfer::copy_peer; the sender itself if none
  CoreId partner;           ///< Transfer::partner; the sender itself if none
  Time started;             ///< first packet at a DMA engine
  Time last_byte;           ///< left the DMA engines, or written
  std::uint32_t slice = 0;  ///< SliceId of its time in the queue, if a timeline is recorded
};

struct Delivery;

/// Told that the time at which the last byte leaves the source is known (Delivery::source_done).
class TailListener {
 public:
  virtual void tail_sent(Delivery& delivery) = 0;

 protected:
  ~TailListener() = default;
};

/// Data on its way from one core to another. Cut-through: the head travels ahead, the tail follows at the pace of
/// the slowest stage. Arrival = max(write done, tail through the links, source done + path latency).
struct Delivery {
  Bytes bytes;
  bool signal = false;  ///< carries no data at all: a write of a few bytes, between the packets of others
  CoreId source;
  CoreId destination;
  Space space = Space::kHbm;  ///< where it is written
  SemaphoreUse on_delivery{};
  double turn = 1;               ///< of its flow at the sender, see FlowDemand
  std::uint64_t order = 0;       ///< unique; breaks ties
  CoreId copy;                   ///< on the same chip as `destination`: gets the same; equal to it if there is none
  std::uint64_t copy_order = 0;  ///< as `order`, of the copy
  Delivery* twin = nullptr;      ///< the copy, or, of the copy, the original
  bool is_copy = false;
  bool source_finished = false;
  bool write_finished = false;
  std::uint32_t times = 1;  ///< as TransferRequest::times
  Time path_latency;        ///< of the route, without queueing
  Time tail;                ///< last byte out of the last link
  Time source_done;
  Time written;
  TailListener* waiting = nullptr;  ///< receiver that has written all but waits for the tail
  std::uint32_t unfinished = 1;     ///< of the original and the copy
  Time arrived;                     ///< last byte written, once complete; of an original: of both
  std::uint32_t sender_slot = 0;    ///< the sender's own number for it
  std::uint32_t arrival = 0;        ///< the receiver's own number for it
  std::uint32_t source_port = 0;    ///< where the fabric got it from
  std::uint32_t slice = 0;          ///< as TransferRequest::slice
  void* payload = nullptr;          ///< the TLM payload that carries it between chips, if any
};

/// A core, as the memory side sees it.
class CorePort {
 public:
  /// `request` is complete; its signals become visible at `visible`.
  virtual void transfer_done(Time visible, std::uint64_t order, const TransferRequest& request) = 0;
  /// A message has arrived; `use` is added to its semaphore at `visible`. `slice` as TransferRequest::slice.
  virtual void delivered(Time visible, std::uint64_t order, SemaphoreUse use, std::uint32_t slice) = 0;

 protected:
  ~CorePort() = default;
};

/// The way out of a core's DMA engines to another core.
class RemotePort {
 public:
  virtual Delivery& new_delivery() = 0;
  /// The head of `delivery` leaves the DMA engines at `head`, not before now.
  virtual void send(Time now, Time head, Delivery& delivery) = 0;
  /// The last byte leaves at `last_byte`, now or a fixed latency later.
  virtual void sent(Time last_byte, Delivery& delivery) = 0;
  /// Reads `bytes`, `times` times, from the stack of `core` of this chip with turns of `turn` bytes (see FlowDemand);
  /// target.on_event(end, argument) follows.
  virtual void read_beside(Time now, CoreId core, Bytes bytes, std::uint32_t times, double turn, EventTarget& target,
                           std::uint64_t argument) = 0;

 protected:
  ~RemotePort() = default;
};

/// The DMA engines, as a core sees them.
class DmaPort {
 public:
  /// Hands `request` to queue `request.transfer->queue` at time `at`, not before now.
  virtual void submit(Time at, const TransferRequest& request) = 0;

 protected:
  ~DmaPort() = default;
};

}  // namespace trnsim
