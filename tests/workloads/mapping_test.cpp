#include "workloads/mapping/mapping.h"

#include "models/mechanism/error.h"
#include "tests/workloads/lowering.h"
#include "workloads/graph/memory.h"

namespace trnsim {
namespace {

template <class Error>
std::string error_of(const std::string& machine, const test::Changes& changes) {
  try {
    test::lowered(test::machine(machine), "gpt-oss-120b-decode", changes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Settings settings(const MachineSpec& machine, const test::Changes& changes) {
  return settings_of(test::workload("gpt-oss-120b-decode", changes), machine);
}

TEST(Mapping, FillsTheMachineAndCountsWhatIsLeft) {
  const MachineSpec gen2 = test::machine("trn3-ultraserver-gen2");
  const Mapping m = map_onto(settings(gen2, {{"tp", "64"}}), gen2);
  EXPECT_EQ(m.dp, 9U);
  EXPECT_EQ(m.idle_cores, 0U);
  const MachineSpec trn2 = test::machine("trn2-ultraserver");
  const Mapping one = map_onto(settings(trn2, {{"tp", "16"}, {"dp", "3"}}), trn2);
  EXPECT_EQ(one.idle_cores, 512U - 3 * 32);
}

TEST(Mapping, CopiesKvHeadsWhenThereAreMoreRanksThanHeads) {
  const MachineSpec gen2 = test::machine("trn3-ultraserver-gen2");
  EXPECT_EQ(map_onto(settings(gen2, {{"tp", "8"}}), gen2).kv_heads, 1U);
  EXPECT_EQ(map_onto(settings(gen2, {{"tp", "32"}}), gen2).kv_heads, 1U);
  EXPECT_EQ(map_onto(settings(gen2, {{"tp", "2"}}), gen2).kv_heads, 4U);
}

TEST(Mapping, DividesTheBatchAndCountsWhatItAdds) {
  const MachineSpec gen2 = test::machine("trn3-ultraserver-gen2");
  const Mapping m = map_onto(settings(gen2, {{"tp", "8"}, {"batch", "100"}}), gen2);
  EXPECT_EQ(m.batch_per_replica, 2U);
  EXPECT_EQ(m.padded_sequences, 44U);
}

TEST(Mapping, SharesExpertsOverReplicasOnlyWhereEpExceedsTp) {
  const MachineSpec gen2 = test::machine("trn3-ultraserver-gen2");
  const Mapping inside = map_onto(settings(gen2, {{"tp", "8"}, {"ep", "4"}}), gen2);
  EXPECT_EQ(inside.group_ranks, 8U);
  EXPECT_EQ(inside.expert_split, 2U);
  EXPECT_EQ(inside.local_experts, 32U);
  const Mapping across = map_onto(settings(gen2, {{"tp", "8"}, {"ep", "64"}}), gen2);
  EXPECT_EQ(across.group_ranks, 64U);
  EXPECT_EQ(across.replicas_per_group(), 8U);
  EXPECT_EQ(across.local_experts, 2U);
  EXPECT_EQ(across.dp, 72U);
}

TEST(Mapping, RefusesDegreesAndNamesValidOnes) {
  EXPECT_EQ(error_of<InfeasibleError>("trn2-ultraserver", {{"tp", "24"}}),
            "tp=24 does not divide the heads; valid: 1, 2, 4, 8, 16, 32, 64");
  EXPECT_EQ(error_of<InfeasibleError>("trn2-ultraserver", {{"ep", "3"}}),
            "ep=3 does not fit 128 experts and tp=16; valid: 1, 2, 4, 8, 16, 32, 64, 128");
  EXPECT_NE(error_of<InfeasibleError>("trn2-ultraserver", {{"dp", "17"}}), "");
  EXPECT_NE(error_of<InfeasibleError>("trn2-ultraserver", {{"precision", "mxfp4_experts"}}), "");
}

TEST(Memory, CountsTheParametersOfTheReleasedModel) {
  const MachineSpec trn2 = test::machine("trn2-ultraserver");
  EXPECT_EQ(count_parameters(settings(trn2, {}).model).total(),
            116'829'156'672U);  // OpenAI gpt-oss model card: 116.83 B
  // The released checkpoint has 60.8 GiB with MXFP4 experts.
  const ParameterCount count = count_parameters(settings(trn2, {}).model);
  const double gib =
      static_cast<double>(storage_bytes(count.expert_matrices, Dtype::kMxfp4) + 2 * count.other) / 1073741824.0;
  EXPECT_NEAR(gib, 60.8, 0.05);
}

TEST(Memory, SaysWhatIsMissingAndWhatWouldFit) {
  EXPECT_EQ(error_of<InfeasibleError>("trn2-ultraserver", {{"tp", "8"}, {"precision", "bf16"}}),
            "weights need 108.8 GiB per chip, has 96.0; precision=fp8_experts fits; smallest tp that fits: 16");
  EXPECT_EQ(error_of<InfeasibleError>("trn2-ultraserver", {{"tp", "8"}, {"precision", "fp8_experts"}}), "");
  const std::string stack =
      error_of<InfeasibleError>("trn2-ultraserver", {{"context", "131072"}, {"batch_per_replica", "256"}});
  EXPECT_NE(stack.find("GiB per HBM stack, has 24.0"), std::string::npos) << stack;
}

// 32 query heads on 24 ranks are two for each, as if there were 48; 8 KV heads are copied to every rank, 32 of them
// padded like the queries.
TEST(Mapping, HeadsThatDoNotDivideArePaddedIfThatIsAskedFor) {
  const MachineSpec machine = test::machine("inf2-48xlarge");
  for (const auto& [kv_heads, of_rank] : {std::pair{"8", 1U}, std::pair{"32", 2U}}) {
    test::Changes changes = {{"tp", "24"}, {"kv_heads", kv_heads}};
    const auto mapped = [&] {
      return map_onto(settings_of(test::workload("llama-3.1-8b-decode", changes), machine), machine);
    };
    EXPECT_THROW(mapped(), InfeasibleError);
    changes.emplace_back("head_padding", "yes");
    const Mapping mapping = mapped();
    EXPECT_EQ(mapping.q_heads, 2U);
    EXPECT_EQ(mapping.kv_heads, of_rank);
    const LoweredWorkload lowered = test::lowered(machine, "llama-3.1-8b-decode", changes);
    test::expect_conserved(lowered);
    EXPECT_GT(lowered.facts.padding_flop, lowered.facts.useful_flop / 100);
  }
}

}  // namespace
}  // namespace trnsim
