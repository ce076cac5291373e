// A machine under simulation: the chips that take part and the fabric between them.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "models/interconnect/fabric.h"
#include "models/system/chip.h"
#include "models/system/folding.h"
#include "models/system/folding_in_time.h"

namespace trnsim {

/// How the chips of `machine` are grouped in addresses: servers of a torus are its first two dimensions.
[[nodiscard]] AddressMap address_map(const MachineSpec& machine);

/// Builds the simulated part of a machine, and reads its counters when the simulation is over.
class Machine {
 public:
  /// `classes` says which replica groups there are and which one of each class is simulated.
  Machine(const MachineSpec& spec, const Topology& topology, const Job& job, const std::vector<ReplicaClass>& classes,
          const SimulationOptions& options);

  /// Runs to the end. Throws DeadlockError naming the waiting engines.
  void run();
  [[nodiscard]] RunRecord collect() const;

 private:
  void build_chips(const SimulationOptions& options);
  void record_on(Timeline& timeline, bool one_by_one);
  void fold_in_time(bool bounded);
  [[nodiscard]] RunRecord collect_at(Time now) const;
  void add_core(RunRecord& record, std::vector<OperatorRecord>& operators, const Chip::Core& core,
                std::uint64_t weight) const;
  void add_idle_cores(RunRecord& record) const;
  void add_links(RunRecord& record) const;
  [[nodiscard]] Time end() const;
  [[nodiscard]] std::uint64_t weight_of(CoreId core) const { return weight_[core.index()]; }

  const MachineSpec& spec_;
  const Topology& topology_;
  const Job& job_;
  const std::vector<ReplicaClass>& classes_;
  AddressMap addresses_;
  std::vector<bool> simulated_;        ///< by core
  std::vector<std::uint64_t> weight_;  ///< by core: replicas that it stands for
  PayloadPool payloads_;
  Fabric fabric_;
  std::vector<std::unique_ptr<Chip>> chips_;
  std::vector<std::unique_ptr<sc_core::sc_module>> idle_modules_;
  std::unique_ptr<FoldInTime> fold_;  ///< null: all calls are simulated
};

}  // namespace trnsim
