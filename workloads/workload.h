// Which software: a workload CSV and its overrides, lowered for one machine into programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/program.h"
#include "models/system/machine_spec.h"
#include "platforms/table/quantity.h"

namespace trnsim {

struct WorkloadParameter {
  std::string name, value, unit, source, origin;
  std::string place;         ///< of the value, "path/matmul.csv:3:3" or "--set": what an error about it starts with
  bool is_override = false;  ///< set over the file: by --set or by a sweep
  std::string file = {};     ///< path of the file that the value names, if it names one
};

struct WorkloadParameterInfo {
  std::string name;
  Dimension dimension;
  std::string range;
  std::string meaning;
  std::string phases;  ///< that read it, separated by '|', or "all"
};

struct WorkloadOverride {
  std::string name, value, place;
};

/// What part of a single kernel's run its time metrics cover.
enum class Interval : std::uint8_t {
  kRun,              ///< latency_us with kernel entry and exit; duration_ns from first instruction to last result
  kCall,             ///< both with what the host's launch costs
  kSteady,           ///< kernel entry and exit left out
  kDmaActive,        ///< union of the times in which a transfer of the core is unfinished
  kClockRamp,        ///< first matmul until the tensor engine's clock limiter opens
  kPacket,           ///< a transfer of one packet: start to end at a DMA engine
  kEngineBusy,       ///< a transfer at the DMA engines, semaphore write included
  kIssue,            ///< the instruction that starts a transfer
  kTriggerToPacket,  ///< that instruction to the first packet
  kOccupancy,        ///< start to start of back-to-back transfers
  kKernelLaunch,     ///< collectives: kernel entry and exit and what the host's launch of it costs
  kGraphLaunch,      ///< collectives: the same of a graph that a framework launches on all ranks
};

/// Closed-form facts of the job, from model dimensions alone; what the counters are held against.
struct WorkloadFacts {
  std::uint64_t useful_flop = 0;   ///< the workload's own matmul FLOPs on the whole machine, no padding
  std::uint64_t weight_bytes = 0;  ///< that must be read at least once per run, on the whole machine, as mapped
  std::uint64_t bias_bytes = 0;
  std::uint64_t kv_read_bytes = 0;
  std::uint64_t kv_write_bytes = 0;
  std::uint64_t operand_bytes = 0;          ///< of a kernel alone: operands and results, each moved from or to HBM once
  std::uint64_t copy_bytes = 0;             ///< moved by a copy
  std::uint64_t collective_copy_bytes = 0;  ///< moved by a copy beside it, in packets of a collective
  std::uint64_t copy_hbm_ends = 0;          ///< how many ends of the copies lie in HBM
  std::uint64_t padding_flop = 0;           ///< issued beyond useful because tiles and batches are padded
  std::uint64_t tokens = 0;                 ///< produced (decode) or processed (prefill), whole machine
  std::uint64_t sequences = 0;              ///< in flight, whole machine (batch)
  std::uint64_t batch_per_replica = 0;
  std::uint64_t padded_sequences = 0;  ///< added so that the batch divides
  std::uint32_t tp = 0, ep = 0, dp = 0, lnc = 0;
  std::uint64_t idle_cores = 0;                 ///< physical cores without work
  std::uint64_t distinct_experts = 0;           ///< drawn, summed over layers, of one replica
  double memory_gib_per_chip = 0;               ///< fullest chip: weights, KV, activations, reserve
  std::string peak_dtype;                       ///< fastest matmul dtype used; empty: none
  std::uint64_t collective_bytes_per_rank = 0;  ///< closed form, payload one rank sends
  std::uint64_t vector_bytes = 0;               ///< collectives: of the whole vector
  std::uint32_t ranks = 0;                      ///< collectives: of a group
  double bus_factor = 0;                        ///< collectives: bytes that a rank must send per byte of the vector
  double bisection_bytes_per_s = 0;    ///< collectives: that links carry between the halves of the group's chips
  double bisection_bound_s = 0;        ///< collectives: that what goes between the halves takes at least
  std::string algorithms;              ///< collectives: that carry out the groups, each once, ';' between them
  std::string broken_rules;            ///< collectives: rules that a group breaks, ';' between them
  Interval interval = Interval::kRun;  ///< single kernels and collectives
  std::string kernel;                  ///< single kernels: the operator that is the kernel
  std::optional<Engine> timed_engine;  ///< instruction: the engine whose operator "instruction" is timed
  std::string unit_of_tokens;          ///< "decode", "prefill" or empty for kernels
};

struct LoweredWorkload {
  Job job;
  WorkloadFacts facts;
  std::uint64_t roofline_ps = 0;  ///< bound from array peak, HBM, DMA and links
  std::string roofline_limit;     ///< which of them binds: "tensor", "hbm", "dma", "link"
};

/// A workload file with overrides applied, names, units and ranges checked.
struct Workload {
  std::string name;
  std::vector<WorkloadParameter> parameters;  ///< that its phase reads, sorted by name
  std::string end;                            ///< "path/matmul.csv:7:1", its last row: where a missing one could stand
};

/// Reads workload `name_or_path` (a name finds <data_folder>/workloads/<name>.csv; a path that ends in .json is a
/// model's config.json and runs as workloads/parts/model.csv says) with what it inherits, applies
/// `overrides`, checks names, units, ranges and that the phase reads what is set. Throws InputError.
[[nodiscard]] Workload load_workload(const std::string& name_or_path, const std::vector<WorkloadOverride>& overrides,
                                     const std::string& data_folder);

/// The file of workload `name_or_path`. Throws InputError, without a place, if there is none.
[[nodiscard]] std::string workload_path(const std::string& name_or_path, const std::string& data_folder);

/// Maps `workload` onto `machine` and writes its programs. `seed` drives every random draw.
/// Throws InputError (the file contradicts itself) or InfeasibleError (the model's degrees or this machine do not
/// allow it).
[[nodiscard]] LoweredWorkload lower(const Workload& workload, const MachineSpec& machine, std::uint64_t seed);

[[nodiscard]] bool is_workload_parameter(std::string_view name);
[[nodiscard]] std::vector<WorkloadParameterInfo> workload_parameters();
[[nodiscard]] std::vector<std::string> workload_names(const std::string& data_folder);

}  // namespace trnsim
