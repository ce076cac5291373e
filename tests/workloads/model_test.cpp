#include <map>
#include <set>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "tests/workloads/lowering.h"
#include "workloads/graph/facts.h"

namespace trnsim {
namespace {

// (phase, layer kind, query tokens, operator) -> matmul FLOP.
using Checks = std::map<std::array<std::string, 4>, std::uint64_t>;

Checks read_checks() {
  Checks checks;
  const CsvFile file = read_csv(TRNSIM_ROOT "/tests/workloads/data/operator_checks.csv");
  for (const CsvRow& row : file.rows) {
    const auto& f = row.fields;
    checks[{f[1].text, f[2].text, f[3].text, f[5].text}] = std::stoull(f[6].text);
  }
  return checks;
}

TEST(Model, FlopFormulasGiveTheCheckValues) {
  const ModelShape model = settings_of(test::workload("gpt-oss-120b-decode"), test::machine("trn2-ultraserver")).model;
  const Checks checks = read_checks();
  struct Point {
    const char* phase;
    std::uint64_t tokens, context;
  };
  for (const Point& p : {Point{"prefill", 8192, 8192}, Point{"decode", 8, 10240}, Point{"decode", 64, 10240}}) {
    for (const std::string kind : {"full", "sliding"}) {
      const std::uint64_t window = kind == "full" ? 0 : model.window;
      const std::uint64_t seen = window == 0 ? p.context : std::min(p.context, window);
      const bool prefill = std::string(p.phase) == "prefill";
      const LayerKind layer{kind == "full" ? AttentionKind::kFull : AttentionKind::kSliding, FfnKind::kExperts};
      const LayerFlop flop = layer_flop(model, layer, p.tokens,
                                        {.attended = prefill ? causal_pairs(p.tokens, window) : Wide(p.tokens) * seen});
      const std::string tokens = std::to_string(p.tokens);
      EXPECT_EQ(flop.qkv, checks.at({p.phase, kind, tokens, "qkv_proj"}));
      EXPECT_EQ(flop.scores, checks.at({p.phase, kind, tokens, "attn_scores"}));
      EXPECT_EQ(flop.values, checks.at({p.phase, kind, tokens, "attn_values"}));
      EXPECT_EQ(flop.output, checks.at({p.phase, kind, tokens, "o_proj"}));
      EXPECT_EQ(flop.router, checks.at({p.phase, "any", tokens, "router"}));
      EXPECT_EQ(flop.experts, checks.at({p.phase, "any", tokens, "experts_selected"}));
    }
  }
}

// One replica of one rank without copies: bytes are those of the operators, layer by layer.
TEST(Model, BytesOfADecodeStepAreThoseOfItsOperators) {
  MachineSpec machine = test::machine("trn3-ultraserver-gen2");
  machine.hbm.capacity = Bytes(std::uint64_t{1} << 40);  // all on one rank, for the sum's sake
  const LoweredWorkload l = test::lowered(machine, "gpt-oss-120b-decode",
                                          {{"tp", "1"},
                                           {"dp", "1"},
                                           {"lnc", "1"},
                                           {"batch_per_replica", "8"},
                                           {"context", "10240"},
                                           {"precision", "bf16"}});
  const std::uint64_t attention = 29491200 + 23592960;  // qkv_proj, o_proj
  const std::uint64_t router = 737280, norm = 5760;     // per layer: one router, two norms
  const std::uint64_t expert = 3ULL * 2880 * 2880 * 2;  // bytes of one expert
  const std::uint64_t head = 201088ULL * 2880 * 2, rows = 8 * 2880 * 2;
  EXPECT_EQ(l.facts.weight_bytes,
            36 * (attention + router + 2 * norm) + norm + head + rows + l.facts.distinct_experts * expert);
  EXPECT_EQ(l.facts.kv_read_bytes, 18ULL * 2 * (83886080 + 1048576));
  EXPECT_EQ(l.facts.kv_write_bytes, 36ULL * 16384);
  EXPECT_EQ(l.facts.bias_bytes, 36ULL * 2 * (5120 + 2880 + 128) + l.facts.distinct_experts * 2 * (2 * 2880 + 2880));
  EXPECT_EQ(l.facts.collective_bytes_per_rank, 0U);
  test::expect_conserved(l);
}

struct Mapped {
  const char* machine;
  const char* workload;
  test::Changes changes;
};

class Programs : public testing::TestWithParam<Mapped> {};

/// "trn2_ultraserver_matmul_m_1_n_1_k_1": what the case changes is its name.
void PrintTo(const Mapped& mapped, std::ostream* out) {
  std::string name = std::string(mapped.machine) + "_" + mapped.workload;
  for (const auto& [parameter, value] : mapped.changes) name += "_" + parameter + "_" + value;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  *out << name;
}

TEST_P(Programs, ConserveBytesAndFlopsAndRunToTheEnd) {
  const Mapped& p = GetParam();
  const LoweredWorkload l = test::lowered(test::machine(p.machine), p.workload, p.changes);
  test::expect_conserved(l);
  test::expect_runs(l);
  EXPECT_GT(l.roofline_ps, 0U);
}

const char* const kTrn2 = "trn2-ultraserver";
const char* const kTrn3 = "trn3-ultraserver-gen2";
const char* const kDecode = "gpt-oss-120b-decode";
const char* const kPrefill = "gpt-oss-120b-prefill";

INSTANTIATE_TEST_SUITE_P(
    Decode, Programs,
    testing::Values(Mapped{kTrn2, kDecode, {}}, Mapped{kTrn2, kDecode, {{"tp", "8"}, {"precision", "fp8_experts"}}},
                    Mapped{kTrn2, kDecode, {{"batch_per_replica", "1"}, {"context", "1"}}},
                    Mapped{kTrn2, kDecode, {{"batch_per_replica", "3"}, {"context", "1001"}}},
                    Mapped{kTrn2, kDecode, {{"tp", "32"}, {"lnc", "1"}, {"moe_kernel", "all_expert"}}},
                    Mapped{kTrn2, kDecode, {{"tp", "64"}, {"collective_memory", "sbuf"}}},
                    Mapped{kTrn3, kDecode, {{"tp", "8"}, {"routing", "lognormal"}, {"batch_per_replica", "256"}}},
                    Mapped{kTrn3, kDecode, {{"tp", "8"}, {"batch_per_replica", "1024"}, {"context", "1024"}}},
                    Mapped{kTrn3, kDecode, {{"tp", "2"}, {"ep", "2"}, {"batch_per_replica", "5"}}},
                    Mapped{kTrn3, kDecode, {{"tp", "8"}, {"ep", "4"}, {"context", "131072"}}},
                    Mapped{kTrn3, kDecode, {{"tp", "8"}, {"ep", "64"}, {"batch_per_replica", "20"}}},
                    Mapped{kTrn3, kDecode, {{"tp", "4"}, {"ep", "128"}, {"moe_exchange", "all_gather"}}}),
    testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(
    Prefill, Programs,
    testing::Values(Mapped{kTrn2, kPrefill, {{"prompt_tokens", "1000"}, {"batch_per_replica", "2"}}},
                    Mapped{kTrn2, kPrefill, {{"prompt_tokens", "1"}}},
                    Mapped{kTrn3, kPrefill, {{"tp", "8"}, {"ep", "2"}, {"prompt_tokens", "12000"}}}),
    testing::PrintToStringParamName());
const char* const kDense = "llama-3.1-8b-decode";
const char* const kDensePrefill = "llama-3.1-8b-prefill";
const test::Changes kMixed = {{"dense_layers", "3"}, {"dense_ffn", "9000"}, {"shared_experts", "1"},
                              {"qk_norm", "yes"},    {"ffn_bias", "no"},    {"attention_bias", "none"}};
const test::Changes kNeox = {{"norm", "layer_norm"}, {"norm_bias", "yes"},       {"parallel_ffn", "yes"},
                             {"ffn_matrices", "2"},  {"attention_bias", "qkvo"}, {"ffn_bias", "yes"},
                             {"head_dim", "96"}};

test::Changes with(test::Changes changes, const test::Changes& more) {
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

/// DeepSeek-V3's own shape, with few layers and experts so that programs of all ranks are counted quickly.
const test::Changes kLatent = {
    {"layers", "4"},        {"dense_layers", "1"},      {"dense_ffn", "9000"},  {"shared_experts", "1"},
    {"q_heads", "32"},      {"kv_heads", "32"},         {"head_dim", "192"},    {"value_dim", "128"},
    {"q_lora_rank", "768"}, {"kv_lora_rank", "512"},    {"qk_nope_dim", "128"}, {"qk_rope_dim", "64"},
    {"ffn_bias", "no"},     {"attention_bias", "none"}, {"window_period", "1"}, {"router_correction", "yes"}};
const test::Changes kIndexed = {{"index_heads", "64"}, {"index_dim", "128"}, {"index_topk", "2048"}};

INSTANTIATE_TEST_SUITE_P(
    LatentAttention, Programs,
    testing::Values(Mapped{kTrn2, kDecode, kLatent}, Mapped{kTrn2, kDecode, with(kLatent, {{"tp", "2"}, {"lnc", "1"}})},
                    Mapped{kTrn3, kDecode, with(kLatent, {{"tp", "4"}, {"ep", "32"}, {"batch_per_replica", "3"}})},
                    Mapped{kTrn3, kDecode, with(with(kLatent, kIndexed), {{"tp", "4"}, {"context", "30000"}})},
                    Mapped{kTrn3, kDecode,
                           with(with(kLatent, kIndexed), {{"batch_per_replica", "1"}, {"context", "1500"}})},
                    Mapped{kTrn2, kPrefill, with(kLatent, {{"prompt_tokens", "700"}})},
                    Mapped{kTrn3, kPrefill, with(kLatent, {{"prompt_tokens", "5000"}, {"tp", "8"}})}));

INSTANTIATE_TEST_SUITE_P(
    Kinds, Programs,
    testing::Values(Mapped{kTrn2, kDense, {}}, Mapped{kTrn2, kDense, {{"tp", "8"}, {"lnc", "1"}}},
                    Mapped{kTrn2, kDense, {{"tp", "1"}, {"batch_per_replica", "3"}}}, Mapped{kTrn2, kDense, kNeox},
                    Mapped{kTrn2, kDensePrefill, {{"prompt_tokens", "700"}}},
                    Mapped{kTrn2, kDensePrefill, with(kNeox, {{"prompt_tokens", "300"}, {"tp", "2"}})},
                    Mapped{kTrn3, kDecode, kMixed}, Mapped{kTrn3, kDecode, with(kMixed, {{"tp", "4"}, {"ep", "64"}})},
                    Mapped{kTrn3, kDecode, with(kMixed, {{"tp", "16"}, {"ep", "2"}, {"lnc", "1"}})},
                    Mapped{kTrn3, kPrefill, with(kMixed, {{"tp", "8"}, {"prompt_tokens", "900"}})}));

INSTANTIATE_TEST_SUITE_P(
    Kernels, Programs,
    testing::Values(Mapped{kTrn2, "matmul", {}}, Mapped{kTrn2, "matmul", {{"m", "1"}, {"n", "1"}, {"k", "1"}}},
                    Mapped{kTrn3, "matmul", {{"dtype", "mxfp8"}, {"m", "1000"}, {"n", "3000"}, {"k", "5000"}}},
                    Mapped{kTrn2, "attention", {}}, Mapped{kTrn2, "attention", {{"query_tokens", "1"}, {"batch", "3"}}},
                    Mapped{kTrn2, "attention", {{"window", "128"}, {"causal", "yes"}}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    VectorKernels, Programs,
    testing::Values(Mapped{kTrn2, "scan", {{"channels", "300"}}},
                    Mapped{kTrn2, "scan", {{"schedule", "chunk_outer"}, {"sequence", "700"}, {"lnc", "1"}}},
                    Mapped{kTrn2, "scan", {{"schedule", "state_outer"}, {"channels", "4096"}, {"sequence", "512"}}},
                    Mapped{kTrn2, "scan", {{"schedule", "state_outer"}, {"channels", "3"}, {"batch", "2"}}},
                    Mapped{kTrn2, "scan", {{"schedule", "channel_outer"}, {"channels", "257"}, {"lnc", "1"}}},
                    Mapped{kTrn2, "scan", {{"schedule", "channel_outer"}, {"channels", "256"}, {"sequence", "7000"}}},
                    Mapped{kTrn2, "scan", {{"schedule", "channel_outer"}, {"channels", "256"}, {"sequence", "8192"}}},
                    Mapped{kTrn2, "scan", {{"schedule", "channel_outer_chunked"}, {"sequence", "1100"}}},
                    Mapped{kTrn3, "conv1d", {{"channels", "200"}, {"sequence", "100"}}},
                    Mapped{kTrn2, "conv1d", {{"schedule", "whole_resident"}, {"sequence", "99"}, {"taps", "5"}}},
                    Mapped{kTrn2, "elementwise", {}}, Mapped{kTrn2, "elementwise", {{"m", "1"}, {"n", "1025"}}},
                    Mapped{kTrn2, "rms_norm", {}},
                    Mapped{kTrn2, "rms_norm", {{"result_dtype", "fp8"}, {"tokens", "1"}}}, Mapped{kTrn2, "softmax", {}},
                    Mapped{kTrn2, "softmax", {{"schedule", "three_passes"}, {"m", "131"}, {"n", "5000"}}},
                    Mapped{kTrn2, "rope", {}}, Mapped{kTrn2, "rope", {{"tokens", "37"}, {"q_heads", "3"}}}),
    testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(
    Layers, Programs,
    testing::Values(
        Mapped{kTrn2, "moe", {}},
        Mapped{kTrn3, "moe", {{"tokens", "3"}, {"dtype", "bf16"}, {"hidden", "300"}, {"expert_ffn", "256"}}},
        Mapped{kTrn2, "moe", {{"hidden", "1"}, {"expert_ffn", "1"}, {"experts_per_token", "1"}}},
        Mapped{kTrn2, "mlp", {{"activation", "gelu"}, {"bias", "yes"}}},
        Mapped{kTrn2, "mlp", {{"layers", "5"}, {"stored_dtype", "fp32"}, {"tokens", "700"}, {"bias", "yes"}}},
        Mapped{kTrn2, "mlp", {{"widths", "300x77x2000"}, {"hidden", "1"}, {"tokens", "1"}}},
        Mapped{kTrn2, "mlp", {{"activation", "swiglu"}, {"tokens", "1000"}, {"dtype", "fp32"}}},
        Mapped{kTrn2,
               "mlp",
               {{"schedule", "blocked"},
                {"widths", "1500x300"},
                {"bias", "yes"},
                {"activation", "relu"},
                {"epilogue", "log_softmax"},
                {"lnc", "1"}}},
        Mapped{kTrn2, "mlp", {{"schedule", "blocked"}, {"tokens", "300"}, {"layers", "3"}}},
        Mapped{kTrn2, "transformer_block", {}},
        Mapped{
            kTrn2, "transformer_block", {{"activation", "swiglu"}, {"kv_heads", "8"}, {"lnc", "1"}, {"tokens", "700"}}},
        Mapped{kTrn2, "transformer_block", {{"causal", "yes"}, {"tokens", "300"}, {"batch", "2"}, {"ffn", "100"}}}),
    testing::PrintToStringParamName());

// Widths smaller than the cores of a logical core, tokens than tiles, experts than ranks.
TEST(Model, TheSmallestDimensionsRunWhicheverCoreIsLeftWithoutWork) {
  const test::Changes base = {{"layers", "2"},
                              {"window_period", "2"},
                              {"hidden", "64"},
                              {"q_heads", "4"},
                              {"kv_heads", "2"},
                              {"head_dim", "16"},
                              {"experts", "4"},
                              {"expert_ffn", "64"},
                              {"tp", "4"},
                              {"experts_per_token", "2"},
                              {"vocabulary", "100"},
                              {"dp", "1"},
                              {"batch_per_replica", "2"}};
  const std::vector<test::Changes> cases = {
      {{"expert_ffn", "1"}},
      {{"expert_ffn", "2"}},
      {{"expert_ffn", "3"}, {"ep", "2"}},
      {{"hidden", "1"}},
      {{"vocabulary", "1"}},
      {{"head_dim", "1"}, {"kv_heads", "1"}},
      {{"experts", "1"}, {"experts_per_token", "1"}, {"batch_per_replica", "1"}},
      {{"hidden", "1"}, {"expert_ffn", "1"}, {"vocabulary", "1"}, {"head_dim", "1"}, {"tp", "1"}},
      {{"expert_ffn", "1"}, {"precision", "mxfp4_experts"}},
      {{"expert_ffn", "1"}, {"precision", "fp8_experts"}},
  };
  for (const char* workload : {kDecode, kPrefill}) {
    for (const test::Changes& more : cases) {
      test::Changes changes = base;
      changes.insert(changes.end(), more.begin(), more.end());
      changes.emplace_back(workload == kDecode ? "context" : "prompt_tokens", "3");
      SCOPED_TRACE(std::string(workload) + " " + more.front().first + "=" + more.front().second);
      const LoweredWorkload l = test::lowered(test::machine(kTrn3), workload, changes);
      test::expect_conserved(l);
      test::expect_runs(l);
    }
  }
  const LoweredWorkload spread = test::lowered(
      test::machine(kTrn3), kDecode,
      {{"expert_ffn", "1"}, {"tp", "2"}, {"ep", "8"}, {"dp", "4"}, {"layers", "2"}, {"batch_per_replica", "3"}});
  test::expect_conserved(spread);
  test::expect_runs(spread);
}

// Narrow heads share passes of the array, but no more of them than PSUM holds the results of.
TEST(Model, NarrowAndManyHeadsNeverMoveMoreThanABankHolds) {
  const MachineSpec machine = test::machine(kTrn2);
  for (const char* heads : {"1", "8", "64", "512"}) {
    for (const char* width : {"1", "3", "128"}) {
      const LoweredWorkload l = test::lowered(machine, "attention",
                                              {{"query_tokens", "1"},
                                               {"context", "300"},
                                               {"batch", "7"},
                                               {"q_heads", heads},
                                               {"kv_heads", "1"},
                                               {"head_dim", width}});
      for (const Segment& segment : l.job.cores[0].program->segments) {
        for (const auto& list : segment.instructions) {
          for (const Instruction& i : list) {
            const std::uint64_t moving = i.op == Op::kMatmul ? i.free.scale : 0;
            EXPECT_LE(moving, machine.core.moving_columns()) << heads << " heads of " << width;
          }
        }
      }
    }
  }
  EXPECT_THROW(test::lowered(machine, "attention", {{"query_tokens", "1"}, {"q_heads", "1024"}, {"kv_heads", "1"}}),
               InfeasibleError);
  MachineSpec narrow = machine;
  narrow.core.tensor.max_moving = 64;  // a head of 64 and the sum of its weights are 65
  EXPECT_THROW(test::lowered(narrow, "attention"), InfeasibleError);
}

TEST(Model, WhatACoreHasNotIsInfeasibleOrDoneWithout) {
  MachineSpec machine = test::machine(kTrn3);
  machine.core.vector.quantize_mx_rate = 0;
  const test::Changes small = {{"tp", "8"}, {"layers", "2"}, {"dp", "1"}};
  EXPECT_EQ(test::lowered(machine, kDecode, small).facts.peak_dtype, "bf16") << "auto takes what the core has";
  test::Changes mx = small;
  mx.emplace_back("precision", "mxfp4_experts");
  try {
    test::lowered(machine, kDecode, mx);
    ADD_FAILURE() << "accepted";
  } catch (const InfeasibleError& error) {
    EXPECT_NE(std::string(error.what()).find("use precision=bf16"), std::string::npos) << error.what();
  }
  machine.core.tensor.mx_rows = machine.core.tensor.mxfp4_rows = 0;
  machine.core.vector.exponential_rate = 0;
  machine.dma.hardware_generators = 0;
  for (const char* workload : {kDecode, kPrefill}) test::expect_conserved(test::lowered(machine, workload, small));
}

TEST(Model, ReplicasReplayTheSameSampleAndShareOneProgram) {
  const LoweredWorkload l = test::lowered(test::machine(kTrn3), kDecode, {{"tp", "8"}});
  ASSERT_EQ(l.job.replicas.size(), 72U);
  const auto& first = l.job.cores[l.job.replicas[0].cores[3].index()];
  const auto& other = l.job.cores[l.job.replicas[50].cores[3].index()];
  EXPECT_EQ(first.program, other.program);
  EXPECT_EQ(first.registers, other.registers);
}

TEST(Model, NoSequencesMeanNoWork) {
  const LoweredWorkload l = test::lowered(test::machine(kTrn2), kDecode, {{"batch_per_replica", "0"}});
  EXPECT_EQ(l.facts.useful_flop, 0U);
  EXPECT_EQ(l.facts.weight_bytes, 0U);
  test::expect_conserved(l);
  test::expect_runs(l);
}

// Distinct experts drawn decide the weight bytes; biases are apart.
TEST(Model, ExpertBytesAreDrawnExpertsTimesBytesPerExpertAtThePrecision) {
  const MachineSpec trn3 = test::machine(kTrn3);
  const auto weights = [&](const char* precision, const char* routing) {
    return test::lowered(trn3, kDecode, {{"tp", "8"}, {"precision", precision}, {"routing", routing}}).facts;
  };
  const WorkloadFacts mx = weights("mxfp4_experts", "uniform");
  const WorkloadFacts fp8 = weights("fp8_experts", "uniform");
  const std::uint64_t elements = 3ULL * 2880 * 2880;
  EXPECT_EQ(fp8.weight_bytes - mx.weight_bytes,
            72 * mx.distinct_experts * (elements - storage_bytes(elements, Dtype::kMxfp4)));
  EXPECT_EQ(weights("mxfp4_experts", "balanced").distinct_experts, 36U * 32);
}

TEST(Model, PaddingComesFromTilesOfTheHardware) {
  const LoweredWorkload l = test::lowered(test::machine(kTrn2), kDecode, {{"batch_per_replica", "64"}});
  EXPECT_LT(l.facts.padding_flop, l.facts.useful_flop);
}

}  // namespace
}  // namespace trnsim
