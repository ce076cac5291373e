// What a model keeps in memory, against hand counts for a dense model of the size of Llama 3 70B.
#include "models/mechanism/error.h"
#include "tests/workloads/lowering.h"
#include "workloads/graph/memory.h"

namespace trnsim {
namespace {

/// 80 layers, 8 KV heads of 128, every layer fully causal, one expert that every token takes: Llama 3 70B but for the
/// router, biases and sinks, which are 0.04 % of it.
const test::Changes kDense = {{"layers", "80"},
                              {"hidden", "8192"},
                              {"q_heads", "64"},
                              {"kv_heads", "8"},
                              {"head_dim", "128"},
                              {"experts", "1"},
                              {"experts_per_token", "1"},
                              {"expert_ffn", "28672"},
                              {"vocabulary", "128256"},
                              {"window_period", "1"},
                              {"precision", "bf16"},
                              {"context", "131072"},
                              {"lnc", "1"}};

/// One core per stack, 96e9 bytes each, nothing reserved.
MachineSpec roomy() {
  MachineSpec machine = test::machine("trn2-48xlarge");
  machine.cores_per_chip = machine.hbm.stacks;
  machine.default_lnc = 1;
  machine.hbm.capacity = Bytes(96'000'000'000);
  machine.hbm.reserve_per_core = machine.hbm.reserve_other_per_core = Bytes();
  return machine;
}

Settings dense(const test::Changes& more) {
  test::Changes changes = kDense;
  changes.insert(changes.end(), more.begin(), more.end());
  return settings_of(test::workload("gpt-oss-120b-decode", changes), roomy());
}

std::string refusal(const Settings& settings) {
  const MachineSpec machine = roomy();
  try {
    check_memory(settings, map_onto(settings, machine), machine);
  } catch (const InfeasibleError& error) {
    return error.what();
  }
  return "";
}

TEST(MemoryCases, KvBytesOfATokenFollowKvHeadsNotQueryHeads) {
  struct Case {
    const char* tp;
    std::uint64_t bytes;  ///< per token and rank
  };
  for (const Case& c : {Case{"1", 327'680}, Case{"8", 40'960}, Case{"16", 40'960}}) {  // 16: each KV head twice
    const Settings s = dense({{"tp", c.tp}});
    EXPECT_EQ(rank_memory(s, map_onto(s, roomy())).kv_cache, c.bytes * s.context) << "tp=" << c.tp;
  }
}

TEST(MemoryCases, WeightsOfARankAreTheModelsShare) {
  const Settings s = dense({{"tp", "8"}});
  const double weights = static_cast<double>(rank_memory(s, map_onto(s, roomy())).weights);
  EXPECT_NEAR(weights / 17'638'426'624.0, 1.0, 0.0005);
}

TEST(MemoryCases, FourteenSequencesFitAndTheFifteenthIsRefusedWithTheShortfall) {
  EXPECT_EQ(refusal(dense({{"tp", "8"}, {"batch_per_replica", "14"}})), "");
  const Settings s = dense({{"tp", "8"}, {"batch_per_replica", "15"}});
  const RankMemory memory = rank_memory(s, map_onto(s, roomy()));
  const std::uint64_t shortfall = memory.weights + 15 * memory.sequence() - 96'000'000'000;
  EXPECT_EQ(refusal(s), "weights, KV cache and reserve need 91.4 GiB per HBM stack, has 89.4: short by " +
                            std::to_string(shortfall) +
                            " bytes; at most 14 sequences per replica fit; context up to 127527 fits; "
                            "precision=fp8_experts fits; smallest tp that fits: 16");
}

TEST(MemoryCases, WeightsThatDoNotFitNameTheSmallestTpThatDoes) {
  struct Case {
    const char* sequences;
    const char* smallest;
  };
  for (const Case& c : {Case{"1", "2"}, Case{"4", "4"}, Case{"10", "8"}, Case{"1000", ""}}) {
    const std::string message = refusal(dense({{"tp", "1"}, {"batch_per_replica", c.sequences}}));
    const std::string end = *c.smallest == 0 ? "no tp fits" : std::string("smallest tp that fits: ") + c.smallest;
    EXPECT_TRUE(message.ends_with("; " + end)) << c.sequences << " sequences: " << message;
  }
}

// One change at a time, and each of them alone makes the job pass.
TEST(MemoryCases, EveryChangeThatARefusalNamesLetsTheJobPass) {
  const std::string message = refusal(dense({{"tp", "8"}, {"batch_per_replica", "15"}}));
  for (const auto& [before, parameter] :
       {std::pair{"at most ", "batch_per_replica"}, std::pair{"context up to ", "context"},
        std::pair{"; precision=", "precision"}, std::pair{"that fits: ", "tp"}}) {
    const std::size_t at = message.find(before);
    ASSERT_NE(at, std::string::npos) << message;
    const std::size_t begin = at + std::string_view(before).size();
    const std::string value = message.substr(begin, message.find(' ', begin) - begin);
    test::Changes changes = {{"tp", "8"}, {"batch_per_replica", "15"}};
    changes.emplace_back(parameter, value);
    EXPECT_EQ(refusal(dense(changes)), "") << parameter << "=" << value;
    if (parameter == std::string_view("precision") || parameter == std::string_view("tp")) continue;
    changes.back().second = std::to_string(std::stoul(value) + 1);
    EXPECT_NE(refusal(dense(changes)), "") << parameter << "=" << changes.back().second;
  }
}

TEST(MemoryCases, WhatDoesNotFitRunsIfThatIsAllowedAndTellsWhatItNeeds) {
  const MachineSpec machine = test::machine("trn2-3xlarge");
  const test::Changes large = {{"tp", "4"}, {"batch_per_replica", "64"}, {"context", "65536"}};
  EXPECT_THROW(test::lowered(machine, "llama-3.1-8b-decode", large), InfeasibleError);
  test::Changes allowed = large;
  allowed.emplace_back("allow_oversubscription", "yes");
  const LoweredWorkload lowered = test::lowered(machine, "llama-3.1-8b-decode", allowed);
  EXPECT_GT(lowered.facts.memory_gib_per_chip, 96.0);
  test::expect_conserved(lowered);
}

TEST(MemoryCases, JobsWithMoreWorkThanCanBeCountedAreRefused) {
  MachineSpec machine = test::machine("trn2-48xlarge");
  machine.hbm.capacity = Bytes(1'000'000'000'000'000);
  const std::vector<std::pair<const char*, test::Changes>> cases = {
      {"matmul", {{"m", "10000000"}, {"n", "10000000"}, {"k", "1000000"}}},
      {"attention", {{"query_tokens", "1000000"}, {"context", "1000000000"}, {"batch", "1000"}}},
      {"gpt-oss-120b-decode", {{"batch_per_replica", "1000000000"}, {"context", "1"}}},
      {"gpt-oss-120b-prefill", {{"prompt_tokens", "100000000"}, {"max_context", "1000000000"}}},
  };
  for (const auto& [workload, changes] : cases) {
    try {
      test::lowered(machine, workload, changes);
      ADD_FAILURE() << workload << " accepted";
    } catch (const InfeasibleError& error) {
      EXPECT_NE(std::string(error.what()).find("FLOP; at most 2^62 are counted"), std::string::npos) << error.what();
    }
  }
}

TEST(MemoryCases, ModelsBatchesAndKernelsBeyond64BitsAreRefusedNotWrapped) {
  struct Case {
    const char* workload;
    test::Changes changes;
    const char* message;
  };
  const std::array cases = std::to_array<Case>({
      {"gpt-oss-120b-decode",
       {{"batch_per_replica", "1000000000"}, {"context", "1000000000"}, {"max_context", "1000000000"}},
       "short by 46080006"},
      {"gpt-oss-120b-decode",
       {{"layers", "1000"}, {"experts", "4096"}, {"hidden", "1000000"}, {"expert_ffn", "1000000"}},
       "more than 10^17 parameters"},
      {"gpt-oss-120b-prefill", {{"prompt_tokens", "1000000000"}, {"max_context", "1000000000"}}, "GiB per HBM stack"},
      {"matmul",
       {{"m", "1000000000"}, {"n", "1000000000"}, {"k", "1000000000"}},
       "operands and reserve need 5587935448.3 GiB per HBM stack"},
      {"gpt-oss-120b-decode", {{"batch_per_replica", "536870912"}}, "19180814.3 GiB per HBM stack, has 24.0"},
      {"gpt-oss-120b-prefill",
       {{"batch_per_replica", "536870912"}, {"prompt_tokens", "134217728"}, {"max_context", "1000000000"}},
       "1855426166798.3 GiB per HBM stack, has 24.0"},
      {"attention", {{"context", "1000000000"}}, "operands and reserve need 239.1 GiB per HBM stack"},
      {"attention", {{"batch", "1000000000"}, {"context", "1000000000"}}, "operands and reserve need"},
  });
  for (const Case& c : cases) {
    try {
      test::lowered(test::machine("trn2-48xlarge"), c.workload, c.changes);
      ADD_FAILURE() << c.workload << " accepted";
    } catch (const InfeasibleError& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trnsim
