#include "models/system/machine.h"

#include <algorithm>
#include <map>
#include <string>

#include "models/mechanism/error.h"
#include "models/neuroncore/executions.h"

namespace trnsim {
namespace {

/// A module with a process that never has anything to do.
class IdleModule : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(IdleModule);
  explicit IdleModule(sc_core::sc_module_name name, Time wakes) : sc_core::sc_module(name) {
    SC_METHOD(nothing);
    sensitive << event_;
    event_.notify(sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(wakes.count())));
  }

 private:
  void nothing() {}
  sc_core::sc_event event_;
};

}  // namespace

AddressMap address_map(const MachineSpec& spec) {
  const FabricSpec& fabric = spec.fabric;
  AddressMap map;
  map.cores_per_chip = spec.cores_per_chip;
  if (fabric.kind == FabricKind::kTorus) {
    for (std::size_t d = 0; d < 2 && d < fabric.dimensions.size(); ++d)
      map.chips_per_server *= fabric.dimensions[d].size;
  } else if (fabric.kind == FabricKind::kSwitched) {
    map.chips_per_server = fabric.chips_per_sled;
  } else if (fabric.kind == FabricKind::kTree) {
    map.chips_per_server = fabric.levels.front().size;
  }
  const std::uint32_t racks = fabric.kind == FabricKind::kSwitched ? fabric.racks : 1;
  map.servers_per_rack = std::max(1U, spec.chips_per_instance() / map.chips_per_server / racks);
  if (!map.fits(spec.chips)) {
    map.chips_per_server = AddressMap::kMostChips;
    map.servers_per_rack = AddressMap::kMostServers;
  }
  check(map.fits(spec.chips), "every chip has an address");
  return map;
}

Machine::Machine(const MachineSpec& spec, const Topology& topology, const Job& job,
                 const std::vector<ReplicaClass>& classes, const SimulationOptions& options)
    : spec_(spec),
      topology_(topology),
      job_(job),
      classes_(classes),
      addresses_(address_map(spec)),
      simulated_(spec.cores(), false),
      weight_(spec.cores(), 0),
      fabric_("fabric", topology, addresses_) {
  check(job.cores.size() == spec.cores(), "a job says for every core what it runs");
  for (const ReplicaClass& replica_class : classes) {
    for (CoreId core : job.replicas[replica_class.members.front()].cores) {
      simulated_[core.index()] = true;
      weight_[core.index()] = replica_class.members.size();
    }
  }
  for (std::uint32_t i = 0; i < options.idle_modules; ++i) {
    idle_modules_.push_back(std::make_unique<IdleModule>(("idle" + std::to_string(i)).c_str(), Time(1 + i)));
  }
  build_chips(options);
  if (options.timeline != nullptr) record_on(*options.timeline, options.detail == Detail::kInstruction);
  if (options.timeline == nullptr && (options.fold == Fold::kAuto || options.fold == Fold::kBounded))
    fold_in_time(options.fold == Fold::kBounded);
}

void Machine::build_chips(const SimulationOptions& options) {
  for (std::uint32_t c = 0; c < spec_.chips; ++c) {
    const auto first = simulated_.begin() + std::ptrdiff_t{c} * spec_.cores_per_chip;
    if (std::none_of(first, first + spec_.cores_per_chip, [](bool used) { return used; })) continue;
    chips_.push_back(std::make_unique<Chip>(("chip" + std::to_string(c)).c_str(), ChipId(c), spec_, addresses_,
                                            payloads_, job_, simulated_, options));
    chips_.back()->to_fabric.bind(fabric_.from_chips);
    fabric_.to_chips.bind(chips_.back()->from_fabric);
    fabric_.bind_chip(ChipId(c));
  }
}

void Machine::record_on(Timeline& timeline, bool one_by_one) {
  std::vector<std::vector<CoreId>> alike(spec_.cores());
  for (const ReplicaClass& replica_class : classes_) {
    const std::vector<CoreId>& simulated = job_.replicas[replica_class.members.front()].cores;
    for (std::size_t m = 1; m < replica_class.members.size(); ++m) {
      const std::vector<CoreId>& counted = job_.replicas[replica_class.members[m]].cores;
      for (std::size_t i = 0; i < simulated.size(); ++i) alike[simulated[i].index()].push_back(counted[i]);
    }
  }
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) {
      const CoreJob& job = job_.cores[core->id.index()];
      CoreTimeline* record =
          timeline.open(core->id, *job.program, std::move(alike[core->id.index()]), executions_of(job, one_by_one));
      core->core->record_on(record);
      core->dma->record_on(record);
    }
  }
  timeline.check_open();
}

void Machine::fold_in_time(bool bounded) {
  std::vector<CoreId> cores;
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) cores.push_back(core->id);
  }
  const std::optional<RepeatedCalls> calls = repeated_calls(job_, cores);
  if (!calls.has_value()) return;
  fold_ = std::make_unique<FoldInTime>(*calls, cores.size() * kEngineCount, spec_.core.tensor, bounded,
                                       [] { sc_core::sc_pause(); });
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) core->core->report_to(*fold_);
  }
}

void Machine::run() {
  sc_core::sc_start();
  while (fold_ != nullptr && fold_->due()) {
    fold_->see(collect_at(kernel_time()));
    sc_core::sc_start();
  }
  std::string waiting;
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) {
      if (!core->core->finished()) waiting += core->core->waiting();
    }
  }
  if (!waiting.empty()) throw DeadlockError("nothing can happen any more, and\n" + waiting);
}

Time Machine::end() const {
  Time end;
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) end = std::max(end, core->core->end());
  }
  return end;
}

RunRecord Machine::collect() const {
  check(payloads_.outstanding() == 0, "every transaction is completed");
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) check(core->dma->drained(), "every transfer is complete at the end");
  }
  RunRecord record = collect_at(end());
  if (fold_ != nullptr) fold_->complete(record);
  return record;
}

RunRecord Machine::collect_at(Time now) const {
  RunRecord record;
  record.elapsed = now;
  std::map<std::string, OperatorRecord> by_name;
  for (const auto& chip : chips_) {
    for (const auto& core : chip->cores()) {
      const Program& program = *job_.cores[core->id.index()].program;
      std::vector<OperatorRecord> operators(program.operators.size());
      add_core(record, operators, *core, weight_of(core->id));
      for (std::size_t i = 0; i < operators.size(); ++i) by_name[program.operators[i]].add(operators[i]);
    }
    for (std::size_t s = 0; s < chip->stacks().size(); ++s) {
      const std::uint32_t first = chip->cores().front()->id.value() / spec_.cores_per_chip * spec_.cores_per_chip +
                                  static_cast<std::uint32_t>(s) * spec_.cores_per_stack();
      std::uint64_t weight = 0;
      for (std::uint32_t c = 0; c < spec_.cores_per_stack(); ++c) {
        weight = std::max(weight, weight_of(CoreId(first + c)));
      }
      record.activity.hbm_write_bytes += chip->stacks()[s]->written_bytes() * weight;
      record.bytes_received += chip->stacks()[s]->received_bytes() * weight;
    }
  }
  for (auto& [name, operator_record] : by_name) {
    operator_record.name = name;
    record.operators.push_back(operator_record);
  }
  add_idle_cores(record);
  add_links(record);
  record.simulated_transactions = payloads_.taken();
  record.systemc_processes = record.simulated_cores + chips_.size() * spec_.hbm.stacks + 1 + idle_modules_.size();
  record.replicas_simulated = classes_.size();
  record.replicas = job_.replicas.size();
  return record;
}

void Machine::add_core(RunRecord& record, std::vector<OperatorRecord>& operators, const Chip::Core& core,
                       std::uint64_t weight) const {
  core.core->collect(record, weight, record.elapsed);
  core.core->collect_operators(operators, weight);
  const DmaEngines::Counters& dma = core.dma->counters();
  Activity activity;
  activity.dma_bytes = dma.bytes;
  activity.hbm_read_bytes = dma.hbm_read_bytes;
  activity.hbm_write_bytes = dma.hbm_write_bytes;
  activity.sbuf_bytes = dma.sbuf_bytes;
  record.activity.add(activity, weight);
  record.bytes_sent += dma.sent_bytes * weight;
  for (const DmaEngines::QueueCounters& queue : dma.queues) {
    if (queue.served == 0) continue;
    record.dma_queue_count += weight;
    TimeAccount account;
    account.busy = queue.busy;
    account.idle = record.elapsed - queue.busy;
    record.dma_queues.add(account, static_cast<std::int64_t>(weight));
  }
  ++record.simulated_cores;
  record.simulated_instructions += core.core->instructions();
  record.simulated_instruction_events += core.core->issue_events();
  record.simulated_transfers += dma.transfers;
}

void Machine::add_idle_cores(RunRecord& record) const {
  const std::uint64_t idle = spec_.cores() - record.cores_with_program;
  for (EngineRecord& engine : record.engines) engine.sum.idle += record.elapsed * static_cast<std::int64_t>(idle);
}

void Machine::add_links(RunRecord& record) const {
  std::map<std::uint32_t, LinkRecord> links;
  const auto add = [&](LinkId simulated, LinkId counted) {
    const Fabric::LinkCounters& counters = fabric_.links()[simulated.index()];
    const Link& link = topology_.links()[counted.index()];
    if (counters.messages == 0) return;
    links[counted.value()] = {counted.value(),        link.name,         link.level, counters.bytes, counters.messages,
                              counters.server.busy(), link.leaves_switch};
  };
  for (std::uint32_t i = 0; i < fabric_.links().size(); ++i) add(LinkId(i), LinkId(i));
  for (const ReplicaClass& replica_class : classes_) {
    if (replica_class.members.size() < 2) continue;
    const std::vector<LinkId> simulated =
        links_in_order(spec_, topology_, job_.replicas[replica_class.members.front()]);
    for (std::size_t m = 1; m < replica_class.members.size(); ++m) {
      const std::vector<LinkId> own = links_in_order(spec_, topology_, job_.replicas[replica_class.members[m]]);
      for (std::size_t i = 0; i < own.size(); ++i) add(simulated[i], own[i]);
    }
  }
  for (const auto& [id, link] : links) {
    record.links.push_back(link);
    const Link& of = topology_.links()[id];
    if (!of.scale_out) record.activity.link_bytes += link.bytes;
    if (of.leaves_switch) record.activity.switch_bytes += link.bytes;
    record.link_bandwidth += of.bandwidth.count();
  }
}

}  // namespace trnsim
