#include "models/transport/payload.h"

namespace trnsim {

PayloadPool::~PayloadPool() {
  for (tlm::tlm_generic_payload* payload : all_) delete payload;
}

tlm::tlm_generic_payload& PayloadPool::take(Delivery& delivery, std::uint64_t address) {
  if (free_.empty()) {
    auto* payload = new tlm::tlm_generic_payload(this);
    payload->set_extension(new DeliveryExtension);
    all_.push_back(payload);
    free_.push_back(payload);
  }
  tlm::tlm_generic_payload* payload = free_.back();
  free_.pop_back();
  payload->acquire();
  payload->set_command(tlm::TLM_WRITE_COMMAND);
  payload->set_address(address);
  payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload->get_extension<DeliveryExtension>()->delivery = &delivery;
  ++taken_;
  return *payload;
}

void PayloadPool::free(tlm::tlm_generic_payload* payload) {
  free_.push_back(payload);
}

}  // namespace trnsim
