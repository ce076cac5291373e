#include "platforms/parameters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "platforms/edges.h"

namespace trnsim {
namespace {

constexpr std::array<std::string_view, 2> kYesNo = {"no", "yes"};
constexpr std::array kFabrics = [] {
  std::array<std::string_view, kFabricKinds.size()> names;
  for (std::size_t k = 0; k < names.size(); ++k) names[k] = kFabricKinds[k].name;
  return names;
}();
constexpr std::array<std::string_view, 3> kSharedPorts = {"none", "fast_modes", "all"};
constexpr std::array<std::string_view, 3> kPsumPorts = {"none", "same_bank", "all"};
constexpr std::array<std::string_view, 2> kReadings = {"lanes", "level_table"};
constexpr std::array<std::string_view, 2> kRules = {"enforce", "report"};
constexpr std::array<std::string_view, 2> kSbufCollectives = {"any", "reduce_and_gather"};
constexpr std::array<std::string_view, 3> kVariableAllToAlls = {"any", "same_local_rank", "whole_chips"};

void assign(std::uint32_t& field, const Value& value) {
  field = static_cast<std::uint32_t>(value.integer);
}
void assign(double& field, const Value& value) {
  field = value.real;
}
void assign(Hertz& field, const Value& value) {
  field = Hertz(static_cast<std::uint64_t>(value.integer));
}
void assign(Bytes& field, const Value& value) {
  field = Bytes(static_cast<std::uint64_t>(value.integer));
}
void assign(BytesPerSecond& field, const Value& value) {
  field = BytesPerSecond(static_cast<std::uint64_t>(value.integer));
}
void assign(Time& field, const Value& value) {
  field = Time(value.integer);
}
void assign(Joules& field, const Value& value) {
  field = Joules(value.real);
}
void assign(Watts& field, const Value& value) {
  field = Watts(value.real);
}
void assign(UsdPerHour& field, const Value& value) {
  field = UsdPerHour(value.real);
}
void assign(bool& field, const Value& value) {
  field = value.word == "yes";
}
void assign(FabricKind& field, const Value& value) {
  field = static_cast<FabricKind>(std::find(kFabrics.begin(), kFabrics.end(), value.word) - kFabrics.begin());
}
void assign(SharedPort& field, const Value& value) {
  field =
      static_cast<SharedPort>(std::find(kSharedPorts.begin(), kSharedPorts.end(), value.word) - kSharedPorts.begin());
}
void assign(PsumPort& field, const Value& value) {
  field = static_cast<PsumPort>(std::find(kPsumPorts.begin(), kPsumPorts.end(), value.word) - kPsumPorts.begin());
}
void assign(LinkReading& field, const Value& value) {
  field = value.word == "lanes" ? LinkReading::kLanes : LinkReading::kLevelTable;
}
void assign(SbufCollectives& field, const Value& value) {
  field = value.word == "any" ? SbufCollectives::kAny : SbufCollectives::kReduceAndGather;
}
void assign(VariableAllToAll& field, const Value& value) {
  field = static_cast<VariableAllToAll>(std::find(kVariableAllToAlls.begin(), kVariableAllToAlls.end(), value.word) -
                                        kVariableAllToAlls.begin());
}
void set_rules(MachineSpec& machine, const Value& value) {
  machine.collective_rules.enforced = value.word == "enforce";
}
void set_edges(MachineSpec& machine, const Value& value) {
  read_edges(value.word, machine.fabric);
}

// One row per parameter, sorted by name.
// clang-format off
#define TRNSIM_FIELD(field) [](MachineSpec& machine, const Value& value) { assign(machine.field, value); }
#define TRNSIM_MAC(dtype) TRNSIM_FIELD(power.chip.mac[static_cast<std::size_t>(Dtype::dtype)])
constexpr std::array kParameters = std::to_array<Parameter>({
    {"chip.cores", Dimension::kCount, 1, 256, "NeuronCores per chip", Applies::kAlways, TRNSIM_FIELD(cores_per_chip)},
    {"chip.hbm.mixed_fraction", Dimension::kFraction, 0.01, 1, "sustained share of the bandwidth while reads and writes take turns", Applies::kAlways, TRNSIM_FIELD(hbm.mixed_fraction)},
    {"chip.hbm.read_fraction", Dimension::kFraction, 0.01, 1, "sustained share of the bandwidth while a stack only reads", Applies::kAlways, TRNSIM_FIELD(hbm.read_fraction)},
    {"chip.hbm.reserve_other_per_core", Dimension::kCapacity, 0, 1e12, "HBM per core kept for runtime and collectives", Applies::kAlways, TRNSIM_FIELD(hbm.reserve_other_per_core)},
    {"chip.hbm.reserve_per_core", Dimension::kCapacity, 0, 1e12, "HBM per core kept for GpSimd microcode", Applies::kAlways, TRNSIM_FIELD(hbm.reserve_per_core)},
    {"chip.hbm.stack_bandwidth", Dimension::kBandwidth, 1e6, 1e15, "bandwidth of one stack, reads and writes together", Applies::kAlways, TRNSIM_FIELD(hbm.bandwidth)},
    {"chip.hbm.stack_capacity", Dimension::kCapacity, 1, 1e15, "capacity of one stack", Applies::kAlways, TRNSIM_FIELD(hbm.capacity)},
    {"chip.hbm.stacks", Dimension::kCount, 1, 64, "HBM stacks per chip", Applies::kAlways, TRNSIM_FIELD(hbm.stacks)},
    {"chip.hbm.write_fraction", Dimension::kFraction, 0.01, 1, "sustained share of the bandwidth while a stack only writes", Applies::kAlways, TRNSIM_FIELD(hbm.write_fraction)},
    {"collective.rule.all_to_all_least", Dimension::kCount, 0, 1048576, "ranks of an all_to_all of equal sizes at least; 0: any", Applies::kAlways, TRNSIM_FIELD(collective_rules.all_to_all_least)},
    {"collective.rule.all_to_all_multiple", Dimension::kCount, 0, 1048576, "ranks of an all_to_all of equal sizes: a power of two or a multiple of this; 0: any", Applies::kAlways, TRNSIM_FIELD(collective_rules.all_to_all_multiple)},
    {"collective.rule.equal_sizes", Dimension::kWord, 0, 1, "whether every rank of a collective must give as much as the others", Applies::kAlways, TRNSIM_FIELD(collective_rules.equal_sizes), kYesNo},
    {"collective.rule.kangaring_ranks", Dimension::kCount, 0, 1048576, "ranks of a KangaRing at most; 0: any", Applies::kAlways, TRNSIM_FIELD(collective_rules.kangaring_ranks)},
    {"collective.rule.kangaring_whole_chips", Dimension::kWord, 0, 1, "whether a KangaRing must have all ranks of each of its chips", Applies::kAlways, TRNSIM_FIELD(collective_rules.kangaring_whole_chips), kYesNo},
    {"collective.rule.mesh_chips", Dimension::kCount, 0, 1048576, "chips of a mesh at most; 0: any", Applies::kAlways, TRNSIM_FIELD(collective_rules.mesh_chips)},
    {"collective.rule.same_local_ranks", Dimension::kWord, 0, 1, "whether a group must have the same local ranks in every instance", Applies::kAlways, TRNSIM_FIELD(collective_rules.same_local_ranks), kYesNo},
    {"collective.rule.sbuf", Dimension::kWord, 0, 1, "collectives that may run from SBUF; reduce_and_gather: all_reduce, all_gather and reduce_scatter of equal sizes", Applies::kAlways, TRNSIM_FIELD(collective_rules.sbuf), kSbufCollectives},
    {"collective.rule.variable_all_gather_one_chip", Dimension::kWord, 0, 1, "whether an all_gather of different sizes must be over all ranks of one chip, with lnc=2", Applies::kAlways, TRNSIM_FIELD(collective_rules.variable_all_gather_one_chip), kYesNo},
    {"collective.rule.variable_all_to_all", Dimension::kWord, 0, 2, "groups of an all_to_all of different sizes; same_local_rank: one rank of each instance, of equal local number; whole_chips: all ranks of several chips in order, with lnc=2", Applies::kAlways, TRNSIM_FIELD(collective_rules.variable_all_to_all), kVariableAllToAlls},
    {"collective.rules", Dimension::kWord, 0, 1, "enforce: a collective that breaks a rule collective.rule.* is refused; report: it runs, and broken_rules lists them", Applies::kAlways, set_rules, kRules},
    {"core.collective.mesh_limit", Dimension::kCapacity, 0, 1e15, "largest collective done by mesh", Applies::kAlways, TRNSIM_FIELD(core.collective.mesh_limit)},
    {"core.collective.mesh_shard_limit", Dimension::kCapacity, 0, 1e15, "largest shard of a rank in a collective done by mesh", Applies::kAlways, TRNSIM_FIELD(core.collective.mesh_shard_limit)},
    {"core.collective.message_issue", Dimension::kTime, 0, 1e12, "CC-core time per message released", Applies::kAlways, TRNSIM_FIELD(core.collective.message_issue)},
    {"core.collective.pairs_ranks", Dimension::kWord, 0, 1, "whether the largest collectives take KangaRing, rings of pairs of ranks; no: rings of ranks", Applies::kAlways, TRNSIM_FIELD(core.collective.pairs_ranks), kYesNo},
    {"core.collective.recursive_limit", Dimension::kCapacity, 0, 1e15, "largest collective done by recursive halving and doubling; above, by ring or KangaRing", Applies::kAlways, TRNSIM_FIELD(core.collective.recursive_limit)},
    {"core.collective.slices", Dimension::kCount, 1, 16, "parts of a chunk that go round a ring one behind the other", Applies::kAlways, TRNSIM_FIELD(core.collective.slices)},
    {"core.collective.step", Dimension::kTime, 0, 1e12, "trigger, or arrival of an awaited message, to the first descriptor of the next one", Applies::kAlways, TRNSIM_FIELD(core.collective.step)},
    {"core.control.dispatch", Dimension::kTime, 0, 1e12, "step of a sequencer: one trip of a loop", Applies::kAlways, TRNSIM_FIELD(core.control.dispatch)},
    {"core.control.program_entry", Dimension::kTime, 0, 1e12, "start of a program to its first instruction", Applies::kAlways, TRNSIM_FIELD(core.control.program_entry)},
    {"core.control.program_exit", Dimension::kTime, 0, 1e12, "last completion to the end of the program", Applies::kAlways, TRNSIM_FIELD(core.control.program_exit)},
    {"core.control.semaphore", Dimension::kTime, 0, 1e12, "signal of one engine to start of another", Applies::kAlways, TRNSIM_FIELD(core.control.semaphore)},
    {"core.control.semaphores", Dimension::kCount, 1, 65535, "semaphores of a core", Applies::kAlways, TRNSIM_FIELD(core.control.semaphores)},
    {"core.gpsimd.clock", Dimension::kFrequency, 1e6, 1e11, "clock of the GpSimd engine", Applies::kAlways, TRNSIM_FIELD(core.gpsimd.clock)},
    {"core.gpsimd.completion", Dimension::kTime, 0, 1e12, "end of occupancy to result visible", Applies::kAlways, TRNSIM_FIELD(core.gpsimd.completion)},
    {"core.gpsimd.rate", Dimension::kCount, 1, 64, "elements per partition and cycle", Applies::kAlways, TRNSIM_FIELD(core.gpsimd.rate)},
    {"core.gpsimd.start", Dimension::kCount, 0, 65536, "cycles of an instruction before its first element", Applies::kAlways, TRNSIM_FIELD(core.gpsimd.start)},
    {"core.gpsimd.top_k_cycles", Dimension::kCount, 0, 4096, "cycles per value of a top-k; 0 = not present", Applies::kAlways, TRNSIM_FIELD(core.gpsimd.top_k_cycles)},
    {"core.partitions", Dimension::kCount, 1, 4096, "partitions of SBUF and PSUM", Applies::kAlways, TRNSIM_FIELD(core.partitions)},
    {"core.psum.banks", Dimension::kCount, 1, 1024, "PSUM banks", Applies::kAlways, TRNSIM_FIELD(core.psum_banks)},
    {"core.psum.per_partition", Dimension::kCapacity, 1, 1e9, "PSUM of a partition", Applies::kAlways, TRNSIM_FIELD(core.psum_per_partition)},
    {"core.psum.shared_port", Dimension::kWord, 0, 2, "instructions of vector and scalar that take turns at PSUM", Applies::kAlways, TRNSIM_FIELD(core.psum_port), kPsumPorts},
    {"core.sbuf.per_partition", Dimension::kCapacity, 1, 1e9, "SBUF of a partition that kernels may use", Applies::kAlways, TRNSIM_FIELD(core.sbuf_per_partition)},
    {"core.sbuf.shared_port", Dimension::kWord, 0, 2, "instructions of vector and GpSimd that take turns at SBUF", Applies::kAlways, TRNSIM_FIELD(core.sbuf_port), kSharedPorts},
    {"core.scalar.clock", Dimension::kFrequency, 1e6, 1e11, "clock of the scalar engine", Applies::kAlways, TRNSIM_FIELD(core.scalar.clock)},
    {"core.scalar.completion", Dimension::kTime, 0, 1e12, "end of occupancy to result visible", Applies::kAlways, TRNSIM_FIELD(core.scalar.completion)},
    {"core.scalar.function_overhead", Dimension::kTime, 0, 1e12, "added to a function or a read bias, beyond a copy", Applies::kAlways, TRNSIM_FIELD(core.scalar.function_overhead)},
    {"core.scalar.issue_overhead", Dimension::kTime, 0, 1e12, "added to every occupancy", Applies::kAlways, TRNSIM_FIELD(core.scalar.issue_overhead)},
    {"core.scalar.minimum_interval", Dimension::kCount, 0, 4096, "cycles of an instruction at least", Applies::kAlways, TRNSIM_FIELD(core.scalar.minimum_interval)},
    {"core.scalar.rate", Dimension::kCount, 1, 64, "elements per partition and cycle, other", Applies::kAlways, TRNSIM_FIELD(core.scalar.rate)},
    {"core.scalar.rate_16bit", Dimension::kCount, 1, 64, "elements per partition and cycle, 16-bit or narrower in SBUF", Applies::kAlways, TRNSIM_FIELD(core.scalar.rate_16bit)},
    {"core.scalar.sbuf_overhead", Dimension::kTime, 0, 1e12, "added where the source is in SBUF", Applies::kAlways, TRNSIM_FIELD(core.scalar.sbuf_overhead)},
    {"core.scalar.table_load", Dimension::kTime, 0, 1e12, "time to load the table of another function", Applies::kAlways, TRNSIM_FIELD(core.scalar.table_load)},
    {"core.tensor.clock", Dimension::kFrequency, 1e6, 1e11, "clock of the tensor array", Applies::kAlways, TRNSIM_FIELD(core.tensor.clock)},
    {"core.tensor.column_tiles", Dimension::kCount, 1, 64, "groups of array columns that matmuls run in side by side, at most", Applies::kAlways, TRNSIM_FIELD(core.tensor.column_tiles)},
    {"core.tensor.columns", Dimension::kCount, 1, 4096, "stationary columns of the array", Applies::kAlways, TRNSIM_FIELD(core.tensor.columns)},
    {"core.tensor.drain", Dimension::kCount, 0, 4096, "array cycles from the last row to its result", Applies::kAlways, TRNSIM_FIELD(core.tensor.drain)},
    {"core.tensor.fill", Dimension::kTime, 0, 1e12, "end of issue to result visible, beyond the drain", Applies::kAlways, TRNSIM_FIELD(core.tensor.fill)},
    {"core.tensor.fp32_passes", Dimension::kCount, 1, 64, "passes of an FP32 matmul, each with weights of its own", Applies::kAlways, TRNSIM_FIELD(core.tensor.fp32_passes)},
    {"core.tensor.fp32_row_cycles", Dimension::kCount, 1, 64, "array cycles per moving row in FP32", Applies::kAlways, TRNSIM_FIELD(core.tensor.fp32_row_cycles)},
    {"core.tensor.fp32_transpose_passes", Dimension::kCount, 1, 64, "passes of an FP32 transpose", Applies::kAlways, TRNSIM_FIELD(core.tensor.fp32_transpose_passes)},
    {"core.tensor.fp8_rows", Dimension::kCount, 1, 16384, "contraction depth of one FP8 pass", Applies::kAlways, TRNSIM_FIELD(core.tensor.fp8_rows)},
    {"core.tensor.issue_cycles", Dimension::kCount, 0, 4096, "array cycles between the rows of two instructions", Applies::kAlways, TRNSIM_FIELD(core.tensor.issue_cycles)},
    {"core.tensor.limiter", Dimension::kWord, 0, 1, "whether the dI/dt clock limiter is present", Applies::kAlways, TRNSIM_FIELD(core.tensor.limiter), kYesNo},
    {"core.tensor.limiter_close", Dimension::kFraction, 0, 1, "activity of a window below which the limit closes", Applies::kAlways, TRNSIM_FIELD(core.tensor.limiter_close)},
    {"core.tensor.limiter_fraction", Dimension::kFraction, 0.01, 1, "rate while limited", Applies::kAlways, TRNSIM_FIELD(core.tensor.limiter_fraction)},
    {"core.tensor.limiter_open", Dimension::kFraction, 0, 1, "activity of a window above which the limit opens", Applies::kAlways, TRNSIM_FIELD(core.tensor.limiter_open)},
    {"core.tensor.limiter_window", Dimension::kTime, 1, 1e12, "window over which the limiter measures activity", Applies::kAlways, TRNSIM_FIELD(core.tensor.limiter_window)},
    {"core.tensor.max_moving", Dimension::kCount, 1, 65536, "moving columns of one matmul at most", Applies::kAlways, TRNSIM_FIELD(core.tensor.max_moving)},
    {"core.tensor.minimum_interval", Dimension::kCount, 0, 4096, "cycles between two matmuls at least", Applies::kAlways, TRNSIM_FIELD(core.tensor.minimum_interval)},
    {"core.tensor.mx_rows", Dimension::kCount, 0, 16384, "contraction depth of one MXFP8 pass; 0 = no microscaling", Applies::kAlways, TRNSIM_FIELD(core.tensor.mx_rows)},
    {"core.tensor.mxfp4_rows", Dimension::kCount, 0, 16384, "contraction depth of one MXFP4 pass; 0 = no microscaling", Applies::kAlways, TRNSIM_FIELD(core.tensor.mxfp4_rows)},
    {"core.tensor.row_tiles", Dimension::kCount, 1, 64, "groups of array rows that matmuls run in side by side, at most", Applies::kAlways, TRNSIM_FIELD(core.tensor.row_tiles)},
    {"core.tensor.rows", Dimension::kCount, 1, 4096, "contraction depth of one BF16 pass", Applies::kAlways, TRNSIM_FIELD(core.tensor.rows)},
    {"core.tensor.sparse_inputs", Dimension::kCount, 0, 16, "moving elements per row and cycle that structured-sparse weights pick from; 0 = no sparsity", Applies::kAlways, TRNSIM_FIELD(core.tensor.sparse_inputs)},
    {"core.tensor.weight_load", Dimension::kCount, 0, 4096, "cycles to load a full stationary tile", Applies::kAlways, TRNSIM_FIELD(core.tensor.weight_load)},
    {"core.tensor.weight_load_completion", Dimension::kTime, 0, 1e12, "end of occupancy of a weight load to its end", Applies::kAlways, TRNSIM_FIELD(core.tensor.weight_load_completion)},
    {"core.tensor.weight_load_fp32", Dimension::kCount, 0, 4096, "cycles to load a full stationary tile of FP32", Applies::kAlways, TRNSIM_FIELD(core.tensor.weight_load_fp32)},
    {"core.vector.binary_cycles", Dimension::kCount, 1, 64, "cycles per element: two inputs, other", Applies::kAlways, TRNSIM_FIELD(core.vector.binary_cycles)},
    {"core.vector.binary_rate_16bit", Dimension::kCount, 1, 64, "elements per partition and cycle: two inputs, 16-bit or narrower, in SBUF", Applies::kAlways, TRNSIM_FIELD(core.vector.binary_rate_16bit)},
    {"core.vector.clock", Dimension::kFrequency, 1e6, 1e11, "clock of the vector engine", Applies::kAlways, TRNSIM_FIELD(core.vector.clock)},
    {"core.vector.completion", Dimension::kTime, 0, 1e12, "end of occupancy to result visible", Applies::kAlways, TRNSIM_FIELD(core.vector.completion)},
    {"core.vector.copy_rate", Dimension::kCount, 1, 64, "elements per partition and cycle: one input, other types, in SBUF", Applies::kAlways, TRNSIM_FIELD(core.vector.copy_rate)},
    {"core.vector.copy_rate_16bit", Dimension::kCount, 1, 64, "elements per partition and cycle: one input, 16-bit or narrower, in SBUF", Applies::kAlways, TRNSIM_FIELD(core.vector.copy_rate_16bit)},
    {"core.vector.exponential_rate", Dimension::kCount, 0, 64, "elements per partition and cycle of the fused exponential; 0 = not present", Applies::kAlways, TRNSIM_FIELD(core.vector.exponential_rate)},
    {"core.vector.issue_overhead", Dimension::kTime, 0, 1e12, "added to every occupancy", Applies::kAlways, TRNSIM_FIELD(core.vector.issue_overhead)},
    {"core.vector.minimum_interval", Dimension::kCount, 0, 4096, "cycles of an instruction at least", Applies::kAlways, TRNSIM_FIELD(core.vector.minimum_interval)},
    {"core.vector.pointer_overhead", Dimension::kTime, 0, 1e12, "added where one scalar per partition is read by pointer", Applies::kAlways, TRNSIM_FIELD(core.vector.pointer_overhead)},
    {"core.vector.psum_rate", Dimension::kCount, 1, 64, "elements per partition and cycle: any operand in PSUM", Applies::kAlways, TRNSIM_FIELD(core.vector.psum_rate)},
    {"core.vector.quantize_mx_rate", Dimension::kCount, 0, 64, "elements per partition and cycle of the MX quantiser; 0 = not present", Applies::kAlways, TRNSIM_FIELD(core.vector.quantize_mx_rate)},
    {"core.vector.reciprocal_cycles", Dimension::kCount, 1, 64, "cycles per element of a reciprocal", Applies::kAlways, TRNSIM_FIELD(core.vector.reciprocal_cycles)},
    {"core.vector.reduce_rate", Dimension::kCount, 1, 64, "elements per partition and cycle: reduction along the free dimension", Applies::kAlways, TRNSIM_FIELD(core.vector.reduce_rate)},
    {"core.vector.scan_cycles", Dimension::kCount, 1, 64, "cycles per element of a scan", Applies::kAlways, TRNSIM_FIELD(core.vector.scan_cycles)},
    {"dma.collective_packet", Dimension::kCapacity, 1, 1e9, "the same as dma.packet of collectives", Applies::kAlways, TRNSIM_FIELD(dma.collective_packet)},
    {"dma.compute_fraction", Dimension::kFraction, 0.01, 1, "rate of transfers that cast or accumulate, of the copy rate", Applies::kAlways, TRNSIM_FIELD(dma.compute_fraction)},
    {"dma.descriptor", Dimension::kTime, 0, 1e12, "engine time per packet beyond its bytes", Applies::kAlways, TRNSIM_FIELD(dma.descriptor)},
    {"dma.dispatch", Dimension::kTime, 0, 1e12, "issue to the first descriptor in its queue", Applies::kAlways, TRNSIM_FIELD(dma.dispatch)},
    {"dma.engine_bandwidth", Dimension::kBandwidth, 1e6, 1e15, "sustained bandwidth of one engine", Applies::kAlways, TRNSIM_FIELD(dma.engine_bandwidth)},
    {"dma.engines", Dimension::kCount, 1, 1024, "DMA engines per core", Applies::kAlways, TRNSIM_FIELD(dma.engines)},
    {"dma.hardware_generators", Dimension::kCount, 0, 64, "hardware descriptor generators per core", Applies::kAlways, TRNSIM_FIELD(dma.hardware_generators)},
    {"dma.hardware_issue", Dimension::kTime, 0, 1e12, "engine time to start a transfer through a hardware generator", Applies::kAlways, TRNSIM_FIELD(dma.hardware_issue)},
    {"dma.max_descriptor", Dimension::kCapacity, 1, 1e9, "payload of one descriptor at most", Applies::kAlways, TRNSIM_FIELD(dma.max_descriptor)},
    {"dma.notify", Dimension::kTime, 0, 1e12, "last byte to semaphore visible at the consumer", Applies::kAlways, TRNSIM_FIELD(dma.notify)},
    {"dma.packet", Dimension::kCapacity, 1, 1e9, "a descriptor is cut into packets of at most this", Applies::kAlways, TRNSIM_FIELD(dma.packet)},
    {"dma.packet_overhead", Dimension::kTime, 0, 1e12, "a packet from start to end, beyond its bytes on the wire", Applies::kAlways, TRNSIM_FIELD(dma.packet_overhead)},
    {"dma.prebuilt_issue", Dimension::kTime, 0, 1e12, "engine time to start a prebuilt ring", Applies::kAlways, TRNSIM_FIELD(dma.prebuilt_issue)},
    {"dma.qos_classes", Dimension::kCount, 1, 16, "classes of service of DMA traffic; 1 = queues take turns", Applies::kAlways, TRNSIM_FIELD(dma.qos_classes)},
    {"dma.qos_ratio", Dimension::kFraction, 1, 1000, "bandwidth that a class gets for what the next lower one gets where both wait", Applies::kAlways, TRNSIM_FIELD(dma.qos_ratio)},
    {"dma.queues_per_engine", Dimension::kCount, 1, 256, "queues per DMA engine", Applies::kAlways, TRNSIM_FIELD(dma.queues_per_engine)},
    {"dma.read_latency", Dimension::kTime, 0, 1e12, "first byte of a transfer that reads HBM", Applies::kAlways, TRNSIM_FIELD(dma.read_latency)},
    {"dma.ring_descriptors", Dimension::kCount, 32, 16777200, "descriptors that a DMA queue holds", Applies::kAlways, TRNSIM_FIELD(dma.ring_descriptors)},
    {"dma.software_descriptor", Dimension::kTime, 0, 1e12, "engine time per software-generated descriptor", Applies::kAlways, TRNSIM_FIELD(dma.software_descriptor)},
    {"dma.software_issue", Dimension::kTime, 0, 1e12, "engine time to start a software-generated transfer", Applies::kAlways, TRNSIM_FIELD(dma.software_issue)},
    {"dma.transpose_fraction_hbm", Dimension::kFraction, 0.01, 1, "rate of transfers that transpose out of HBM, of the copy rate", Applies::kAlways, TRNSIM_FIELD(dma.transpose_fraction_hbm)},
    {"dma.transpose_fraction_sbuf", Dimension::kFraction, 0.01, 1, "rate of transfers that transpose out of SBUF, of the copy rate", Applies::kAlways, TRNSIM_FIELD(dma.transpose_fraction_sbuf)},
    {"dma.wire_bandwidth", Dimension::kBandwidth, 1e6, 1e15, "bandwidth of one engine while a packet moves", Applies::kAlways, TRNSIM_FIELD(dma.wire_bandwidth)},
    {"dma.write_latency", Dimension::kTime, 0, 1e12, "first byte of a transfer that does not read HBM", Applies::kAlways, TRNSIM_FIELD(dma.write_latency)},
    {"efa.adapter_bandwidth", Dimension::kBandwidth, 1e3, 1e15, "an adapter: raw, one direction", Applies::kInstances, TRNSIM_FIELD(fabric.efa.bandwidth)},
    {"efa.adapters", Dimension::kCount, 1, 4096, "EFA adapters of an instance, dealt to its chips", Applies::kInstances, TRNSIM_FIELD(fabric.efa.adapters)},
    {"efa.oversubscription", Dimension::kFraction, 1, 1000, "what the adapters below the leaf switches can send over what the spine takes", Applies::kInstances, TRNSIM_FIELD(fabric.efa.oversubscription)},
    {"efa.packet_latency", Dimension::kTime, 0, 1e12, "adapter to adapter through the network", Applies::kInstances, TRNSIM_FIELD(fabric.efa.packet_latency)},
    {"efa.proxy_latency", Dimension::kTime, 0, 1e12, "request of the device to start of the adapter, by the host's proxy thread", Applies::kInstances, TRNSIM_FIELD(fabric.efa.proxy_latency)},
    {"efa.rails", Dimension::kWord, 0, 1, "yes: a leaf switch joins the adapters of equal number of all instances; no: those of an instance", Applies::kInstances, TRNSIM_FIELD(fabric.efa.rails), kYesNo},
    {"efa.sustained_fraction", Dimension::kFraction, 0.01, 1, "payload share of an adapter's raw bandwidth", Applies::kInstances, TRNSIM_FIELD(fabric.efa.sustained_fraction)},
    {"fabric.chip_forward_latency", Dimension::kTime, 0, 1e12, "through an intermediate chip", Applies::kForwards, TRNSIM_FIELD(fabric.chip_forward_latency)},
    {"fabric.chips_per_sled", Dimension::kCount, 1, 64, "chips per sled", Applies::kSwitched, TRNSIM_FIELD(fabric.chips_per_sled)},
    {"fabric.cross_rack.lanes_bandwidth", Dimension::kBandwidth, 1e3, 1e15, "link to the same position of another rack: raw, one direction, by lane counts", Applies::kSwitched, TRNSIM_FIELD(fabric.cross_rack.lanes_bandwidth)},
    {"fabric.cross_rack.latency", Dimension::kTime, 0, 1e12, "link to the same position of another rack: one traversal", Applies::kSwitched, TRNSIM_FIELD(fabric.cross_rack.latency)},
    {"fabric.cross_rack.level_table_bandwidth", Dimension::kBandwidth, 1e3, 1e15, "link to the same position of another rack: raw, one direction, by the vendor's level table", Applies::kSwitched, TRNSIM_FIELD(fabric.cross_rack.level_table_bandwidth)},
    {"fabric.edges", Dimension::kFile, 0, 0, "CSV file of links: from,to,bandwidth,latency, one direction each", Applies::kEdges, set_edges},
    {"fabric.kind", Dimension::kWord, 0, 0, "shape of the scale-up fabric", Applies::kAlways, TRNSIM_FIELD(fabric.kind), kFabrics},
    {"fabric.link.reading", Dimension::kWord, 0, 0, "which published reading of the link widths to use", Applies::kSwitched, TRNSIM_FIELD(fabric.reading), kReadings},
    {"fabric.link.sustained_fraction", Dimension::kFraction, 0.01, 1, "payload share of raw link bandwidth", Applies::kAnyFabric, TRNSIM_FIELD(fabric.link_sustained_fraction)},
    {"fabric.on_chip_latency", Dimension::kTime, 0, 1e12, "core to core inside a chip", Applies::kAlways, TRNSIM_FIELD(fabric.on_chip_latency)},
    {"fabric.planes", Dimension::kCount, 1, 64, "switch planes of a rack, to which the chips of a sled go by position", Applies::kSwitched, TRNSIM_FIELD(fabric.planes)},
    {"fabric.rack.lanes_bandwidth", Dimension::kBandwidth, 1e3, 1e15, "a chip's links to its switch plane: raw, one direction, by lane counts", Applies::kSwitched, TRNSIM_FIELD(fabric.rack.lanes_bandwidth)},
    {"fabric.rack.latency", Dimension::kTime, 0, 1e12, "a chip's links to its switch plane: one traversal", Applies::kSwitched, TRNSIM_FIELD(fabric.rack.latency)},
    {"fabric.rack.level_table_bandwidth", Dimension::kBandwidth, 1e3, 1e15, "a chip's links to its switch plane: raw, one direction, by the vendor's level table", Applies::kSwitched, TRNSIM_FIELD(fabric.rack.level_table_bandwidth)},
    {"fabric.racks", Dimension::kCount, 1, 64, "racks", Applies::kSwitched, TRNSIM_FIELD(fabric.racks)},
    {"fabric.sled.lanes_bandwidth", Dimension::kBandwidth, 1e3, 1e15, "link inside a sled: raw, one direction, by lane counts", Applies::kSwitched, TRNSIM_FIELD(fabric.sled.lanes_bandwidth)},
    {"fabric.sled.latency", Dimension::kTime, 0, 1e12, "link inside a sled: one traversal", Applies::kSwitched, TRNSIM_FIELD(fabric.sled.latency)},
    {"fabric.sled.level_table_bandwidth", Dimension::kBandwidth, 1e3, 1e15, "link inside a sled: raw, one direction, by the vendor's level table", Applies::kSwitched, TRNSIM_FIELD(fabric.sled.level_table_bandwidth)},
    {"fabric.sled.switch", Dimension::kWord, 0, 1, "yes: a switch joins the chips of a sled; no: direct links", Applies::kSwitched, TRNSIM_FIELD(fabric.sled_switch), kYesNo},
    {"fabric.sleds_per_rack", Dimension::kCount, 1, 1024, "sleds per rack", Applies::kSwitched, TRNSIM_FIELD(fabric.sleds_per_rack)},
    {"fabric.switch_latency", Dimension::kTime, 0, 1e12, "through a switch, port to port", Applies::kSwitches, TRNSIM_FIELD(fabric.switch_latency)},
    {"host.barrier_round", Dimension::kTime, 0, 1e12, "barrier of the ranks before a graph that a framework launches, per doubling of their number", Applies::kAlways, TRNSIM_FIELD(host.barrier_round)},
    {"host.call", Dimension::kTime, 0, 1e12, "a launch by the host until it sees the end, beyond the device's run", Applies::kAlways, TRNSIM_FIELD(host.call)},
    {"host.kernel_lane", Dimension::kTime, 0, 1e12, "what each physical core of a logical core adds to host.kernel_launch", Applies::kAlways, TRNSIM_FIELD(host.kernel_lane)},
    {"host.kernel_launch", Dimension::kTime, 0, 1e12, "a launch of a collective kernel by the host until it sees the end, beyond the device's run", Applies::kAlways, TRNSIM_FIELD(host.kernel_launch)},
    {"host.kernel_shortest", Dimension::kTime, 0, 1e12, "a run of the device below which such a launch takes no less time", Applies::kAlways, TRNSIM_FIELD(host.kernel_shortest)},
    {"machine.chips", Dimension::kCount, 1, 1048576, "chips of an instance of the machine", Applies::kAlways, TRNSIM_FIELD(chips)},
    {"machine.instances", Dimension::kCount, 1, 65536, "equal instances joined by EFA; 1 where absent", Applies::kInstances, TRNSIM_FIELD(instances)},
    {"machine.lnc", Dimension::kCount, 1, 2, "physical cores per logical core unless the workload says otherwise", Applies::kAlways, TRNSIM_FIELD(default_lnc)},
    {"power.chip.hbm", Dimension::kEnergyPerByte, 0, 1e-9, "HBM, per byte: device, PHY and path", Applies::kAlways, TRNSIM_FIELD(power.chip.hbm_byte)},
    {"power.chip.link", Dimension::kEnergyPerByte, 0, 1e-9, "link, per byte and traversal, beyond its static share", Applies::kAlways, TRNSIM_FIELD(power.chip.link_byte)},
    {"power.chip.mac_bf16", Dimension::kEnergyPerMac, 1e-14, 1e-10, "BF16 multiply-accumulate", Applies::kAlways, TRNSIM_MAC(kBf16)},
    {"power.chip.mac_fp32", Dimension::kEnergyPerMac, 1e-14, 1e-10, "FP32 multiply-accumulate", Applies::kAlways, TRNSIM_MAC(kFp32)},
    {"power.chip.mac_fp8", Dimension::kEnergyPerMac, 1e-14, 1e-10, "FP8 multiply-accumulate", Applies::kAlways, TRNSIM_MAC(kFp8)},
    {"power.chip.mac_mxfp4", Dimension::kEnergyPerMac, 1e-14, 1e-10, "MXFP4 multiply-accumulate", Applies::kAlways, TRNSIM_MAC(kMxfp4)},
    {"power.chip.mac_mxfp8", Dimension::kEnergyPerMac, 1e-14, 1e-10, "MXFP8 multiply-accumulate", Applies::kAlways, TRNSIM_MAC(kMxfp8)},
    {"power.chip.psum", Dimension::kEnergyPerByte, 0, 1e-9, "PSUM, per byte read or written", Applies::kAlways, TRNSIM_FIELD(power.chip.psum_byte)},
    {"power.chip.sbuf", Dimension::kEnergyPerByte, 0, 1e-9, "SBUF, per byte read or written", Applies::kAlways, TRNSIM_FIELD(power.chip.sbuf_byte)},
    {"power.chip.static", Dimension::kPower, 0, 1e6, "static power of a chip", Applies::kAlways, TRNSIM_FIELD(power.chip.static_power)},
    {"power.chip.switch", Dimension::kEnergyPerByte, 0, 1e-9, "switch, per byte crossing it", Applies::kAlways, TRNSIM_FIELD(power.chip.switch_byte)},
    {"power.chip.tdp", Dimension::kPower, 0, 1e6, "power of a chip that the machine is provisioned for", Applies::kAlways, TRNSIM_FIELD(power.chip.tdp)},
    {"power.chip.vector", Dimension::kEnergyPerOperation, 0, 1e-9, "element operation of vector, scalar or GpSimd", Applies::kAlways, TRNSIM_FIELD(power.chip.vector_element)},
    {"power.system.auxiliary", Dimension::kCount, 0, 100000, "number of auxiliary cards", Applies::kAlways, TRNSIM_FIELD(power.system.auxiliary)},
    {"power.system.auxiliary_each", Dimension::kPower, 0, 1e6, "power of one auxiliary card", Applies::kAlways, TRNSIM_FIELD(power.system.auxiliary_each)},
    {"power.system.cable", Dimension::kPower, 0, 1e6, "power of one active cable end", Applies::kAlways, TRNSIM_FIELD(power.system.cable)},
    {"power.system.cables", Dimension::kCount, 0, 100000, "number of active cable ends", Applies::kAlways, TRNSIM_FIELD(power.system.cables)},
    {"power.system.fan_fraction", Dimension::kFraction, 0, 1, "fans and pumps, of all the rest", Applies::kAlways, TRNSIM_FIELD(power.system.fan_fraction)},
    {"power.system.host", Dimension::kPower, 0, 1e6, "power of one host", Applies::kAlways, TRNSIM_FIELD(power.system.host)},
    {"power.system.hosts", Dimension::kCount, 0, 100000, "number of hosts", Applies::kAlways, TRNSIM_FIELD(power.system.hosts)},
    {"power.system.network_share", Dimension::kFraction, 0, 1, "data-centre network, of IT power", Applies::kAlways, TRNSIM_FIELD(power.system.network_share)},
    {"power.system.nic", Dimension::kPower, 0, 1e6, "power of one network adapter", Applies::kAlways, TRNSIM_FIELD(power.system.nic)},
    {"power.system.nics", Dimension::kCount, 0, 100000, "number of network adapters", Applies::kAlways, TRNSIM_FIELD(power.system.nics)},
    {"power.system.price", Dimension::kPrice, 0, 1000000.0, "price of the whole machine; 0 = not public", Applies::kAlways, TRNSIM_FIELD(power.system.price)},
    {"power.system.psu_efficiency", Dimension::kFraction, 0.5, 1, "efficiency of the power supplies", Applies::kAlways, TRNSIM_FIELD(power.system.psu_efficiency)},
    {"power.system.pue", Dimension::kFraction, 1, 3, "power usage effectiveness of the facility", Applies::kAlways, TRNSIM_FIELD(power.system.pue)},
    {"power.system.rack_switch", Dimension::kPower, 0, 1e6, "power of one rack switch", Applies::kAlways, TRNSIM_FIELD(power.system.rack_switch)},
    {"power.system.rack_switches", Dimension::kCount, 0, 100000, "number of rack switches", Applies::kAlways, TRNSIM_FIELD(power.system.rack_switches)},
    {"power.system.retimer", Dimension::kPower, 0, 1e6, "power of one retimer", Applies::kAlways, TRNSIM_FIELD(power.system.retimer)},
    {"power.system.retimers", Dimension::kCount, 0, 100000, "number of retimers", Applies::kAlways, TRNSIM_FIELD(power.system.retimers)},
    {"power.system.sled_switch", Dimension::kPower, 0, 1e6, "power of one sled switch", Applies::kAlways, TRNSIM_FIELD(power.system.sled_switch)},
    {"power.system.sled_switches", Dimension::kCount, 0, 100000, "number of sled switches", Applies::kAlways, TRNSIM_FIELD(power.system.sled_switches)},
    {"power.system.top_of_rack", Dimension::kPower, 0, 1e6, "all top-of-rack switches together", Applies::kAlways, TRNSIM_FIELD(power.system.top_of_rack)},
    {"power.system.vrm_loss", Dimension::kFraction, 0, 1, "loss of voltage regulators, of chip power", Applies::kAlways, TRNSIM_FIELD(power.system.vrm_loss)},
});
#undef TRNSIM_MAC
#undef TRNSIM_FIELD
// clang-format on

constexpr std::array<std::string_view, 2> kStates = {"up", "down"};
void set_link_state(MachineSpec& machine, std::uint32_t link, const Value& value) {
  if (value.word == "down") machine.link_bandwidth_scale[link] = 0;
}

/// Bounds of the multiples that make one part slower or faster on purpose.
constexpr double kSmallestScale = 0.001;
constexpr double kLargestScale = 1000;
constexpr std::uint32_t kAnyNumber = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kMostLines = 16;

/// Line `index`, new if need be.
LineSpec& line(std::vector<LineSpec>& lines, std::uint32_t index) {
  if (lines.size() <= index) lines.resize(index + 1);
  return lines[index];
}

// clang-format off
#define TRNSIM_LINE(lines, field) [](MachineSpec& machine, std::uint32_t index, const Value& value) { assign(line(machine.fabric.lines, index).field, value); }
constexpr std::array kIndexed = std::to_array<IndexedParameter>({
    {"chip", "dma_scale", Dimension::kFraction, kSmallestScale, kLargestScale, "rates of the DMA engines of one chip, as a multiple", Applies::kAlways, false, kAnyNumber,
     [](MachineSpec& machine, std::uint32_t index, const Value& value) { machine.chip_dma_scale[index] = value.real; }},
    {"chip", "hbm_scale", Dimension::kFraction, kSmallestScale, kLargestScale, "bandwidth of the HBM stacks of one chip, as a multiple", Applies::kAlways, false, kAnyNumber,
     [](MachineSpec& machine, std::uint32_t index, const Value& value) { machine.chip_hbm_scale[index] = value.real; }},
    {"core", "clock_scale", Dimension::kFraction, kSmallestScale, kLargestScale, "clock of one core, as a multiple", Applies::kAlways, false, kAnyNumber,
     [](MachineSpec& machine, std::uint32_t index, const Value& value) { machine.core_clock_scale[index] = value.real; }},
    {"fabric.dimension", "bandwidth", Dimension::kBandwidth, 1e3, 1e15, "a link along a dimension: raw, one direction", Applies::kTorus, true, kMostLines, TRNSIM_LINE(dimensions, bandwidth)},
    {"fabric.dimension", "latency", Dimension::kTime, 0, 1e12, "a link along a dimension: one traversal", Applies::kTorus, true, kMostLines, TRNSIM_LINE(dimensions, latency)},
    {"fabric.dimension", "size", Dimension::kCount, 1, 65536, "chips along a dimension of the torus", Applies::kTorus, true, kMostLines, TRNSIM_LINE(dimensions, size)},
    {"fabric.dimension", "wrap", Dimension::kWord, 0, 0, "whether the last chip is a neighbour of the first; yes where absent", Applies::kTorus, false, kMostLines, TRNSIM_LINE(dimensions, wrap), kYesNo},
    {"fabric.level", "bandwidth", Dimension::kBandwidth, 1e3, 1e15, "a link up to a switch of a level: raw, one direction", Applies::kTree, true, kMostLines, TRNSIM_LINE(levels, bandwidth)},
    {"fabric.level", "latency", Dimension::kTime, 0, 1e12, "a link up to a switch of a level: one traversal", Applies::kTree, true, kMostLines, TRNSIM_LINE(levels, latency)},
    {"fabric.level", "size", Dimension::kCount, 1, 65536, "chips, or switches of the level below, that a switch joins", Applies::kTree, true, kMostLines, TRNSIM_LINE(levels, size)},
    {"link", "bandwidth_scale", Dimension::kFraction, kSmallestScale, kLargestScale, "bandwidth of one direction of a link, as a multiple", Applies::kAlways, false, kAnyNumber,
     [](MachineSpec& machine, std::uint32_t index, const Value& value) { machine.link_bandwidth_scale[index] = value.real; }},
    {"link", "state", Dimension::kWord, 0, 0, "whether one direction of a link works; messages go round one that is down", Applies::kAlways, false, kAnyNumber, set_link_state, kStates},
});
#undef TRNSIM_LINE
// clang-format on

}  // namespace

std::span<const Parameter> parameter_table() {
  return kParameters;
}
std::span<const IndexedParameter> indexed_parameters() {
  return kIndexed;
}

const Parameter* find_parameter(std::string_view name) {
  const auto found = std::lower_bound(kParameters.begin(), kParameters.end(), name,
                                      [](const Parameter& p, std::string_view n) { return p.name < n; });
  return found != kParameters.end() && found->name == name ? &*found : nullptr;
}

const IndexedParameter* find_indexed(std::string_view name, std::uint32_t& index) {
  const std::size_t open = name.find('[');
  const std::size_t close = name.find("].");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return nullptr;
  const std::string_view digits = name.substr(open + 1, close - open - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool alias = digits.size() > 1 && digits.front() == '0';  // core[03] would be a second name of core[3]
  if (digits.empty() || alias || error != std::errc() || end != digits.data() + digits.size()) return nullptr;
  for (const IndexedParameter& indexed : kIndexed) {
    if (indexed.prefix == name.substr(0, open) && indexed.suffix == name.substr(close + 2)) return &indexed;
  }
  return nullptr;
}

std::string indexed_form(std::string_view name) {
  for (const IndexedParameter& indexed : kIndexed) {
    const std::string suffix = "." + std::string(indexed.suffix);
    if (!name.starts_with(indexed.prefix) || !name.ends_with(suffix)) continue;
    const std::string_view between =
        name.substr(indexed.prefix.size(), name.size() - indexed.prefix.size() - suffix.size());
    if (between.empty() || (between.front() == '[' && between.back() == ']'))
      return std::string(indexed.prefix) + "[0]" + suffix;
  }
  return "";
}

bool applies_to(Applies applies, const MachineSpec& machine) {
  const FabricKind kind = machine.fabric.kind;
  const bool torus = kind == FabricKind::kTorus;
  const bool switched = kind == FabricKind::kSwitched;
  const bool tree = kind == FabricKind::kTree;
  const bool edges = kind == FabricKind::kEdges;
  switch (applies) {
    case Applies::kInstances:
      return machine.instances > 1;
    case Applies::kAlways:
      return true;
    case Applies::kTorus:
      return torus;
    case Applies::kSwitched:
      return switched;
    case Applies::kTree:
      return tree;
    case Applies::kEdges:
      return edges;
    case Applies::kAnyFabric:
      return kind != FabricKind::kNone;
    case Applies::kSwitches:
      return switched || tree || edges;
    case Applies::kForwards:
      return torus || switched || edges;
  }
  return true;
}

}  // namespace trnsim
