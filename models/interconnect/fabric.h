// The scale-up fabric: all links and switches of the machine, as one module.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <map>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/mechanism/calendar.h"
#include "models/mechanism/clock.h"
#include "models/mechanism/fcfs_server.h"
#include "models/mechanism/pool.h"
#include "models/topology/topology.h"
#include "models/transport/address.h"
#include "models/transport/payload.h"

namespace trnsim {

/// Hardware: address-routed links (NeuronLink) and switches (NeuronSwitch); a message follows the route of its address.
/// Timing: cut-through. At each link, when the head arrives: start = max(now, link free); the link is taken for bytes /
/// B;
///   the head goes on at start + hop latency; the tail leaves at max(end of service, tail of the hop before) + hop
///   latency.
///   A signal goes between the packets of the messages before it: it neither takes a link nor waits for one.
/// Process: one SC_METHOD for all links (a module per link costs four times as much and says the same).
/// Source: instance and chip architecture pages (shape, bandwidth); hop latencies as in the platform's rows.
/// Links that are down are gone round as Topology::route says.
/// Leaves out: buffers and credits inside switches; retries.
class Fabric : public sc_core::sc_module {
 public:
  struct LinkCounters {
    FcfsServer server;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
    BytesPerSecond bandwidth;
  };

  tlm_utils::multi_passthrough_target_socket<Fabric> from_chips;
  tlm_utils::multi_passthrough_initiator_socket<Fabric> to_chips;

  Fabric(sc_core::sc_module_name name, const Topology& topology, const AddressMap& addresses);
  SC_HAS_PROCESS(Fabric);

  /// Chip `chip` is bound as number `port` to both sockets. Call once per bound chip, in order of binding.
  void bind_chip(ChipId chip);

  [[nodiscard]] const std::vector<LinkCounters>& links() const { return links_; }

 private:
  static constexpr std::uint32_t kNoDetour = ~std::uint32_t{};

  /// A message between two links: all that crossing one needs, in one cache line.
  struct alignas(64) Message {
    tlm::tlm_generic_payload* payload = nullptr;
    Bytes bytes;
    Time tail;
    Time path_latency;
    Way way;
    bool signal = false;
    std::uint32_t times = 1;           ///< as Delivery::times
    std::uint32_t detour = kNoDetour;  ///< index into routes_: links are down
  };

  /// The number in routes_ of the way from chip to chip.
  std::uint32_t detour_of(ChipId from, ChipId to);
  /// Takes `message` to its next link.
  Hop next_hop(Message& message);

  tlm::tlm_sync_enum request(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void blocking_request(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void advance();
  /// Takes `message` over its next link; the time at which its head is through.
  Time cross(Message& message, Time now);
  void hand_over(Message& message, Time head);

  const Topology& topology_;
  AddressMap addresses_;
  Alarm alarm_;
  Calendar<Message*> calendar_;
  Pool<Message> messages_;
  std::vector<LinkCounters> links_;
  std::vector<Route> routes_;  ///< that messages took so far, if links are down
  std::map<std::pair<ChipId, ChipId>, std::uint32_t> route_number_;
  std::vector<ChipId> chips_;               ///< by port
  std::vector<std::int32_t> port_of_chip_;  ///< by chip; -1 = not simulated
};

}  // namespace trnsim
