// One stack of HBM, and the event loop of the traffic that it serves.
#pragma once

#include <functional>
#include <systemc>
#include <vector>

#include "models/mechanism/clock.h"
#include "models/mechanism/flow_network.h"
#include "models/memory/hbm_spec.h"
#include "models/transport/ports.h"

namespace trnsim {

/// Hardware: one HBM stack, shared by the DMA engines of the cores attached to it and by what other cores send.
/// Timing: max-min fair sharing of bandwidth B times a fraction: one while there are only reads, one while there are
/// only writes, and a smaller one while there are both, since the bus turns round between them and they travel in
/// bursts. Access latency is part of the DMA latency law.
///
/// Source: chip data sheets (B); DMA bandwidth curve and collective measurements (fractions).
/// Leaves out: banks, rows and refresh as such.
class HbmStack : public sc_core::sc_module, private EventTarget, private TailListener {
 public:
  HbmStack(sc_core::sc_module_name name, const HbmSpec& spec, Time notify);
  SC_HAS_PROCESS(HbmStack);

  /// What a core's DMA engines need to join this stack.
  [[nodiscard]] StackShare share();

  /// The head of `delivery` reaches this stack's chip at `head`, to be written here (or into an SBUF beside it).
  /// Calls `receiver.delivered` and `done` when all of it has arrived.
  void receive(Time head, Delivery& delivery, CorePort& receiver);

  /// Reads `bytes`, `times` times, for DMA engines that are not attached to this stack, with turns of `turn` bytes.
  void read(Time now, Bytes bytes, std::uint32_t times, double turn, EventTarget& target, std::uint64_t argument);

  /// Told when a delivery is complete, to release what carried it.
  using Done = std::function<void(Delivery&)>;
  void on_done(Done done) { done_ = std::move(done); }

  [[nodiscard]] std::uint64_t written_bytes() const { return written_bytes_; }
  [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  struct Arrival {
    Delivery* delivery = nullptr;
    CorePort* receiver = nullptr;
  };

  void advance();
  void on_event(Time now, std::uint64_t argument) override;
  void head_arrives(Time now, std::uint32_t slot);
  void written(Time now, std::uint32_t slot);
  void tail_sent(Delivery& delivery) override;
  void complete(std::uint32_t slot);
  void rearm();

  const HbmSpec& spec_;
  Time notify_;
  Alarm alarm_;
  FlowNetwork network_;
  std::uint32_t bandwidth_;
  Done done_;
  std::vector<Arrival> arrivals_;
  std::vector<std::uint32_t> free_arrivals_;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace trnsim
