#include "workloads/settings.h"

#include <string>

#include "models/mechanism/error.h"
#include "workloads/collectives/choice.h"
#include "workloads/kernels/writer.h"
#include "workloads/models/model_reader.h"
#include "workloads/setting_reader.h"

namespace trnsim {
namespace {

Dtype expert_dtype_of(const SettingReader& read, const MachineSpec& machine, bool has_experts) {
  if (!has_experts) {
    const std::string word = read.is_auto("precision") ? "bf16" : read.word("precision");
    if (word != "bf16")
      throw InputError(read.need("precision").place + ": precision=" + word +
                       " is about experts, and the model has none; use bf16");
    return Dtype::kBf16;
  }
  const bool microscaling = machine.core.tensor.mxfp4_rows > 0 && machine.core.vector.quantize_mx_rate > 0;
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

// Throws InputError if `tokens`, the value of `name`, exceed what the model was made for.
void check_length(const SettingReader& read, std::string_view name, const ModelShape& model, std::uint64_t tokens) {
  if (model.max_context == 0 || tokens <= model.max_context) return;
  throw InputError(read.need(name).place + ": the model was made for " + std::to_string(model.max_context) +
                   " tokens, not " + std::to_string(tokens) + "; use less, or set max_context as well");
}

void check_attention(const ModelShape& model, Phase phase, const MachineSpec& machine) {
  if (model.cross_period > 0)
    throw InfeasibleError("cross-attention has no programs in whole models; its parameters and FLOPs are counted only");
  const std::uint64_t most = features_per_tile(machine.core);
  if (model.latent.kv_rank == 0 && model.head_dim > most) {
    throw InfeasibleError("head_dim=" + std::to_string(model.head_dim) + ": models hold a head on " +
                          std::to_string(most) + " partitions at most");
  }
  if (model.indexer.top_k > 0 && phase == Phase::kPrefill)
    throw InfeasibleError("sparse attention has programs for decode only; index_topk belongs to phase=decode");
}

void read_model_run(const SettingReader& read, const MachineSpec& machine, Settings& settings) {
  settings.model = model_of(read);
  const ModelShape& model = settings.model;
  check_attention(model, settings.phase, machine);
  settings.batch_is_per_replica = read.find("batch_per_replica") != nullptr;
  settings.batch = read.count(settings.batch_is_per_replica ? "batch_per_replica" : "batch");
  if (settings.phase == Phase::kDecode) {
    settings.context = read.count("context");
    if (settings.context == 0) {
      throw InputError(read.need("context").place + ": the token being decoded is part of context; use 1 or more");
    }
    check_length(read, "context", model, settings.context);
    settings.collectives.memory = read.word("collective_memory") == "sbuf" ? Space::kSbuf : Space::kHbm;
  }
  if (settings.phase == Phase::kDecode && model.experts > 0) {
    settings.moe_kernel = read.choice<MoeKernel, 2>("moe_kernel", {"selected", "all_expert"});
    settings.moe_exchange = read.choice<MoeExchange, 2>("moe_exchange", {"all_to_all", "all_gather"});
  }
  if (settings.phase == Phase::kPrefill) {
    settings.prompt_tokens = read.count("prompt_tokens");
    check_length(read, "prompt_tokens", model, settings.prompt_tokens);
    settings.moe_block = model.experts > 0 ? read.count("moe_block") : 1;
  }
  settings.may_exceed_memory = read.is_yes("allow_oversubscription");
  settings.pads_heads = read.is_yes("head_padding");
  settings.tp = read.degree("tp");
  settings.ep = read.degree("ep");
  if (!read.is_auto("dp")) settings.dp = read.degree("dp");
  settings.expert_dtype = expert_dtype_of(read, machine, settings.model.experts > 0);
  settings.collectives.algorithm = forced_algorithm(read, "all_reduce_algorithm");
  if (model.experts == 0) return;
  settings.routing = read.choice<Routing, 3>("routing", {"uniform", "balanced", "lognormal"});
  settings.routing_sigma = read.real("routing_sigma");
}

}  // namespace

Settings settings_of(const Workload& workload, const MachineSpec& machine) {
  const SettingReader read(workload);
  Settings settings;
  settings.phase = read.choice<Phase, 2>("phase", {"decode", "prefill"});
  settings.lnc = lnc_of(read, machine);
  read_model_run(read, machine, settings);
  return settings;
}

}  // namespace trnsim
