#include "sweeps/metrics_of.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/mechanism/error.h"
#include "models/power/energy.h"
#include "sweeps/fabric_metrics.h"

namespace trnsim {
namespace {

constexpr double kPeta = 1e15;
constexpr double kMega = 1e6;
constexpr double kKilo = 1e3;
constexpr double kGiga = 1e9;

/// Shares over the parts that the run uses (cores with a program, their DMA engines and stacks, links that carried
/// bytes): engines busy / elapsed; bytes / (raw bandwidth x elapsed) for the others. `sync` and `collective` issue
/// transfers; of the CC-core's streams it is the busiest. `exposed` is communication in flight while no compute engine
/// works / elapsed.
struct Utilization {
  double tensor, vector, scalar, gpsimd, sync, collective, dma, hbm, link, exposed;
};

double share(double used, double capacity) {
  return capacity > 0 ? used / capacity : 0;
}

double busy_share(const RunRecord& record, Engine engine) {
  return share(seconds(record.engines[static_cast<std::size_t>(engine)].sum.busy),
               seconds(record.elapsed) * static_cast<double>(record.cores_with_program));
}

/// HBM stacks that a core with a program is attached to.
std::uint64_t stacks_in_use(const MachineSpec& machine, const Job& job) {
  std::set<std::size_t> stacks;
  for (std::size_t core = 0; core < job.cores.size(); ++core) {
    if (job.cores[core].program != nullptr) stacks.insert(core / machine.cores_per_stack());
  }
  return stacks.size();
}

Utilization utilization_of(const MachineSpec& machine, const Job& job, const RunRecord& record) {
  const double elapsed = seconds(record.elapsed);
  std::uint64_t moved = 0;
  for (std::uint64_t bytes : record.activity.dma_bytes) moved += bytes;
  const double engines = static_cast<double>(record.cores_with_program) * machine.dma.engines;
  const auto stacks = static_cast<double>(stacks_in_use(machine, job));
  const Activity& a = record.activity;
  Utilization u{};
  u.tensor = busy_share(record, Engine::kTensor);
  u.vector = busy_share(record, Engine::kVector);
  u.scalar = busy_share(record, Engine::kScalar);
  u.gpsimd = busy_share(record, Engine::kGpSimd);
  u.sync = busy_share(record, Engine::kSync);
  for (const Engine stream : {Engine::kCollective, Engine::kCollective2, Engine::kCollective3, Engine::kCollective4}) {
    u.collective = std::max(u.collective, busy_share(record, stream));
  }
  u.dma =
      share(static_cast<double>(moved), engines * static_cast<double>(machine.dma.engine_bandwidth.count()) * elapsed);
  u.hbm = share(static_cast<double>(a.hbm_read_bytes + a.hbm_write_bytes),
                stacks * static_cast<double>(machine.hbm.bandwidth.count()) * elapsed);
  u.link = share(static_cast<double>(a.link_bytes), static_cast<double>(record.link_bandwidth) * elapsed);
  u.exposed = share(seconds(record.communication_busy_while_compute_idle),
                    elapsed * static_cast<double>(record.cores_with_program));
  return u;
}

/// The resource with the largest share; "communication" if more of the time than any share passes with communication
/// in flight and nothing computed: latency of the collectives then limits, not a bandwidth. Empty if nothing is in use.
std::string bottleneck_of(const Utilization& u) {
  const std::vector<std::pair<double, std::string>> shares = {
      {u.tensor, "tensor"}, {u.vector, "vector"},         {u.scalar, "scalar"}, {u.gpsimd, "gpsimd"},
      {u.sync, "sync"},     {u.collective, "collective"}, {u.dma, "dma"},       {u.hbm, "hbm"},
      {u.link, "link"},     {u.exposed, "communication"}};
  const auto largest =
      std::max_element(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return largest->first > 0 ? largest->second : "";
}

Dtype dtype_named(const std::string& name) {
  const auto found = std::find(kDtypeNames.begin(), kDtypeNames.end(), name);
  check(found != kDtypeNames.end(), "a workload names its fastest matmul format");
  return static_cast<Dtype>(found - kDtypeNames.begin());
}

class Metrics {
 public:
  explicit Metrics(PointRow& row) : row_(row) {}
  void set(const char* name, double value) { row_.metrics[name] = format_number(value); }
  void set(const char* name, std::uint64_t value) { row_.metrics[name] = std::to_string(value); }
  void set(const char* name, const std::string& value) { row_.metrics[name] = value; }

 private:
  PointRow& row_;
};

double nanoseconds(Time time) {
  return static_cast<double>(time.count()) / kKilo;
}

const OperatorRecord* operator_named(const RunRecord& record, std::string_view name) {
  const auto found = std::find_if(record.operators.begin(), record.operators.end(),
                                  [&](const OperatorRecord& op) { return op.name == name; });
  return found == record.operators.end() ? nullptr : &*found;
}

/// The run without entry and exit of the program, which are no part of a kernel.
Time within_program(const Evaluation& e) {
  const ControlSpec& control = e.platform.machine.core.control;
  return e.record.elapsed - control.program_entry - control.program_exit;
}

/// A launch of a kernel on several cores by the host.
Time kernel_launched(const Evaluation& e) {
  const HostSpec& host = e.platform.machine.host;
  const std::int64_t lanes = e.lowered.facts.lnc;
  return host.kernel_launch + host.kernel_lane * lanes + std::max(e.record.elapsed, host.kernel_shortest);
}

/// Of all ranks before a graph that a framework launches: as many rounds as their number has doublings.
Time barrier(const Evaluation& e) {
  const auto rounds = std::bit_width(std::max(1U, e.lowered.facts.ranks) - 1);
  return e.platform.machine.host.barrier_round * static_cast<std::int64_t>(rounds);
}

/// Time that latency, FLOP rate and HBM rate cover.
Time covered(const Evaluation& e) {
  switch (e.lowered.facts.interval) {
    case Interval::kCall:
      return e.record.elapsed + e.platform.machine.host.call;
    case Interval::kKernelLaunch:
      return kernel_launched(e);
    case Interval::kGraphLaunch:
      return e.record.elapsed + e.platform.machine.host.call + barrier(e);
    case Interval::kSteady:
      return within_program(e);
    default:
      return e.record.elapsed;
  }
}

/// Where a run has something to measure it by, what `interval` asks for.
std::optional<double> interval_ns(const Evaluation& e, const OperatorRecord& op) {
  const bool transfers = op.transfers.started > 0;
  const DmaSpec& dma = e.platform.machine.dma;
  switch (e.lowered.facts.interval) {
    case Interval::kDmaActive:
      return nanoseconds(e.record.dma_active);
    case Interval::kClockRamp: {
      const Span& tensor = op.spans[static_cast<std::size_t>(Engine::kTensor)];
      if (tensor.started == 0 || e.record.limiter_opened == Time(INT64_MAX)) return std::nullopt;
      return nanoseconds(e.record.limiter_opened - tensor.first_start);
    }
    case Interval::kPacket:
    case Interval::kEngineBusy: {
      if (!transfers) return std::nullopt;
      const bool with_semaphore = e.lowered.facts.interval == Interval::kEngineBusy;
      return nanoseconds(op.transfers.end - op.transfers.first_start) +
             (with_semaphore ? nanoseconds(dma.packet_overhead) : 0);
    }
    case Interval::kIssue: {
      if (!transfers) return std::nullopt;
      double busy = 0;
      for (const Time time : op.busy) busy += nanoseconds(time);  // of all cores, which issue as many each
      return busy / static_cast<double>(op.transfers.started * e.record.cores_with_program);
    }
    case Interval::kTriggerToPacket:
      if (!transfers) return std::nullopt;
      return nanoseconds(op.transfers.first_start - op.first_trigger);
    case Interval::kOccupancy:
      if (!transfers || op.transfers.started == op.transfers.last_count) return std::nullopt;
      return op.transfers.interval_ps(0) / kKilo;
    default:
      return std::nullopt;
  }
}

/// From start to start, and from the first start to the last result, of the instruction that is timed.
void fill_instruction_time(Metrics& m, const OperatorRecord& timed, std::size_t engine) {
  const Span& span = timed.spans[engine];
  if (span.started == 0) return;
  const double busy = static_cast<double>(timed.busy[engine].count()) / static_cast<double>(timed.instructions[engine]);
  m.set("initiation_interval_ns", span.interval_ps(busy) / kKilo);
  m.set("duration_ns", nanoseconds(span.end - span.first_start));
}

/// Bytes per time of the copies of `op`, in steady state.
double copy_rate(const OperatorRecord& op) {
  const auto transfers = static_cast<double>(op.transfers.started);
  return share(static_cast<double>(op.dma_bytes) / transfers, op.transfers.interval_ps(0));
}

void fill_kernel_time(Metrics& m, const Evaluation& e) {
  const WorkloadFacts& f = e.lowered.facts;
  if (f.interval < Interval::kDmaActive) m.set("duration_ns", nanoseconds(within_program(e)));
  if (f.timed_engine.has_value()) {
    if (const OperatorRecord* timed = operator_named(e.record, "instruction")) {
      fill_instruction_time(m, *timed, static_cast<std::size_t>(*f.timed_engine));
    }
    return;
  }
  const OperatorRecord* kernel = operator_named(e.record, f.kernel);
  if (kernel == nullptr) return;
  if (const std::optional<double> ns = interval_ns(e, *kernel)) m.set("duration_ns", *ns);
  const OperatorRecord* reference = operator_named(e.record, "reference");
  if (reference != nullptr && reference->transfers.started > 0) {
    m.set("relative_throughput", share(copy_rate(*kernel), copy_rate(*reference)));
  }
}

void fill_time(Metrics& m, const Evaluation& e) {
  const double us = microseconds(covered(e));
  m.set("latency_us", us);
  m.set("roofline_us", static_cast<double>(e.lowered.roofline_ps) / 1e6);
  m.set("exposed_communication_us", share(microseconds(e.record.communication_busy_while_compute_idle),
                                          static_cast<double>(e.record.cores_with_program)));
  const WorkloadFacts& f = e.lowered.facts;
  if (f.unit_of_tokens.empty()) fill_kernel_time(m, e);
  if (f.unit_of_tokens == "decode") m.set("tpot_us", us);
  if (f.unit_of_tokens == "prefill") m.set("ttft_us", us);
}

void fill_flops(Metrics& m, const Evaluation& e, double elapsed) {
  const WorkloadFacts& f = e.lowered.facts;
  const double peak = e.platform.machine.array_peak(dtype_named(f.peak_dtype));
  const double sustained = static_cast<double>(f.useful_flop) / elapsed;
  m.set("peak_dtype", f.peak_dtype);
  m.set("peak_pflops", peak / kPeta);
  m.set("sustained_pflops", sustained / kPeta);
  m.set("sustained_over_peak", share(sustained, peak));
  if (f.unit_of_tokens == "prefill") m.set("mfu", share(sustained, peak));
}

void fill_rates(Metrics& m, const Evaluation& e) {
  const WorkloadFacts& f = e.lowered.facts;
  const double elapsed = seconds(covered(e));
  if (!f.peak_dtype.empty()) fill_flops(m, e, elapsed);
  const Activity& a = e.record.activity;
  m.set("hbm_gb_per_s", static_cast<double>(a.hbm_read_bytes + a.hbm_write_bytes) / elapsed / kGiga);
  if (f.vector_bytes > 0) {
    const double rate = static_cast<double>(f.vector_bytes) / elapsed / kGiga;
    m.set("algbw_gb_per_s", rate);
    m.set("busbw_gb_per_s", rate * f.bus_factor);
  }
  if (!f.algorithms.empty()) m.set("algorithm", f.algorithms);
  if (!f.broken_rules.empty()) m.set("broken_rules", f.broken_rules);
  if (f.unit_of_tokens.empty()) return;
  const double tokens = static_cast<double>(f.tokens) / elapsed;
  m.set("tokens_per_s", tokens);
  if (f.sequences > 0) m.set("tokens_per_s_per_user", tokens / static_cast<double>(f.sequences));
}

void fill_utilization(Metrics& m, const Evaluation& e) {
  const Utilization u = utilization_of(e.platform.machine, e.lowered.job, e.record);
  m.set("tensor_utilization", u.tensor);
  m.set("vector_utilization", u.vector);
  m.set("scalar_utilization", u.scalar);
  m.set("gpsimd_utilization", u.gpsimd);
  m.set("dma_utilization", u.dma);
  m.set("hbm_utilization", u.hbm);
  m.set("link_utilization", u.link);
  m.set("bottleneck", bottleneck_of(u));
}

/// rate / megawatts under the four boundaries.
void fill_per_megawatt(Metrics& m, const std::string& what, double rate, Watts it, Watts provisioned, Watts chips,
                       Watts utility) {
  m.set((what + "_per_mw").c_str(), rate / (it.count() / kMega));
  m.set((what + "_per_provisioned_mw").c_str(), rate / (provisioned.count() / kMega));
  m.set((what + "_per_chip_mw").c_str(), rate / (chips.count() / kMega));
  m.set((what + "_per_utility_mw").c_str(), rate / (utility.count() / kMega));
}

void fill_power(Metrics& m, const Evaluation& e) {
  const MachineSpec& machine = e.platform.machine;
  const SystemPowerSpec& system = machine.power.system;
  const WorkloadFacts& f = e.lowered.facts;
  const double elapsed = seconds(e.record.elapsed);
  const EnergyReport energy = energy_of(e.record.activity, e.record.elapsed, machine.chips, machine.power.chip);
  const Watts chip(energy.total().count() / elapsed / machine.chips);
  const Watts it = it_power(chip, machine.chips, system);
  const Watts provisioned = it_power(machine.power.chip.tdp, machine.chips, system);
  const Watts utility = utility_power(it, system);
  m.set("chip_power_w", chip.count());
  m.set("it_power_kw", it.count() / kKilo);
  m.set("utility_power_kw", utility.count() / kKilo);
  m.set("energy_tensor_j", energy.tensor.count());
  m.set("energy_vector_j", energy.vector.count());
  m.set("energy_sbuf_j", energy.sbuf.count());
  m.set("energy_psum_j", energy.psum.count());
  m.set("energy_hbm_j", energy.hbm.count());
  m.set("energy_link_j", energy.link.count());
  m.set("energy_static_j", energy.fixed.count());
  const Watts chips(chip.count() * machine.chips);
  if (!f.peak_dtype.empty()) {
    const double peak = machine.array_peak(dtype_named(f.peak_dtype)) / kPeta;
    m.set("peak_pflops_per_mw", peak / (provisioned.count() / kMega));
    fill_per_megawatt(m, "sustained_pflops", static_cast<double>(f.useful_flop) / elapsed / kPeta, it, provisioned,
                      chips, utility);
  }
  if (f.unit_of_tokens.empty() || f.tokens == 0) return;
  const double tokens = static_cast<double>(f.tokens) / elapsed;
  m.set("energy_per_token_j", it.count() / tokens);
  fill_per_megawatt(m, "tokens_per_s", tokens, it, provisioned, chips, utility);
  if (system.price.count() > 0) m.set("usd_per_million_tokens", system.price.count() / 3600.0 / tokens * kMega);
}

void fill_counts(Metrics& m, const Evaluation& e) {
  const WorkloadFacts& f = e.lowered.facts;
  const auto moved = [&](Traffic t) { return e.record.activity.dma_bytes[static_cast<std::size_t>(t)]; };
  std::uint64_t macs = 0;
  for (std::uint64_t count : e.record.activity.macs) macs += count;
  m.set("useful_flop", f.useful_flop);
  m.set("issued_macs", macs);
  m.set("weight_bytes", moved(Traffic::kWeights));
  m.set("bias_bytes", moved(Traffic::kBiases));
  m.set("kv_read_bytes", moved(Traffic::kKvRead));
  m.set("kv_write_bytes", moved(Traffic::kKvWrite));
  m.set("collective_bytes", moved(Traffic::kCollective));
  m.set("bytes_sent", e.record.bytes_sent);
  m.set("bytes_received", e.record.bytes_received);
  m.set("idle_cores", f.idle_cores);
  m.set("replicas", f.unit_of_tokens.empty() ? e.record.replicas : std::uint64_t{f.dp});
  m.set("fold_error_bound", share(seconds(e.record.fold_error), seconds(e.record.elapsed)));
  m.set("memory_used_gib_per_chip", f.memory_gib_per_chip);
  if (f.unit_of_tokens.empty()) return;
  m.set("batch", f.sequences);
  m.set("batch_per_replica", f.batch_per_replica);
  m.set("padded_sequences", f.padded_sequences);
  m.set("distinct_experts", f.distinct_experts);
  m.set("tp", std::uint64_t{f.tp});
  m.set("ep", std::uint64_t{f.ep});
  m.set("dp", std::uint64_t{f.dp});
}

void check_equal(std::uint64_t counted, std::uint64_t expected, const char* what) {
  if (counted == expected) return;
  throw InvariantError(std::string(what) + ": counted " + std::to_string(counted) + ", the model's closed form says " +
                       std::to_string(expected));
}

}  // namespace

void fill_metrics(PointRow& row, const Evaluation& evaluation) {
  Metrics m(row);
  fill_time(m, evaluation);
  fill_rates(m, evaluation);
  fill_utilization(m, evaluation);
  fill_power(m, evaluation);
  fill_counts(m, evaluation);
  fill_fabric_metrics(row, evaluation);
}

void check_conservation(const Evaluation& evaluation) {
  const RunRecord& record = evaluation.record;
  const WorkloadFacts& f = evaluation.lowered.facts;
  const auto cores = static_cast<std::int64_t>(evaluation.platform.machine.cores());
  for (const EngineRecord& engine : record.engines) {
    check(engine.sum.total() == record.elapsed * cores,
          "busy, stalls and idle of all engines add up to the elapsed time");
  }
  check_equal(record.bytes_received, record.bytes_sent, "bytes received");
  const auto moved = [&](Traffic t) { return record.activity.dma_bytes[static_cast<std::size_t>(t)]; };
  check_equal(moved(Traffic::kWeights), f.weight_bytes, "weight bytes");
  check_equal(moved(Traffic::kBiases), f.bias_bytes, "bias bytes");
  check_equal(moved(Traffic::kKvRead), f.kv_read_bytes, "KV bytes read");
  check_equal(moved(Traffic::kKvWrite), f.kv_write_bytes, "KV bytes written");
  if (f.copy_bytes > 0) check_equal(moved(Traffic::kActivations), f.copy_bytes, "bytes copied");
  if (f.collective_copy_bytes > 0) {
    check_equal(moved(Traffic::kCollective), f.collective_copy_bytes, "bytes copied as a collective");
  }
  check(static_cast<std::uint64_t>(within_program(evaluation).count()) >= evaluation.lowered.roofline_ps,
        "nothing is faster than its roofline");
}

}  // namespace trnsim
