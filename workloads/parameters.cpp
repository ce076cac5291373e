#include "workloads/parameters.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "workloads/workload.h"

namespace trnsim {
namespace {

using enum Dimension;
constexpr double kMany = 1e9;

constexpr std::array kTable = {
    // What runs.
    WorkloadParameterRow{"phase", kWord, 0, 0, "decode|prefill|matmul|attention|dma_copy|instruction", false,
                         "what one run does: one decode step, one prefill, or one kernel"},
    WorkloadParameterRow{"model", kWord, 0, 0, "", false, "file in workloads/models that holds the model's dimensions"},
    WorkloadParameterRow{"batch", kCount, 0, kMany, "", false, "sequences in flight on the whole machine"},
    WorkloadParameterRow{"batch_per_replica", kCount, 0, kMany, "", false, "sequences in flight in each replica"},
    WorkloadParameterRow{"context", kCount, 0, kMany, "", false,
                         "tokens that a query sees, the one being decoded included"},
    WorkloadParameterRow{"prompt_tokens", kCount, 0, kMany, "", false, "prefill: tokens of each prompt"},
    WorkloadParameterRow{"query_tokens", kCount, 0, kMany, "", false, "attention: query tokens per sequence"},
    // Mapping.
    WorkloadParameterRow{"tp", kCount, 1, 65536, "", false, "ranks that share attention and dense weights"},
    WorkloadParameterRow{"ep", kCount, 1, 65536, "", false, "groups of ranks that experts are spread over"},
    WorkloadParameterRow{"dp", kCount, 1, 65536, "", true, "replicas; auto fills the machine"},
    WorkloadParameterRow{"lnc", kCount, 1, 2, "", true, "physical cores per logical core; auto: the machine's default"},
    WorkloadParameterRow{"precision", kWord, 0, 0, "bf16|fp8_experts|mxfp4_experts", true,
                         "format of expert weights; auto: mxfp4_experts where the array multiplies MX, else bf16"},
    // Software choices.
    WorkloadParameterRow{"moe_kernel", kWord, 0, 0, "selected|all_expert", false,
                         "decode: stream drawn experts only, or every local expert"},
    WorkloadParameterRow{"moe_exchange", kWord, 0, 0, "all_to_all|all_gather", false,
                         "how tokens reach experts of other replicas when ep > tp"},
    WorkloadParameterRow{"moe_block", kCount, 1, 4096, "", false,
                         "prefill: most tokens that one expert takes at a time"},
    WorkloadParameterRow{"all_reduce_algorithm", kWord, 0, 0, "mesh|ring", true,
                         "auto: mesh up to the collective cores' limit, then ring"},
    WorkloadParameterRow{"collective_memory", kWord, 0, 0, "hbm|sbuf", false,
                         "where collectives read and write: through HBM, or straight from SBUF"},
    // Routing.
    WorkloadParameterRow{"routing", kWord, 0, 0, "uniform|balanced|lognormal", false, "how tokens choose experts"},
    WorkloadParameterRow{"routing_sigma", kFraction, 0, 10, "", false,
                         "lognormal: standard deviation of the logarithm of expert popularity"},
    // Model dimensions.
    WorkloadParameterRow{"layers", kCount, 1, 1000, "", false, "transformer layers"},
    WorkloadParameterRow{"hidden", kCount, 1, 1e6, "", false, "width of the residual stream"},
    WorkloadParameterRow{"q_heads", kCount, 1, 4096, "", false, "query heads"},
    WorkloadParameterRow{"kv_heads", kCount, 1, 4096, "", false, "key and value heads"},
    WorkloadParameterRow{"head_dim", kCount, 1, 128, "", false, "elements per head"},
    WorkloadParameterRow{"experts", kCount, 1, 4096, "", false, "experts per layer"},
    WorkloadParameterRow{"experts_per_token", kCount, 1, 64, "", false, "experts that a token is sent to"},
    WorkloadParameterRow{"expert_ffn", kCount, 1, 1e6, "", false, "inner width of one expert"},
    WorkloadParameterRow{"vocabulary", kCount, 1, 1e7, "", false, "rows of the embedding and of the output matrix"},
    WorkloadParameterRow{"sliding_window", kCount, 1, kMany, "", false, "keys seen by the layers with a window"},
    WorkloadParameterRow{"window_period", kCount, 1, 1000, "", false,
                         "one layer of this many is fully causal, the others have the window"},
    // Single kernels.
    WorkloadParameterRow{"m", kCount, 0, kMany, "", false, "matmul: rows of the result"},
    WorkloadParameterRow{"n", kCount, 0, kMany, "", false, "matmul: columns of the result"},
    WorkloadParameterRow{"k", kCount, 0, kMany, "", false, "matmul: contraction length"},
    WorkloadParameterRow{"dtype", kWord, 0, 0, "fp32|bf16|fp8|mxfp8|mxfp4", false,
                         "matmul, instruction: number format of operands"},
    WorkloadParameterRow{"causal", kWord, 0, 0, "yes|no", false, "attention: whether a query sees later keys"},
    WorkloadParameterRow{"window", kCount, 0, kMany, "", false, "attention: keys seen by a query; 0 = all"},
    WorkloadParameterRow{"bytes", kCapacity, 0, 1e12, "", false, "dma_copy: bytes moved by a logical core"},
    WorkloadParameterRow{"transfers", kCount, 1, 65536, "", false, "dma_copy: transfers that the bytes are cut into"},
    WorkloadParameterRow{"descriptor_bytes", kCapacity, 1, 1e9, "", false, "dma_copy: payload of one descriptor"},
    WorkloadParameterRow{"queues", kCount, 1, 4, "", false, "dma_copy: queues that the transfers are dealt over"},
    WorkloadParameterRow{"generation", kWord, 0, 0, "prebuilt|hardware|software", false,
                         "dma_copy: who makes the descriptors"},
    WorkloadParameterRow{"source_space", kWord, 0, 0, "hbm|sbuf|psum", false,
                         "memory that is read: hbm or sbuf by dma_copy, sbuf or psum by instruction"},
    WorkloadParameterRow{"destination_space", kWord, 0, 0, "hbm|sbuf|psum", false,
                         "memory that is written: hbm or sbuf by dma_copy, sbuf or psum by instruction"},
    WorkloadParameterRow{"op", kWord, 0, 0,
                         "matmul|transpose|copy|tensor_scalar|tensor_tensor|reduce|activation|exponential|reciprocal|"
                         "max8|quantize_mx|gather",
                         false, "instruction: what it does"},
    WorkloadParameterRow{"engine", kWord, 0, 0, "tensor|vector|scalar|gpsimd", true,
                         "instruction: where it runs; auto: the engine made for it"},
    WorkloadParameterRow{"partitions", kCount, 1, 4096, "", false,
                         "instruction: partitions of the moving operand; matmul: contraction depth"},
    WorkloadParameterRow{"free", kCount, 0, 1e6, "", false,
                         "instruction: elements per partition; matmul: moving columns"},
    WorkloadParameterRow{"columns", kCount, 1, 4096, "", false, "instruction: stationary columns of a matmul"},
    WorkloadParameterRow{"count", kCount, 0, kMany, "", false, "instruction: how many run back to back"},
    WorkloadParameterRow{"warmup", kCount, 0, 1e6, "", false,
                         "instruction: full BF16 matmuls before one of the tensor engine, to open its clock limiter"},
};

std::string range_of(const WorkloadParameterRow& row) {
  std::string text;
  if (row.dimension == kWord) {
    text = row.words.empty() ? "a name" : std::string(row.words);
  } else {
    text = std::to_string(static_cast<long long>(row.low)) + ".." + std::to_string(static_cast<long long>(row.high));
  }
  return row.accepts_auto ? text + "|auto" : text;
}

}  // namespace

std::span<const WorkloadParameterRow> workload_parameter_table() {
  return kTable;
}

const WorkloadParameterRow* find_workload_parameter(std::string_view name) {
  const auto found = std::find_if(kTable.begin(), kTable.end(), [&](const auto& row) { return row.name == name; });
  return found == kTable.end() ? nullptr : &*found;
}

bool is_workload_parameter(std::string_view name) {
  return find_workload_parameter(name) != nullptr;
}

std::vector<WorkloadParameterInfo> workload_parameters() {
  std::vector<WorkloadParameterInfo> rows;
  for (const WorkloadParameterRow& row : kTable) {
    rows.push_back({std::string(row.name), row.dimension, range_of(row), std::string(row.meaning)});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return rows;
}

}  // namespace trnsim
