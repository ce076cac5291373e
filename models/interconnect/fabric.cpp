#include "models/interconnect/fabric.h"

#include <algorithm>

#include "models/mechanism/error.h"

namespace trnsim {

Fabric::Fabric(sc_core::sc_module_name name, const Topology& topology, const AddressMap& addresses)
    : sc_core::sc_module(name),
      from_chips("from_chips"),
      to_chips("to_chips"),
      topology_(topology),
      addresses_(addresses),
      links_(topology.links().size()) {
  for (std::size_t i = 0; i < links_.size(); ++i) links_[i].bandwidth = topology.links()[i].bandwidth;
  from_chips.register_nb_transport_fw(this, &Fabric::request);
  from_chips.register_b_transport(this, &Fabric::blocking_request);
  to_chips.register_nb_transport_bw(this, &Fabric::response);
  SC_METHOD(advance);
  sensitive << alarm_.event();
  dont_initialize();
}

void Fabric::bind_chip(ChipId chip) {
  if (port_of_chip_.size() <= chip.index()) port_of_chip_.resize(chip.index() + 1, -1);
  port_of_chip_[chip.index()] = static_cast<std::int32_t>(chips_.size());
  chips_.push_back(chip);
}

// Messages are timed by their links; a blocking call has no such time and is refused.
void Fabric::blocking_request(int /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
}

tlm::tlm_sync_enum Fabric::request(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay) {
  check(phase == tlm::BEGIN_REQ, "a chip begins a transaction with BEGIN_REQ");
  payload.acquire();
  Message& message = *messages_.take();
  message.payload = &payload;
  const ChipId destination = addresses_.chip_of(payload.get_address());
  const ChipId source = chips_[static_cast<std::size_t>(port)];
  message.way = topology_.way(source, destination);
  if (topology_.any_down()) message.detour = detour_of(source, destination);
  Delivery& delivery = *payload.get_extension<DeliveryExtension>()->delivery;
  message.bytes = delivery.bytes;
  message.signal = delivery.signal;
  message.times = delivery.times;
  delivery.source_port = static_cast<std::uint32_t>(port);
  const Time head = kernel_time() + Time(static_cast<std::int64_t>(delay.value()));
  calendar_.post(head, delivery.order, &message);
  alarm_.arm(head);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// The last to act in an instant, so that messages of equal time meet at a link in their own order and not in the order
// in which the kernel runs the modules that send them. Then all up to the next event of any other module is dealt with
// in one go, which spares most wakes of the kernel.
void Fabric::advance() {
  alarm_.fired();
  if (sc_core::sc_pending_activity_at_current_time()) {
    alarm_.arm(kernel_time());
    return;
  }
  Time until = quiet_until();
  while (!calendar_.empty() && calendar_.next_time() <= until) {
    const auto event = calendar_.pop();
    Message& message = *event.payload;
    if (!calendar_.empty()) __builtin_prefetch(calendar_.next());
    const Time head = cross(message, event.time);
    if (message.way.arrived()) {
      hand_over(message, head);
      until = std::min(until, quiet_until());
    } else {
      calendar_.post(head, event.order, &message);
    }
  }
  if (!calendar_.empty()) alarm_.arm(calendar_.next_time());
}

std::uint32_t Fabric::detour_of(ChipId from, ChipId to) {
  const auto [found, fresh] = route_number_.try_emplace({from, to}, static_cast<std::uint32_t>(routes_.size()));
  if (fresh) routes_.push_back(topology_.route(from, to));
  return found->second;
}

Hop Fabric::next_hop(Message& message) {
  if (message.detour == kNoDetour) return topology_.cross(message.way);
  const std::vector<Hop>& hops = routes_[message.detour].hops;
  const Hop hop = hops[message.way.between++];
  if (message.way.between == hops.size()) {
    message.way.node = message.way.to;
    message.way.instance = message.way.to_instance;
  }
  return hop;
}

Time Fabric::cross(Message& message, Time now) {
  const Hop hop = next_hop(message);
  LinkCounters& link = links_[hop.link.index()];
  const FcfsServer::Service service = message.signal
                                          ? FcfsServer::Service{now, now}
                                          : link.server.reserve(now, duration(message.bytes, link.bandwidth));
  link.bytes += message.bytes.count() * message.times;
  link.messages += message.times;
  message.tail = std::max(message.tail, service.end) + hop.latency;
  message.path_latency += hop.latency;
  return service.start + hop.latency;
}

void Fabric::hand_over(Message& message, Time head) {
  const ChipId destination = addresses_.chip_of(message.payload->get_address());
  check(destination.index() < port_of_chip_.size() && port_of_chip_[destination.index()] >= 0,
        "a message goes to a chip that is simulated");
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::sc_time::from_value(static_cast<sc_dt::uint64>((head - kernel_time()).count()));
  tlm::tlm_generic_payload& payload = *message.payload;
  Delivery& delivery = *payload.get_extension<DeliveryExtension>()->delivery;
  delivery.tail = message.tail;
  delivery.path_latency = message.path_latency;
  messages_.give_back(&message);
  const tlm::tlm_sync_enum answer =
      to_chips[port_of_chip_[destination.index()]]->nb_transport_fw(payload, phase, delay);
  check(answer == tlm::TLM_UPDATED && phase == tlm::END_REQ, "a chip accepts a message at once");
}

tlm::tlm_sync_enum Fabric::response(int /*port*/, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                    sc_core::sc_time& delay) {
  check(phase == tlm::BEGIN_RESP, "a chip answers a message with BEGIN_RESP");
  const std::uint32_t source = payload.get_extension<DeliveryExtension>()->delivery->source_port;
  const tlm::tlm_sync_enum answer = from_chips[static_cast<int>(source)]->nb_transport_bw(payload, phase, delay);
  check(answer == tlm::TLM_COMPLETED, "the sender completes a transaction at its response");
  payload.release();
  return tlm::TLM_COMPLETED;
}

}  // namespace trnsim
