// A model's config.json is the same model as its CSV, and a job.
#include "workloads/models/hf_config.h"

#include <algorithm>
#include <map>

#include "tests/workloads/models/config_files.h"
#include "workloads/models/catalogue.h"

namespace trnsim {
namespace {

const std::string kConfigs = std::string(TRNSIM_ROOT) + "/tests/workloads/models/configs/";

const WorkloadParameter& parameter(const Workload& workload, const std::string& name) {
  return *std::find_if(workload.parameters.begin(), workload.parameters.end(),
                       [&](const auto& p) { return p.name == name; });
}

std::uint64_t layers_with(const ModelShape& model, AttentionKind kind) {
  std::uint64_t count = 0;
  for (const LayersOfKind& layers : model.kinds()) count += layers.kind.attention == kind ? layers.count : 0;
  return count;
}

TEST(ModelConfig, GivesTheShapeOfTheModelsCsv) {
  for (const NamedModel& model : shipped_models(TRNSIM_ROOT))
    EXPECT_TRUE(test::shape_of(kConfigs + model.name + ".json") == model.shape) << model.name;
}

TEST(ModelConfig, RunsAsTheShippedWorkloadsOfGptOssDo) {
  for (const std::string phase : {"decode", "prefill"}) {
    const Workload shipped = load_workload("gpt-oss-120b-" + phase, {}, TRNSIM_ROOT);
    const Workload own = test::config(kConfigs + "gpt-oss-120b.json", {{"phase", phase, "--set"}});
    EXPECT_EQ(own.name, "gpt-oss-120b");
    for (const WorkloadParameter& p : shipped.parameters) {
      if (p.name == "model" || (p.name == "batch_per_replica" && phase == "prefill")) continue;
      EXPECT_EQ(parameter(own, p.name).value, p.value) << phase << " " << p.name;
    }
  }
}

TEST(ModelConfig, SaysWhereItsParametersStandAndTakesOverrides) {
  const std::string path = kConfigs + "mixtral-8x7b.json";
  const Workload workload = test::config(path, {{"layers", "2", "--set"}, {"tp", "8", "--set"}});
  EXPECT_EQ(parameter(workload, "hidden").place, path + ":5:3");
  EXPECT_EQ(parameter(workload, "hidden").origin, "mixtral-8x7b.json:5");
  EXPECT_EQ(parameter(workload, "layers").value, "2");
  EXPECT_EQ(parameter(workload, "tp").origin, "--set");
  EXPECT_EQ(parameter(workload, "ep").origin, "model_run.csv:6");
}

TEST(ModelConfig, IsNamedAfterItsFolderAndFoundBesideTheWorkloadThatNamesIt) {
  const test::ConfigFiles files;
  const std::string path = files.write("small/config.json", test::small_config("llama", {}));
  EXPECT_EQ(test::config(path).name, "small");
  const std::string csv = files.write("job.csv",
                                      "parameter,value,unit,source\nmodel,small/config.json,,\nphase,decode,,x\n"
                                      "layers,3,count,x\n");
  const ModelShape model = test::shape_of(csv);
  EXPECT_EQ(model.hidden, 64U);
  EXPECT_EQ(model.layers, 3U);
}

TEST(ModelConfig, KindsDifferInWhatTheirFilesLeaveOut) {
  const test::ConfigFiles files;
  const auto shape = [&](const std::string& type, const std::vector<std::string>& more) {
    return test::shape_of(files.write("config.json", test::small_config(type, more)));
  };
  const ModelShape llama = shape("llama", {"\"mlp_bias\": true", "\"tie_word_embeddings\": true"});
  EXPECT_EQ(llama.head_dim, 8U);
  EXPECT_TRUE(llama.ffn_bias && llama.tied_embedding);
  EXPECT_EQ(shape("llama", {"\"num_key_value_heads\": null"}).kv_heads, 8U);
  EXPECT_EQ(shape("qwen2", {}).attention_bias, AttentionBias::kQkv);
  const ModelShape qwen3 = shape("qwen3", {});
  EXPECT_EQ(qwen3.head_dim, 128U);
  EXPECT_TRUE(qwen3.qk_norm);
  const ModelShape mistral = shape("mistral", {"\"sliding_window\": 32"});
  EXPECT_EQ(mistral.window, 32U);
  EXPECT_EQ(layers_with(mistral, AttentionKind::kSliding), 4U);
  const ModelShape oss =
      shape("gpt_oss", {"\"num_local_experts\": 4", "\"num_experts_per_tok\": 2", "\"sliding_window\": 16",
                        "\"num_hidden_layers\": 6",
                        R"("layer_types": ["sliding_attention", "sliding_attention", "full_attention",
                                               "sliding_attention", "sliding_attention", "full_attention"])"});
  EXPECT_EQ(oss.window_period, 3U);
  EXPECT_EQ(layers_with(oss, AttentionKind::kFull), 2U);
  const ModelShape neox = shape("gpt_neox", {"\"use_parallel_residual\": false"});
  EXPECT_FALSE(neox.parallel_ffn);
  const ModelShape vision = shape("mllama_text_model", {"\"cross_attention_layers\": [1, 3]"});
  EXPECT_EQ(layers_with(vision, AttentionKind::kCross), 2U);
}

TEST(ModelConfig, MayNameItsClassInPlaceOfItsKind) {
  const test::ConfigFiles files;
  std::string text = test::small_config("llama", {});
  text.replace(text.find("\"model_type\": \"llama\""), 21, "\"architectures\": [\"LlamaForCausalLM\"]");
  EXPECT_EQ(test::shape_of(files.write("config.json", text)).hidden, 64U);
  EXPECT_EQ(test::shape_of(files.write("config.json", "\xEF\xBB\xBF" + text)).hidden, 64U) << "a byte order mark";
}

}  // namespace
}  // namespace trnsim
