#include "results/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace trnsim {
namespace {

// Names are a contract: users' scripts and published results read them. Append; never rename.
constexpr MetricInfo kMetrics[] = {
    // Speed.
    {"latency_us", "us", "platform",
     "start of the programs to the last completion; kernels: the part that the parameter interval names"},
    {"tokens_per_s", "1/s", "platform",
     "decode: batch x accepted tokens / tpot_us; prefill: prompt tokens / latency; training: tokens of the global "
     "batch / step"},
    {"tokens_per_s_per_user", "1/s", "one sequence", "tokens_per_s / batch; interactivity"},
    {"ttft_us", "us", "one sequence", "prefill: request to its first token"},
    {"tpot_us", "us", "one sequence", "decode: time of one step"},
    {"step_time_s", "s", "platform", "training: time of one optimizer step"},
    {"roofline_us", "us", "platform", "the larger of FLOPs / array peak and bytes / bandwidth of HBM, DMA and links"},
    {"duration_ns", "ns", "core",
     "kernels: first instruction issued to last completed, or what the parameter interval names"},
    {"relative_throughput", "1", "core", "dma_copy: rate of the copy / rate with descriptors of relative_to"},
    {"initiation_interval_ns", "ns", "core", "kernels: time between starts of consecutive repeats in steady state"},
    {"exposed_communication_us", "us", "core",
     "time with communication in flight and no compute engine busy, mean over the cores with a program"},
    {"bottleneck", "", "platform",
     "the largest share in use among engines, DMA, HBM and links, or communication if exposed for longer"},
    // Compute.
    {"peak_dtype", "", "platform", "the fastest matmul dtype that the workload uses on this machine"},
    {"peak_pflops", "PFLOP/s", "platform", "cores x array peak at peak_dtype / 10^15"},
    {"sustained_pflops", "PFLOP/s", "platform", "useful_flop / latency / 10^15"},
    {"sustained_over_peak", "1", "platform", "sustained_pflops / peak_pflops"},
    {"mfu", "1", "platform", "training and prefill: model FLOPs / (latency x peak_pflops), no recomputation counted"},
    // Utilization: busy / elapsed, mean over every unit of the machine, idle cores too.
    {"tensor_utilization", "1", "platform", "busy / elapsed of the tensor engines, mean over the cores with a program"},
    {"vector_utilization", "1", "platform", "busy / elapsed of the vector engines, mean over the cores with a program"},
    {"scalar_utilization", "1", "platform", "busy / elapsed of the scalar engines, mean over the cores with a program"},
    {"gpsimd_utilization", "1", "platform", "busy / elapsed of the GpSimd engines, mean over the cores with a program"},
    {"dma_utilization", "1", "platform", "bytes moved by DMA / (peak bandwidth of these cores' DMA engines x elapsed)"},
    {"hbm_utilization", "1", "platform",
     "bytes read and written / (peak bandwidth of these cores' HBM stacks x elapsed)"},
    {"link_utilization", "1", "platform",
     "bytes carried / (payload bandwidth of the links that carried any x elapsed)"},
    {"hbm_gb_per_s", "GB/s", "platform", "HBM bytes read and written / latency / 10^9"},
    {"algbw_gb_per_s", "GB/s", "rank",
     "collectives: payload bytes of a rank / latency / 10^9; where sizes differ, of the rank that gives or gets most"},
    {"busbw_gb_per_s", "GB/s", "rank",
     "algbw_gb_per_s x the bytes a rank must send per payload byte (all-reduce 2(n-1)/n, all-gather (n-1)/n); where "
     "sizes differ, the most bytes that one rank sends to or gets from others / latency / 10^9"},
    {"mean_hops", "links", "platform",
     "collectives: links that a byte between two ranks crosses, mean over all bytes, those within a chip counted with "
     "0"},
    {"switches_used", "switches", "platform",
     "collectives: switches that carried bytes, planes and sled switches alike"},
    {"busiest_link_us", "us", "platform", "collectives: time for which the busiest link was taken"},
    {"busiest_link_level", "", "platform", "collectives: level of that link, as in links.csv"},
    {"bisection_gb_per_s", "GB/s", "platform",
     "collectives: the most that links carry from one half of the group's chips to the other, in the direction with "
     "less / 10^9; halves by order of the chips in the group"},
    {"bisection_bound_us", "us", "platform",
     "collectives: bytes from half to half / what links carry that way, in the direction that takes longer"},
    {"memory_used_gib_per_chip", "GiB", "chip", "fullest chip: weights, KV cache, activations, reserve / 2^30"},
    // Power, energy, money.
    {"chip_power_w", "W", "chip", "energy of all chips / latency / chips"},
    {"it_power_kw", "kW", "IT",
     "(chips with regulator loss + hosts + NICs + retimers + cables + switches) x (1 + fans) / supply efficiency"},
    {"utility_power_kw", "kW", "utility", "it_power_kw x (1 + data-centre network share) x PUE"},
    {"energy_per_token_j", "J", "IT", "it_power_kw x latency / tokens"},
    {"tokens_per_s_per_mw", "1/s/MW", "IT", "tokens_per_s / modelled average IT megawatts of the run"},
    {"tokens_per_s_per_provisioned_mw", "1/s/MW", "IT provisioned",
     "tokens_per_s / IT megawatts with every chip at its TDP"},
    {"tokens_per_s_per_chip_mw", "1/s/MW", "chips", "tokens_per_s / megawatts of the chips alone"},
    {"tokens_per_s_per_utility_mw", "1/s/MW", "utility", "tokens_per_s / megawatts drawn from the utility"},
    {"peak_pflops_per_mw", "PFLOP/s/MW", "IT provisioned",
     "peak_pflops / IT megawatts with every chip at its TDP: a constant of machine and dtype"},
    {"sustained_pflops_per_mw", "PFLOP/s/MW", "IT", "sustained_pflops / modelled average IT megawatts of the run"},
    {"sustained_pflops_per_provisioned_mw", "PFLOP/s/MW", "IT provisioned",
     "sustained_pflops / IT megawatts with every chip at its TDP"},
    {"sustained_pflops_per_chip_mw", "PFLOP/s/MW", "chips", "sustained_pflops / megawatts of the chips alone"},
    {"sustained_pflops_per_utility_mw", "PFLOP/s/MW", "utility", "sustained_pflops / megawatts drawn from the utility"},
    {"usd_per_million_tokens", "USD", "platform", "price per hour / 3600 / tokens_per_s x 10^6"},
    {"energy_tensor_j", "J", "chips", "sum over dtypes of MACs issued x energy per MAC"},
    {"energy_vector_j", "J", "chips", "element operations of vector, scalar and GpSimd x energy per element"},
    {"energy_sbuf_j", "J", "chips", "SBUF bytes read and written x energy per byte"},
    {"energy_psum_j", "J", "chips", "PSUM bytes read and written x energy per byte"},
    {"energy_hbm_j", "J", "chips", "HBM bytes read and written x energy per byte"},
    {"energy_link_j", "J", "chips and switches", "bytes x links traversed and switches crossed x energy per byte"},
    {"energy_static_j", "J", "chips", "static power of every chip x latency"},
    // What was asked and what was counted, per run.
    {"batch", "sequences", "platform", "sequences in flight"},
    {"batch_per_replica", "sequences", "replica", "batch / dp, padding included"},
    {"padded_sequences", "sequences", "platform", "added so that the batch divides by dp"},
    {"replicas", "count", "platform", "copies of the model"},
    {"tp", "ranks", "replica", "tensor parallel degree"},
    {"ep", "ranks", "replica", "expert parallel degree"},
    {"dp", "ranks", "platform", "data parallel degree"},
    {"idle_cores", "cores", "platform", "physical cores without work"},
    {"useful_flop", "FLOP", "platform", "2 x the workload's own MACs: no padding, no recomputation"},
    {"issued_macs", "MAC", "platform", "multiply-accumulates issued to the arrays, padding included"},
    {"weight_bytes", "B", "platform", "weights read from HBM, at the run's precision, biases apart"},
    {"bias_bytes", "B", "platform", "biases read from HBM"},
    {"kv_read_bytes", "B", "platform", "KV cache read"},
    {"kv_write_bytes", "B", "platform", "KV cache written"},
    {"collective_bytes", "B", "platform", "payload that collectives send, all ranks"},
    {"bytes_sent", "B", "platform", "core to other core, counted by the sender"},
    {"bytes_received", "B", "platform", "core to other core, counted by the receiver; equals bytes_sent"},
    {"distinct_experts", "experts", "replica", "experts drawn by at least one token, summed over layers"},
    {"broken_rules", "", "platform",
     "collectives: with collective.rules=report, the rules of the platform that a group breaks, ';' between them"},
    {"algorithm", "", "platform",
     "collectives: the algorithm that was taken; where groups take several, each once, ';' between them"},
    {"fold_error_bound", "1", "platform",
     "of the run's time: largest relative error that folding may add; 0 where folding is exact"},
};

void append_row(std::string& text, const MetricInfo& info) {
  text += "| `";
  text += info.name;
  text += "` | ";
  text += info.unit.empty() ? "word" : info.unit;
  text += " | ";
  text += info.boundary;
  text += " | ";
  text += info.formula;
  text += " |\n";
}

}  // namespace

std::span<const MetricInfo> metrics() {
  return kMetrics;
}

const MetricInfo* find_metric(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const MetricInfo& info) { return info.name == name; });
  return found == std::end(kMetrics) ? nullptr : found;
}

std::string_view name(Status status) {
  constexpr std::array<std::string_view, 7> kNames = {"ok",      "infeasible", "saturated",  "deadlock",
                                                      "timeout", "crashed",    "host_memory"};
  return kNames.at(static_cast<std::size_t>(status));
}

std::string format_number(double value) {
  if (!std::isfinite(value)) return {};
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value == 0 ? 0.0 : value).ptr;
  return {text.data(), end};
}

std::string render_metrics_markdown() {
  std::string text =
      "# Metrics\n\n"
      "Every column of `points.csv` that is a result, in column order; the same table as `trnsim list metrics`. A cell "
      "is empty\nwhere the metric has no meaning for the workload or its ratio is undefined.\n\n"
      "Boundaries: *IT* is the whole platform with its hosts and switches, idle chips too; *IT provisioned* is the "
      "same with\nevery chip at its TDP; *utility* adds the data-centre network and cooling (PUE); *chips* is the "
      "accelerators alone.\n\n"
      "A *replica* is one copy of the model; `dp` counts them. Where `ep` is above `tp`, `ep / tp` replicas share "
      "their\n"
      "experts and form a *replica group*; else each replica is a group of its own. Groups send each other nothing; "
      "`fold`\ncounts them.\n\n"
      "One decode step is the step of all replicas: they start together, and `tpot_us` and `latency_us` end with the "
      "slowest of\nthem. A replica that is done earlier is not credited for it, as it would be if replicas ran on "
      "their "
      "own; energy and\nutilization count its wait as idle. At `run.detail=tile` the times of a decode step are within "
      "1 % of those at\n`run.detail=instruction`, and bytes, MACs and FLOPs are equal.\n\n"
      "The parameter `interval` of a kernel says what its times cover: `latency_us` and `duration_ns`, and with them "
      "every "
      "rate over\nlatency (`sustained_pflops`, `hbm_gb_per_s`). Utilizations, power and energy are those of the whole "
      "run, entry and exit of\nthe program in it and the host's call left out, whatever the interval.\n\n"
      "The roofline of a kernel alone counts each operand and each result once, whatever its schedule reads again; "
      "that "
      "of a model\ncounts what its mapping reads.\n\n"
      "| metric | unit | boundary | formula |\n|---|---|---|---|\n";
  for (const MetricInfo& info : kMetrics) append_row(text, info);
  return text;
}

}  // namespace trnsim
