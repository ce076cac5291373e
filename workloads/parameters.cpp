#include "workloads/parameters.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "workloads/models/dimensions.h"
#include "workloads/workload.h"

namespace trnsim {
namespace {

using enum Dimension;
constexpr double kMany = 1e9;
constexpr std::string_view kModel = "decode|prefill";
constexpr std::string_view kKernels =
    "matmul|attention|fused_attention|latent_attention|sparse_attention|dma_copy|instruction|conv1d|elementwise|mlp|"
    "moe|"
    "projection|rms_norm|rope|router|scan|softmax|transformer_block";
constexpr std::string_view kCollectives =
    "all_reduce|all_gather|reduce_scatter|all_to_all|permute|broadcast|send_receive";
constexpr std::string_view kSized = "all_gather|reduce_scatter|all_to_all";
constexpr std::string_view kBatched =
    "decode|prefill|attention|latent_attention|sparse_attention|matmul|conv1d|rope|scan|transformer_block";

constexpr std::string_view kSchedules =
    "tiled|hoisted_loads|kept_loads|resident_rhs|blocked|strip|lora|three_phases|fused|hbm_passes|hbm_passes_fused_sum|"
    "recompute|recompute_fused_sum|single_max|rowwise|rowwise_fused_sum|rowwise_delayed_division|spilled_scores|flash|"
    "fused_block|chain|state_outer|channel_outer|channel_outer_chunked|chunk_outer|chunk_outer_buffered|whole_resident|"
    "tile_resident|resident|three_passes|fused_selective";

constexpr std::array kRows = {
    // What runs.
    WorkloadParameterRow{
        "phase", kWord, 0, 0,
        "decode|prefill|matmul|attention|fused_attention|latent_attention|sparse_attention|dma_copy|instruction|conv1d|"
        "elementwise|mlp|moe|projection|rms_norm|rope|router|scan|softmax|transformer_block|all_reduce|all_gather|"
        "reduce_scatter|all_to_all|permute|"
        "broadcast|send_receive",
        false, "what one run does: one decode step, one prefill, one kernel or one collective"},
    WorkloadParameterRow{"model", kWord, 0, 0, "", false, "file in workloads/models that holds the model's dimensions",
                         kModel},
    WorkloadParameterRow{"batch", kCount, 0, kMany, "", false,
                         "sequences in flight on the whole machine; of a kernel: repeats of its operands", kBatched},
    WorkloadParameterRow{"batch_per_replica", kCount, 0, kMany, "", false, "sequences in flight in each replica",
                         kModel},
    WorkloadParameterRow{"context", kCount, 0, kMany, "", false,
                         "tokens that a query sees, the one being decoded included",
                         "decode|attention|latent_attention|sparse_attention"},
    WorkloadParameterRow{"prompt_tokens", kCount, 0, kMany, "", false, "tokens of each prompt", "prefill"},
    WorkloadParameterRow{"query_tokens", kCount, 0, kMany, "", false, "query tokens per sequence",
                         "attention|fused_attention|latent_attention"},
    // Mapping.
    WorkloadParameterRow{"tp", kCount, 1, 65536, "", false, "ranks that share attention and dense weights", kModel},
    WorkloadParameterRow{
        "head_padding", kWord, 0, 0, "yes|no", false,
        "where tp does not divide the heads: every rank computes as many as the fullest needs, some of "
        "them empty; else that is refused",
        kModel},
    WorkloadParameterRow{"ep", kCount, 1, 65536, "", false, "groups of ranks that experts are spread over", kModel},
    WorkloadParameterRow{"dp", kCount, 1, 65536, "", true, "replicas; auto fills the machine", kModel},
    WorkloadParameterRow{"lnc", kCount, 1, 2, "", true, "physical cores per logical core; auto: the machine's default"},
    WorkloadParameterRow{"precision", kWord, 0, 0, "bf16|fp8_experts|mxfp4_experts", true,
                         "format of expert weights; auto: mxfp4_experts where the core computes in MX, else bf16",
                         kModel},
    WorkloadParameterRow{"allow_oversubscription", kWord, 0, 0, "yes|no", false,
                         "run what needs more HBM than there is, as if there were enough; else it is refused", kModel},
    // Software choices.
    WorkloadParameterRow{"moe_kernel", kWord, 0, 0, "selected|all_expert", false,
                         "stream drawn experts only, or every local expert", "decode"},
    WorkloadParameterRow{"moe_exchange", kWord, 0, 0, "all_to_all|all_gather", false,
                         "how tokens reach experts of other replicas when ep > tp", "decode"},
    WorkloadParameterRow{"moe_block", kCount, 1, 4096, "", false, "most tokens that one expert takes at a time",
                         "prefill"},
    WorkloadParameterRow{"all_reduce_algorithm", kWord, 0, 0, "", true,
                         "one of trnsim list collectives, for the collectives of a layer that it carries out; auto: by "
                         "the documented size ranges",
                         kModel},
    WorkloadParameterRow{"collective_memory", kWord, 0, 0, "hbm|sbuf", false,
                         "where collectives read and write: through HBM, or straight from SBUF",
                         "decode|all_reduce|all_gather|reduce_scatter|all_to_all|permute|broadcast|send_receive"},
    WorkloadParameterRow{"ranks", kCount, 1, 1e6, "", true,
                         "logical cores that take part, the first ones of the machine; auto: all", kCollectives},
    WorkloadParameterRow{
        "groups", kWord, 0, 0, "", true,
        "groups of logical cores that run it side by side, as 0-3,8;4-7; auto: one, of the first ranks", kCollectives},
    WorkloadParameterRow{"algorithm", kWord, 0, 0, "", true,
                         "one of trnsim list collectives; auto: by the documented size ranges", kCollectives},
    WorkloadParameterRow{"slices", kCount, 1, 16, "", true,
                         "parts of a chunk that go round a ring one behind the other; auto: as the runtime does",
                         kCollectives},
    WorkloadParameterRow{"slots", kCount, 2, 64, "", true,
                         "messages of a channel and slice of a ring that the next rank has room for; auto: two",
                         "all_gather|all_reduce|reduce_scatter"},
    WorkloadParameterRow{
        "counts", kWord, 0, 0, "", false,
        "sizes by rank: uniform; by popularity of the ranks lognormal, zipf or one_rank (bytes is then "
        "the mean of an all-to-all's vectors); or a file: its path, or a name in workloads/counts",
        kSized},
    WorkloadParameterRow{"counts_column", kWord, 0, 0, "count|copies|tokens", true,
                         "column of the counts file; auto: tokens, else copies, else count", kSized},
    WorkloadParameterRow{"counts_layer", kCount, 0, 1e6, "", true,
                         "layer of a counts file that has several; auto: the only one", kSized},
    WorkloadParameterRow{"row_bytes", kCapacity, 1, 1e9, "", true,
                         "bytes of what a counts file counts, such as a token's row; auto: one element", kSized},
    WorkloadParameterRow{"skew", kFraction, 0, 10, "", false,
                         "lognormal: standard deviation of the logarithm of popularity; zipf: its exponent", kSized},
    WorkloadParameterRow{"metadata", kWord, 0, 0, "known|counts|counts_and_offsets", true,
                         "what ranks tell each other before sizes that differ: nothing, how much comes, or also where "
                         "it is to go; auto: counts, and offsets for an all-to-all on a fabric with switches",
                         kSized},
    WorkloadParameterRow{"shift", kCount, 1, 1e6, "", false, "rank i gives to rank i + shift, round and round",
                         "permute"},
    WorkloadParameterRow{"root", kCount, 0, 1e6, "", false, "rank that gives", "broadcast"},
    WorkloadParameterRow{
        "level", kWord, 0, 0, "device|kernel|framework", false,
        "what runs and is timed. device: the collective alone; kernel: one that the host launches, with copies "
        "in and out; framework: a graph with such copies, launched in its own way instead",
        kCollectives},
    // Routing.
    WorkloadParameterRow{"routing", kWord, 0, 0, "uniform|balanced|lognormal", false, "how tokens choose experts",
                         kModel},
    WorkloadParameterRow{"routing_sigma", kFraction, 0, 10, "", false,
                         "lognormal: standard deviation of the logarithm of expert popularity", kModel},
    // Single kernels.
    WorkloadParameterRow{"interval", kWord, 0, 0,
                         "run|call|steady|dma_active|clock_ramp|packet|engine_busy|issue|trigger_to_packet|occupancy",
                         false,
                         "what part of the run the time metrics cover; instruction: up to steady, other kernels up to "
                         "clock_ramp, dma_copy all",
                         kKernels},
    WorkloadParameterRow{"cores", kCount, 1, 65536, "", false,
                         "logical cores that run the kernel at the same time, each all of it", kKernels},
    WorkloadParameterRow{"m", kCount, 0, kMany, "", false, "rows of the result", "matmul|elementwise|softmax"},
    WorkloadParameterRow{"n", kCount, 0, kMany, "", false, "columns of the result", "matmul|elementwise|softmax"},
    WorkloadParameterRow{"k", kCount, 0, kMany, "", false, "contraction length", "matmul"},
    WorkloadParameterRow{
        "dtype", kWord, 0, 0, "fp32|bf16|fp16|fp8|mxfp8|mxfp4", false,
        "number format of operands; fp16 costs what bf16 does",
        "matmul|instruction|dma_copy|attention|conv1d|elementwise|mlp|moe|rope|scan|transformer_block|"
        "rms_norm|softmax|all_reduce|all_gather|reduce_scatter|all_to_all|permute|broadcast|send_receive"},
    WorkloadParameterRow{
        "result_dtype", kWord, 0, 0, "fp32|bf16|fp8", true,
        "number format of what is written; auto: that of a copy, matmul: fp32 if the operands are, else bf16",
        "matmul|dma_copy|rms_norm"},
    WorkloadParameterRow{"accumulator_dtype", kWord, 0, 0, "fp32|bf16", true,
                         "number format of partial sums in SBUF; auto: result_dtype", "matmul|mlp"},
    WorkloadParameterRow{"schedule", kWord, 0, 0, kSchedules, true,
                         "loops, residency and order of a published kernel; auto: the kernel's own. matmul: tiled, "
                         "hoisted_loads, kept_loads, resident_rhs, blocked, strip, lora; attention: three_phases to "
                         "fused_block; mlp: chain, three_phases, blocked; scan: state_outer to chunk_outer_buffered; "
                         "conv1d: whole_resident, tile_resident; softmax: resident, three_passes; moe: "
                         "fused_selective; elementwise, rope: tiled. What a schedule does not read is refused",
                         "matmul|attention|conv1d|elementwise|mlp|moe|rope|scan|softmax"},
    WorkloadParameterRow{"loop_order", kWord, 0, 0, "nkm|nmk|mnk|mkn|knm|kmn", true,
                         "block loops, outermost first; auto: nkm", "matmul|mlp"},
    WorkloadParameterRow{"loop", kWord, 0, 0, "unrolled|rolled", true,
                         "instructions written out, or hardware loops; auto: unrolled", "matmul"},
    WorkloadParameterRow{"block_m", kCount, 1, kMany, "", true, "rows of a block of A; auto: the schedule's choice",
                         "matmul|mlp"},
    WorkloadParameterRow{"block_n", kCount, 1, kMany, "", true, "columns of a block of B; auto: the schedule's choice",
                         "matmul|mlp"},
    WorkloadParameterRow{"block_k", kCount, 1, kMany, "", true,
                         "contraction length of a block; auto: the schedule's choice", "matmul|mlp"},
    WorkloadParameterRow{"load_m", kCount, 1, kMany, "", true, "rows of A in one load; auto: those of the block",
                         "matmul|mlp"},
    WorkloadParameterRow{"load_n", kCount, 1, kMany, "", true, "columns of B in one load; auto: those of the block",
                         "matmul|mlp"},
    WorkloadParameterRow{"load_k", kCount, 1, kMany, "", true,
                         "contraction length of one load of A that is to be transposed; auto: one tile", "matmul"},
    WorkloadParameterRow{"store_n", kCount, 1, kMany, "", true, "columns of one store; auto: one PSUM bank",
                         "matmul|mlp"},
    WorkloadParameterRow{"buffers", kCount, 1, 2, "", true,
                         "copies of each operand block in SBUF: 1 = load, then compute; auto: 2", "matmul"},
    WorkloadParameterRow{"transpose_lhs", kWord, 0, 0, "yes|no", true,
                         "A lies in HBM as [m x k] and is turned on the tensor engine; auto: no", "matmul"},
    WorkloadParameterRow{"epilogue", kWord, 0, 0, "none|bias_gelu|bias_gelu_kernel|softmax|log_softmax", true,
                         "what is done to the result; matmul: bias_gelu, bias_gelu_kernel (by a second kernel; both of "
                         "schedules without blocks of k) or softmax (strip); mlp: log_softmax (blocked); auto: nothing",
                         "matmul|mlp"},
    WorkloadParameterRow{"prologue", kWord, 0, 0, "none|add_rms_norm", true,
                         "what A is made of, schedule strip: add_rms_norm, the norm of a sum; auto: nothing", "matmul"},
    WorkloadParameterRow{"lora_rank", kCount, 0, 1e6, "", true,
                         "rank of a correction A L1 L2 of the product; auto: 0, none", "matmul"},
    WorkloadParameterRow{"evacuation", kWord, 0, 0, "vector|scalar", true,
                         "engine that empties PSUM; auto: they take turns", "matmul"},
    WorkloadParameterRow{"softmax_dtype", kWord, 0, 0, "fp32|bf16", true,
                         "of the weights and of both operands of their product with V; auto: bf16", "attention"},
    WorkloadParameterRow{"projection_dtype", kWord, 0, 0, "bf16|fp8|mxfp8", false,
                         "number format of both operands of the projections", "fused_attention"},
    WorkloadParameterRow{"exponential_engine", kWord, 0, 0, "vector|scalar", true,
                         "of schedule flash; auto: vector where it has the fused exponential",
                         "attention|fused_attention"},
    WorkloadParameterRow{"scalar_maxima", kCount, 0, 4, "", true,
                         "schedule flash: of every four blocks of scores, those whose row maximum the scalar engine "
                         "finds, as NeuronCore-v4 can; auto: 3 if exponentials are on vector, else 0",
                         "attention|fused_attention"},
    WorkloadParameterRow{"transpose_engine", kWord, 0, 0, "dma|tensor", false,
                         "schedule flash: who transposes the weights; tensor: through PSUM",
                         "attention|fused_attention"},
    WorkloadParameterRow{"copy_columns", kCount, 128, 512, "", false,
                         "schedule flash: PSUM columns that one copy of transposed weights takes",
                         "attention|fused_attention"},
    WorkloadParameterRow{"causal", kWord, 0, 0, "yes|no", false, "whether a query sees later keys",
                         "attention|fused_attention|transformer_block"},
    WorkloadParameterRow{"window", kCount, 0, kMany, "", false, "keys seen by a query; 0 = all", "attention"},
    WorkloadParameterRow{"form", kWord, 0, 0, "absorbed|expanded", true,
                         "absorbed: queries go into the latent space, one token; expanded: cached rows become keys and "
                         "values of every head; auto: absorbed for one query token",
                         "latent_attention"},
    // Vector kernels, layers.
    WorkloadParameterRow{"channels", kCount, 0, kMany, "", false, "channels, one per partition", "conv1d|scan"},
    WorkloadParameterRow{"sequence", kCount, 0, 1e6, "", false, "columns of each channel", "conv1d|scan"},
    WorkloadParameterRow{"states", kCount, 0, 65536, "", false, "states of each channel", "scan"},
    WorkloadParameterRow{"chunk", kCount, 1, 1e6, "", false, "columns per step along the sequence", "scan"},
    WorkloadParameterRow{"taps", kCount, 1, 1024, "", false, "positions that one result sums over", "conv1d"},
    WorkloadParameterRow{"tokens", kCount, 0, kMany, "", false, "tokens that pass through",
                         "mlp|moe|projection|rms_norm|rope|router|transformer_block"},
    WorkloadParameterRow{
        "role", kWord, 0, 0, "qkv|output", false,
        "of a projection: norm, Q K V and rotation before attention, or the output projection after it", "projection"},
    WorkloadParameterRow{"widths", kWord, 0, 0, "", false,
                         "output widths of consecutive linear layers, joined by x: 2048x1024", "mlp"},
    WorkloadParameterRow{"ffn", kCount, 1, 1e6, "", false, "inner width of an MLP; mlp: of activation swiglu",
                         "mlp|transformer_block"},
    WorkloadParameterRow{"activation", kWord, 0, 0, "none|relu|gelu|silu|swiglu", false,
                         "between linear layers; swiglu: silu(gate) times up", "mlp|transformer_block"},
    WorkloadParameterRow{"stored_dtype", kWord, 0, 0, "fp32|bf16|fp8", true,
                         "number format in HBM, cast before it is multiplied; auto: dtype", "mlp"},
    WorkloadParameterRow{
        "bytes", kCapacity, 0, 1e15, "", false,
        "bytes moved by a logical core; collectives: of the whole vector (all-gather: what a rank has in "
        "the end; reduce-scatter, all-to-all: what it has before)",
        "dma_copy|all_reduce|all_gather|reduce_scatter|all_to_all|permute|broadcast|send_receive"},
    WorkloadParameterRow{"transfers", kCount, 1, 1e6, "", true,
                         "transfers that the bytes are cut into; auto: one descriptor per partition each", "dma_copy"},
    WorkloadParameterRow{"descriptor_bytes", kCapacity, 1, 1e9, "", true, "payload of one descriptor; auto: 4 KiB",
                         "dma_copy"},
    WorkloadParameterRow{"queues", kCount, 1, 256, "", false, "queues that the transfers are dealt over", "dma_copy"},
    WorkloadParameterRow{"relative_to", kCapacity, 1, 1e9, "", true,
                         "also copies with descriptors of this size, to compare with", "dma_copy"},
    WorkloadParameterRow{"beside", kWord, 0, 0, "none|vector|scalar|gpsimd|copy|collective", false,
                         "what runs at the same time. instruction: as many copies of the same operands by that engine; "
                         "dma_copy: the same copy on as many other queues, in packets of a copy or of a collective",
                         "instruction|dma_copy"},
    WorkloadParameterRow{"psum_banks", kWord, 0, 0, "apart|same", false,
                         "whether an instruction and what runs beside it meet in one PSUM bank", "instruction"},
    WorkloadParameterRow{"qos", kCount, 0, 255, "", false,
                         "class of service of a copy, 0 the highest; it counts where another runs beside it",
                         "dma_copy"},
    WorkloadParameterRow{"beside_bytes", kCapacity, 0, 1e15, "", true, "bytes of the copy beside it; auto: as many",
                         "dma_copy"},
    WorkloadParameterRow{"beside_qos", kCount, 0, 255, "", false, "class of service of the copy beside it", "dma_copy"},
    WorkloadParameterRow{"consumer", kWord, 0, 0, "none|reduce", false,
                         "reduce: the vector engine reduces every tile that arrives", "dma_copy"},
    WorkloadParameterRow{"generation", kWord, 0, 0, "prebuilt|hardware|software", false, "who makes the descriptors",
                         "dma_copy"},
    WorkloadParameterRow{"source_space", kWord, 0, 0, "hbm|sbuf|psum", false,
                         "memory that is read: hbm or sbuf by a copy, sbuf or psum by an instruction",
                         "dma_copy|instruction"},
    WorkloadParameterRow{"destination_space", kWord, 0, 0, "hbm|sbuf|psum", false,
                         "memory that is written: hbm or sbuf by a copy, sbuf or psum by an instruction",
                         "dma_copy|instruction"},
    WorkloadParameterRow{"op", kWord, 0, 0,
                         "matmul|transpose|load_weights|copy|tensor_scalar|tensor_tensor|scalar_tensor_tensor|scan|"
                         "select|memset|reduce|activation|exponential|reciprocal|max8|quantize_mx|load_table|gather|"
                         "top_k",
                         false, "what the instruction does", "instruction"},
    WorkloadParameterRow{"engine", kWord, 0, 0, "tensor|vector|scalar|gpsimd|sync", true,
                         "where the instruction runs, auto: the engine made for it; or who starts the copy, auto: sync",
                         "instruction|dma_copy"},
    WorkloadParameterRow{"partitions", kCount, 1, 4096, "", true,
                         "partitions of the operand (matmul: contraction depth), or that a copy touches, auto: all",
                         "instruction|dma_copy"},
    WorkloadParameterRow{"free", kCount, 0, 1e6, "", false, "elements per partition; matmul: moving columns",
                         "instruction"},
    WorkloadParameterRow{"columns", kCount, 1, 4096, "", false, "stationary columns of a matmul; top_k: values kept",
                         "instruction"},
    WorkloadParameterRow{"second_space", kWord, 0, 0, "sbuf|psum", true, "memory of the second tensor operand",
                         "instruction"},
    WorkloadParameterRow{"function", kWord, 0, 0,
                         "identity|exp|square|sigmoid|silu|gelu|tanh|sqrt|rsqrt|reciprocal|log|softplus|adamw", false,
                         "what an activation applies; elementwise: adamw", "instruction|elementwise"},
    WorkloadParameterRow{"bias", kWord, 0, 0, "yes|no", false,
                         "whether an activation reads a bias per partition; mlp: whether layers add one",
                         "instruction|mlp|projection"},
    WorkloadParameterRow{"table_load", kWord, 0, 0, "yes|no", false,
                         "whether the first activation also loads its function's table", "instruction"},
    WorkloadParameterRow{"load_weights", kWord, 0, 0, "each|once", false,
                         "a weight load before every matmul, or one before all", "instruction"},
    WorkloadParameterRow{
        "sparsity", kWord, 0, 0, "none|4of16|4of12|4of8|2of8|2of4|1of4|1of2", false,
        "stationary weights of a matmul that are stored, of how many consecutive ones; a pass contracts "
        "as many rows more",
        "instruction"},
    WorkloadParameterRow{"row_tiles", kCount, 1, 64, "", false,
                         "groups of array rows that the matmuls run in side by side", "instruction"},
    WorkloadParameterRow{"column_tiles", kCount, 1, 64, "", false,
                         "groups of array columns that the matmuls run in side by side", "instruction"},
    WorkloadParameterRow{"passes", kCount, 1, 64, "", true, "passes of a matmul; auto: as many as its format needs",
                         "instruction"},
    WorkloadParameterRow{"dependent", kWord, 0, 0, "yes|no", false,
                         "whether each instruction waits for the result of the one before", "instruction"},
    WorkloadParameterRow{"count", kCount, 0, kMany, "", false, "how many run back to back", "instruction"},
    WorkloadParameterRow{"warmup", kCount, 0, 1e6, "", false,
                         "full BF16 matmuls before one of the tensor engine, to open its clock limiter", "instruction"},
};

std::string range_of(const WorkloadParameterRow& row) {
  std::string text;
  if (row.dimension == kWord) {
    text = row.words.empty() ? "a name" : std::string(row.words);
  } else if (row.dimension == kCapacity) {
    text = with_unit(kCapacity, row.low) + ".." + with_unit(kCapacity, row.high) + ", with its unit";
  } else {
    text = std::to_string(static_cast<long long>(row.low)) + ".." + std::to_string(static_cast<long long>(row.high));
  }
  return row.accepts_auto ? text + "|auto" : text;
}

}  // namespace

bool WorkloadParameterRow::is_read_by(std::string_view phase) const {
  const std::vector<std::string_view> list = split_words(phases);
  return list.empty() || std::find(list.begin(), list.end(), phase) != list.end();
}

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> list;
  while (!words.empty()) {
    const std::size_t bar = words.find('|');
    list.push_back(words.substr(0, bar));
    words = bar == std::string_view::npos ? std::string_view() : words.substr(bar + 1);
  }
  return list;
}

std::span<const WorkloadParameterRow> workload_parameter_table() {
  static const std::vector<WorkloadParameterRow> table = [] {
    std::vector<WorkloadParameterRow> rows(kRows.begin(), kRows.end());
    const std::span<const WorkloadParameterRow> dimensions = model_dimensions();
    rows.insert(rows.end(), dimensions.begin(), dimensions.end());
    return rows;
  }();
  return table;
}

const WorkloadParameterRow* find_workload_parameter(std::string_view name) {
  const auto table = workload_parameter_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool is_workload_parameter(std::string_view name) {
  return find_workload_parameter(name) != nullptr;
}

std::vector<WorkloadParameterInfo> workload_parameters() {
  std::vector<WorkloadParameterInfo> rows;
  for (const WorkloadParameterRow& row : workload_parameter_table()) {
    rows.push_back({std::string(row.name), row.dimension, range_of(row), std::string(row.meaning),
                    row.phases.empty() ? "all" : std::string(row.phases)});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return rows;
}

}  // namespace trnsim
