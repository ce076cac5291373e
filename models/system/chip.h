// One chip: NeuronCores with their DMA engines, HBM stacks, and the sockets to the fabric.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/dma/dma_engines.h"
#include "models/memory/hbm_stack.h"
#include "models/neuroncore/neuron_core.h"
#include "models/system/machine_spec.h"
#include "models/system/simulation.h"
#include "models/transport/address.h"
#include "models/transport/payload.h"

namespace trnsim {

/// Hardware: cores in groups that share an HBM stack; DMA engines reach every stack of the chip and, through the
/// NeuronLink ports, every other chip.
/// Timing: a message inside the chip takes `on_chip_latency`; to another chip, what the fabric takes.
class Chip : public sc_core::sc_module, public RemotePort {
 public:
  tlm_utils::simple_initiator_socket<Chip> to_fabric;
  tlm_utils::simple_target_socket<Chip> from_fabric;

  /// Builds the cores of `chip` that have a program in `job` and are listed in `simulated` (by core).
  Chip(sc_core::sc_module_name name, ChipId chip, const MachineSpec& machine, const AddressMap& addresses,
       PayloadPool& payloads, const Job& job, const std::vector<bool>& simulated, const SimulationOptions& options);

  Delivery& new_delivery() override { return *deliveries_.take(); }
  void send(Time now, Time head, Delivery& delivery) override;
  void sent(Time last_byte, Delivery& delivery) override;
  void read_beside(Time now, CoreId core, Bytes bytes, std::uint32_t times, double turn, EventTarget& target,
                   std::uint64_t argument) override;

  struct Core {
    CoreId id;
    CoreSpec spec;  ///< with this core's clock scale applied
    std::unique_ptr<NeuronCore> core;
    std::unique_ptr<DmaEngines> dma;
  };
  [[nodiscard]] const std::vector<std::unique_ptr<Core>>& cores() const { return cores_; }
  [[nodiscard]] const std::vector<std::unique_ptr<HbmStack>>& stacks() const { return stacks_; }
  [[nodiscard]] std::uint64_t local_messages() const { return local_messages_; }

 private:
  tlm::tlm_sync_enum arrival(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking_arrival(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum acknowledged(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void receive(Time head, Delivery& delivery);
  void land(Time head, Delivery& delivery);
  void landed(Delivery& delivery);
  void done(Delivery& delivery);
  void release(Delivery& delivery);
  [[nodiscard]] HbmStack& stack_of(CoreId core) {
    return *stacks_[core.value() % machine_.cores_per_chip / machine_.cores_per_stack()];
  }
  void build_core(CoreId id, const Job& job, const SimulationOptions& options);

  ChipId chip_;
  const MachineSpec& machine_;
  HbmSpec hbm_;  ///< with this chip's scale applied
  DmaSpec dma_;  ///< with this chip's scale applied
  AddressMap addresses_;
  PayloadPool& payloads_;
  Pool<Delivery> deliveries_;
  std::vector<std::unique_ptr<HbmStack>> stacks_;
  std::vector<std::unique_ptr<Core>> cores_;  ///< those that are simulated
  std::vector<Core*> core_by_local_;          ///< null where not simulated
  std::uint64_t local_messages_ = 0;
};

}  // namespace trnsim
