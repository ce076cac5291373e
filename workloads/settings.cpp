#include "workloads/settings.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "models/mechanism/error.h"
#include "workloads/parameters.h"

namespace trnsim {
namespace {

class Reader {
 public:
  explicit Reader(const Workload& workload) : workload_(workload) {}

  [[nodiscard]] const WorkloadParameter* find(std::string_view name) const {
    for (const WorkloadParameter& parameter : workload_.parameters) {
      if (parameter.name == name) return &parameter;
    }
    return nullptr;
  }

  [[nodiscard]] const WorkloadParameter& need(std::string_view name) const {
    const WorkloadParameter* parameter = find(name);
    if (parameter == nullptr) {
      throw InputError(workload_.end + ": parameter '" + std::string(name) + "' is missing (" +
                       std::string(find_workload_parameter(name)->meaning) + "); add a row, or --set " +
                       std::string(name) + "=...");
    }
    return *parameter;
  }

  [[nodiscard]] const std::string& word(std::string_view name) const { return need(name).value; }
  [[nodiscard]] bool is_auto(std::string_view name) const {
    const WorkloadParameter* parameter = find(name);
    return parameter == nullptr || parameter->value == "auto";
  }
  [[nodiscard]] std::uint64_t count(std::string_view name) const {
    return static_cast<std::uint64_t>(parsed(need(name)).integer);
  }
  [[nodiscard]] std::uint32_t degree(std::string_view name) const { return static_cast<std::uint32_t>(count(name)); }
  [[nodiscard]] double real(std::string_view name) const { return parsed(need(name)).real; }

 private:
  // Files keep the unit in its own column, overrides in the value. Both were checked when they were read.
  static Value parsed(const WorkloadParameter& parameter) {
    const Dimension dimension = find_workload_parameter(parameter.name)->dimension;
    return parameter.unit.empty() ? parse_value_with_unit(dimension, parameter.value)
                                  : parse_value(dimension, parameter.value, parameter.unit);
  }

  const Workload& workload_;
};

template <class Enum, std::size_t kSize>
Enum choose(const std::string& word, const std::array<std::string_view, kSize>& words) {
  const auto found = std::find(words.begin(), words.end(), word);
  check(found != words.end(), "words were checked against the table when they were read");
  return static_cast<Enum>(found - words.begin());
}

void check_heads(const Reader& read, const ModelShape& model) {
  if (model.q_heads % model.kv_heads == 0) return;
  throw InputError(read.need("kv_heads").place + ": kv_heads must divide q_heads, which is " +
                   std::to_string(model.q_heads) + "; choose a divisor");
}

ModelShape model_of(const Reader& read) {
  ModelShape model;
  model.layers = read.count("layers");
  model.hidden = read.count("hidden");
  model.q_heads = read.count("q_heads");
  model.kv_heads = read.count("kv_heads");
  model.head_dim = read.count("head_dim");
  model.experts = read.count("experts");
  model.top_k = read.count("experts_per_token");
  model.ffn = read.count("expert_ffn");
  model.vocabulary = read.count("vocabulary");
  model.window = read.count("sliding_window");
  model.window_period = read.count("window_period");
  check_heads(read, model);
  if (model.layers % model.window_period != 0) {
    throw InputError(read.need("window_period").place + ": window_period must divide layers, which is " +
                     std::to_string(model.layers) + "; choose a divisor");
  }
  if (model.top_k > model.experts) {
    throw InputError(read.need("experts_per_token").place + ": a token takes at most all experts; use " +
                     std::to_string(model.experts) + " or less");
  }
  return model;
}

Dtype expert_dtype_of(const Reader& read, const MachineSpec& machine) {
  const bool microscaling = machine.core.tensor.mx_rows > 0 && machine.core.vector.quantize_mx_rate > 0;
  if (read.is_auto("precision")) return microscaling ? Dtype::kMxfp4 : Dtype::kBf16;
  const std::string& word = read.word("precision");
  if (word == "bf16") return Dtype::kBf16;
  if (word == "fp8_experts") return Dtype::kFp8;
  if (!microscaling) {
    throw InfeasibleError(
        "precision=mxfp4_experts needs a tensor engine that multiplies microscaled formats and a vector "
        "engine that quantises to them, which " +
        machine.name + " has not; use precision=bf16 or precision=fp8_experts");
  }
  return Dtype::kMxfp4;
}

std::uint32_t lnc_of(const Reader& read, const MachineSpec& machine) {
  const std::uint32_t lnc = read.is_auto("lnc") ? machine.default_lnc : read.degree("lnc");
  if (machine.cores_per_chip % lnc != 0 || machine.cores_per_stack() % lnc != 0) {
    throw InfeasibleError("lnc=" + std::to_string(lnc) + ": " + std::to_string(lnc) +
                          " cores of this machine share no HBM stack; use lnc=1");
  }
  return lnc;
}

void read_model_run(const Reader& read, const MachineSpec& machine, Settings& settings) {
  settings.model = model_of(read);
  settings.batch_is_per_replica = read.find("batch_per_replica") != nullptr;
  settings.batch = read.count(settings.batch_is_per_replica ? "batch_per_replica" : "batch");
  if (settings.phase == Phase::kDecode) {
    settings.context = read.count("context");
    if (settings.context == 0) {
      throw InputError(read.need("context").place + ": the token being decoded is part of context; use 1 or more");
    }
    settings.moe_kernel = choose<MoeKernel, 2>(read.word("moe_kernel"), {"selected", "all_expert"});
    settings.moe_exchange = choose<MoeExchange, 2>(read.word("moe_exchange"), {"all_to_all", "all_gather"});
    settings.collective_memory = read.word("collective_memory") == "sbuf" ? Space::kSbuf : Space::kHbm;
  }
  if (settings.phase == Phase::kPrefill) {
    settings.prompt_tokens = read.count("prompt_tokens");
    settings.moe_block = read.count("moe_block");
  }
  settings.tp = read.degree("tp");
  settings.ep = read.degree("ep");
  if (!read.is_auto("dp")) settings.dp = read.degree("dp");
  settings.expert_dtype = expert_dtype_of(read, machine);
  settings.all_reduce = choose<AllReduce, 3>(read.word("all_reduce_algorithm"), {"auto", "mesh", "ring"});
  settings.routing = choose<Routing, 3>(read.word("routing"), {"uniform", "balanced", "lognormal"});
  settings.routing_sigma = read.real("routing_sigma");
}

/// The memory named by `name`, which must be one of the two that the workload reaches.
Space space_of(const Reader& read, std::string_view name, std::string_view other, Space other_space) {
  const WorkloadParameter& space = read.need(name);
  if (space.value == "sbuf") return Space::kSbuf;
  if (space.value == other) return other_space;
  throw InputError(space.origin + ": " + std::string(name) + " is sbuf or " + std::string(other) + " here, not '" +
                   space.value + "'");
}

void read_copy(const Reader& read, Settings& settings) {
  settings.bytes = read.count("bytes");
  settings.transfers = read.count("transfers");
  settings.descriptor_bytes = read.count("descriptor_bytes");
  settings.queues = read.count("queues");
  settings.generation = choose<DescriptorGeneration, 3>(read.word("generation"), {"prebuilt", "hardware", "software"});
  settings.source = space_of(read, "source_space", "hbm", Space::kHbm);
  settings.destination = space_of(read, "destination_space", "hbm", Space::kHbm);
}

constexpr std::array<std::pair<std::string_view, Op>, 12> kOps = {{{"matmul", Op::kMatmul},
                                                                   {"transpose", Op::kTranspose},
                                                                   {"copy", Op::kCopy},
                                                                   {"tensor_scalar", Op::kCopy},
                                                                   {"tensor_tensor", Op::kBinary},
                                                                   {"reduce", Op::kReduce},
                                                                   {"activation", Op::kActivation},
                                                                   {"exponential", Op::kExponential},
                                                                   {"reciprocal", Op::kReciprocal},
                                                                   {"max8", Op::kMax8},
                                                                   {"quantize_mx", Op::kQuantizeMx},
                                                                   {"gather", Op::kGather}}};

void read_instruction(const Reader& read, Settings& settings) {
  const std::string& op = read.word("op");
  settings.op = std::find_if(kOps.begin(), kOps.end(), [&](const auto& row) { return row.first == op; })->second;
  if (!read.is_auto("engine")) {
    settings.engine = choose<Engine, 4>(read.word("engine"), {"tensor", "vector", "scalar", "gpsimd"});
  }
  settings.partitions = read.degree("partitions");
  settings.free = read.count("free");
  settings.columns = read.degree("columns");
  settings.dtype = choose<Dtype, kDtypeCount>(read.word("dtype"), kDtypeNames);
  settings.source = space_of(read, "source_space", "psum", Space::kPsum);
  settings.destination = space_of(read, "destination_space", "psum", Space::kPsum);
  settings.count = read.count("count");
  settings.warmup = read.count("warmup");
}

void read_kernel(const Reader& read, Settings& settings) {
  if (settings.phase == Phase::kDmaCopy) return read_copy(read, settings);
  if (settings.phase == Phase::kInstruction) return read_instruction(read, settings);
  if (settings.phase == Phase::kMatmul) {
    settings.m = read.count("m");
    settings.n = read.count("n");
    settings.k = read.count("k");
    settings.dtype = choose<Dtype, kDtypeCount>(read.word("dtype"), kDtypeNames);
    return;
  }
  settings.batch = read.count("batch");
  settings.model.q_heads = read.count("q_heads");
  settings.model.kv_heads = read.count("kv_heads");
  settings.model.head_dim = read.count("head_dim");
  settings.query_tokens = read.count("query_tokens");
  settings.context = read.count("context");
  settings.causal = read.word("causal") == "yes";
  settings.window = read.count("window");
  check_heads(read, settings.model);
  if (settings.query_tokens > settings.context) {
    throw InputError(read.need("query_tokens").place + ": query_tokens are part of context; at most " +
                     std::to_string(settings.context) + " here");
  }
}

}  // namespace

Settings settings_of(const Workload& workload, const MachineSpec& machine) {
  const Reader read(workload);
  Settings settings;
  settings.phase = choose<Phase, kPhaseNames.size()>(read.word("phase"), kPhaseNames);
  settings.lnc = lnc_of(read, machine);
  if (settings.phase == Phase::kDecode || settings.phase == Phase::kPrefill) {
    read_model_run(read, machine, settings);
  } else {
    read_kernel(read, settings);
  }
  return settings;
}

}  // namespace trnsim
