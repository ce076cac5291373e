// What a config.json may not say is refused where it stands.
#include <array>

#include "tests/workloads/models/config_files.h"

namespace trnsim {
namespace {

TEST(ModelConfigRefusals, WhatIsNoConfigurationIsRefusedAtItsPlace) {
  struct Case {
    std::string text;
    const char* message;  ///< after the path
  };
  const std::vector<Case> cases = {
      {"", ":1:1: is no JSON (while parsing value - unexpected end of input; "},
      {"\n \n", ":2:2: is no JSON ("},
      {"phase,decode,,x\n", ":1:1: is no JSON ("},
      {"{\"a\": 1,\n \"b\": }\n", ":2:7: is no JSON (while parsing value - unexpected '}'; "},
      {"{\"a\": 1} x", ":1:10: is no JSON ("},
      {"{\"a\": \"x", ":1:8: is no JSON ("},
      {"{\"a\": \"\xFF\"}", ":1:8: is no JSON ("},
      {"\xFF\xFE{", ":1:1: is no JSON ("},
      {"{\"a\": 1e999}", ":1:12: is no JSON (number overflow"},
      {"[]", ":1:1: is a JSON array; a model's config.json is an object"},
      {"3", ":1:1: is a JSON number; "},
      {"{}", ":1:3: key 'model_type' is missing; use dbrx, deepseek_v3, "},
      {"{\"model_type\": 3}", ":1:2: key 'model_type' is 3; a name in quotes is needed"},
      {"{\"model_type\": \"mamba\"}", ":1:2: key 'model_type' is 'mamba', which is not covered; use dbrx, "},
      {"{\"architectures\": [\"T5Model\"]}", ":1:2: key 'architectures' names 'T5Model', which is not covered; "},
      {"{\"a\": 1,\n \"b\": 2, \"a\": 1}", ":2:10: key 'a' stands twice; keep one"},
      {"{\"a\": {\"b\": 2, \"\\u0062\": 1}}", ":1:16: key 'a.b' stands twice; keep one"},
      {std::string(100000, '['), ":1:33: nests deeper than 32 levels; "},
  };
  const test::ConfigFiles files;
  for (const Case& c : cases) {
    const std::string path = files.write("config.json", c.text);
    const std::string refusal = test::refusal_of(path);
    EXPECT_EQ(refusal.substr(0, path.size() + std::string_view(c.message).size()), path + c.message)
        << c.text.substr(0, 40) << "\n"
        << refusal;
  }
  EXPECT_NE(test::refusal_of((files.path() / "none.json").string()).find("none.json: no such file"), std::string::npos);
  std::filesystem::create_directories(files.path() / "folder.json");
  EXPECT_NE(test::refusal_of((files.path() / "folder.json").string()).find("is no regular file"), std::string::npos);
}

TEST(ModelConfigRefusals, KeysAreRefusedByName) {
  struct Case {
    const char* type;
    std::vector<std::string> more;
    const char* message;  ///< after the path
  };
  const std::vector<Case> cases = {
      {"llama", {"\"hidden_size\": \"64\""}, ":3:2: key 'hidden_size' is \"64\"; a whole number below 2^64 is needed"},
      {"llama", {"\"hidden_size\": -64"}, ":3:2: key 'hidden_size' is -64; a whole number"},
      {"llama", {"\"hidden_size\": 1e30"}, ":3:2: key 'hidden_size' is 1e+30; a whole number"},
      {"llama", {"\"hidden_size\": 18446744073709551616"}, ":3:2: key 'hidden_size' is 1.844"},
      {"llama", {"\"hidden_size\": 18446744073709551615"}, ":3:2: key 'hidden_size' makes hidden 1844674407370955161"},
      {"llama", {"\"num_hidden_layers\": 0"}, ":3:2: key 'num_hidden_layers' makes layers 0, out of range; 1 to 1000 "},
      {"llama", {"\"hidden_size\": null"}, ":3:2: key 'hidden_size' is missing (width of the residual stream"},
      {"llama",
       {"\"num_attention_heads\": 7"},
       ":3:2: key 'num_attention_heads' is 7, which does not divide the hidden"},
      {"llama", {"\"num_key_value_heads\": 3"}, ":3:2: kv_heads must divide q_heads, which is 8"},
      {"llama", {"\"attention_bias\": 1"}, ":3:2: key 'attention_bias' is 1; use true or false"},
      {"llama",
       {"\"logit_scale\": 2", "\"residual\": [1]"},
       ":3:2: key 'logit_scale' is not understood, nor 'residual' (line 4); leave out what changes neither"},
      {"llama", {"\"hidden_act\": \"relu\""}, ":3:2: key 'hidden_act' is \"relu\", which this model does not cover; "},
      {"llama", {"\"pruned_heads\": {\"1\": [0]}"}, ":3:2: key 'pruned_heads' is "},
      {"gpt_oss",
       {"\"num_local_experts\": 4", "\"num_experts_per_tok\": 2",
        R"("layer_types": ["full_attention", "chunked_attention", "full_attention", "full_attention"])"},
       ":5:2: key 'layer_types' has 'chunked_attention', which is not covered; "},
      {"gpt_oss",
       {"\"num_local_experts\": 4", "\"num_experts_per_tok\": 2",
        R"("layer_types": ["full_attention", "sliding_attention", "full_attention", "sliding_attention"])"},
       ":5:2: key 'layer_types' puts layers with and without a window in an order that is not covered"},
      {"gpt_oss",
       {"\"num_local_experts\": 4", "\"num_experts_per_tok\": 2", R"("layer_types": ["full_attention"])"},
       ":5:2: key 'layer_types' has 1 entries; one for each of the 4 layers is needed"},
      {"gpt_oss",
       {"\"num_local_experts\": 4", "\"num_experts_per_tok\": 2", "\"experts_per_token\": 4", "\"sliding_window\": 8"},
       ":5:2: key 'experts_per_token' differs from num_experts_per_tok"},
      {"mixtral",
       {"\"num_local_experts\": 4", "\"num_experts_per_tok\": 5"},
       ":4:2: a token takes at most all experts; use 4 or less"},
      {"mllama", {}, ":10:1: key 'text_config' is missing; an object is needed"},
      {"mllama", {"\"text_config\": [3]"}, ":3:2: key 'text_config' is [3]; an object is needed"},
      {"mllama_text_model",
       {"\"cross_attention_layers\": [0, 2, 3]"},
       ":3:2: key 'cross_attention_layers' is no even "},
      {"mllama_text_model", {"\"cross_attention_layers\": [3, 1]"}, ":3:2: key 'cross_attention_layers' is no even "},
      {"mllama_text_model", {"\"cross_attention_layers\": [0]"}, "accepted"},
  };
  const test::ConfigFiles files;
  for (const Case& c : cases) {
    const std::string path = files.write("config.json", test::small_config(c.type, c.more));
    const std::string refusal = test::refusal_of(path);
    const std::string expected = std::string_view(c.message) == "accepted" ? c.message : path + c.message;
    EXPECT_EQ(refusal.substr(0, expected.size()), expected) << c.more.back() << "\n" << refusal;
  }
}

}  // namespace
}  // namespace trnsim
