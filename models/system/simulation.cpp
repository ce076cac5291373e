#include "models/system/simulation.h"

#include <cstdlib>

#include "models/mechanism/error.h"
#include "models/system/folding.h"
#include "models/system/machine.h"
#include "models/topology/topology.h"

namespace trnsim {
namespace {

// Every report of the kernel worse than information is an error of ours, and nothing of it goes to standard output.
void quiet_reports() {
  using namespace sc_core;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  sc_report_handler::set_actions(SC_INFO, SC_DO_NOTHING);
  sc_report_handler::set_actions(SC_WARNING, SC_THROW);
  sc_report_handler::set_actions(SC_ERROR, SC_THROW);
  sc_report_handler::set_actions(SC_FATAL, SC_THROW);
}

}  // namespace

RunRecord simulate(const MachineSpec& machine, const Job& job, const SimulationOptions& options) {
  quiet_reports();
  check(!job.replicas.empty(), "a job has at least one replica");
  const Topology topology(machine.fabric, machine.chips, machine.link_bandwidth_scale);
  const std::vector<ReplicaClass> classes =
      options.fold == Fold::kNone ? every_replica_apart(job) : fold_replicas(machine, topology, job);
  Machine simulated(machine, topology, job, classes, options);
  simulated.run();
  return simulated.collect();
}

void check_ways(const MachineSpec& machine) {
  static_cast<void>(Topology(machine.fabric, machine.chips, machine.link_bandwidth_scale));
}

std::size_t link_count(const MachineSpec& machine) {
  const Topology topology(machine.fabric, machine.chips, {});
  return topology.links().size();
}

}  // namespace trnsim
