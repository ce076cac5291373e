// TLM-2.0 transport between chips: one generic payload is one whole message, never a beat.
//
// Protocol (base protocol, two timing points):
//   BEGIN_REQ   chip -> fabric -> chip   at the time the head arrives (delay annotated); answered by
//               TLM_UPDATED/END_REQ at once, so that a chip may have any number of messages in flight
//   BEGIN_RESP  chip -> fabric -> chip   when the last byte is written; answered by TLM_COMPLETED
// Data is not modelled: data_ptr is null; size and ids are in the extension, since data_length is 32 bits wide.
#pragma once

#include <systemc>
#include <tlm>

#include "models/mechanism/pool.h"
#include "models/transport/ports.h"

namespace trnsim {

/// Carries the message behind a payload.
class DeliveryExtension : public tlm::tlm_extension<DeliveryExtension> {
 public:
  Delivery* delivery = nullptr;

  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new DeliveryExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    delivery = static_cast<const DeliveryExtension&>(other).delivery;
  }
};

/// Payloads with the extension attached once, reused through the memory-manager interface.
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  PayloadPool() = default;
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;
  ~PayloadPool() override;

  /// A payload for `delivery`, acquired once by the caller.
  tlm::tlm_generic_payload& take(Delivery& delivery, std::uint64_t address);
  void free(tlm::tlm_generic_payload* payload) override;

  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] std::size_t outstanding() const { return all_.size() - free_.size(); }

 private:
  std::vector<tlm::tlm_generic_payload*> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
  std::uint64_t taken_ = 0;
};

}  // namespace trnsim
