#include "workloads/graph/flop.h"

#include <array>

#include "tests/workloads/models/config_files.h"

namespace trnsim {
namespace {

ModelShape shipped(const std::string& name) {
  return test::shape_of(TRNSIM_ROOT "/workloads/models/" + name + ".csv");
}

/// FLOPs of one layer, worked out by hand from published dimensions: `qkv` of a latent model is all that comes before
/// attention but for the indexer.
struct Layer {
  const char* model;
  LayerKind kind;
  LatentForm form;
  std::uint64_t tokens;
  Pairs pairs;
  std::array<std::uint64_t, 6> attention;     ///< qkv, latent, indexer, scores, values, output
  std::array<std::uint64_t, 4> feed_forward;  ///< router, experts, shared, dense
};

constexpr LayerKind kLatentExperts{AttentionKind::kLatent, FfnKind::kExperts};
constexpr LayerKind kFullDense{AttentionKind::kFull, FfnKind::kDense};

const std::array kLayers = std::to_array<Layer>({
    {"llama-3.1-70b",
     kFullDense,
     LatentForm::kAbsorbed,
     8192,
     {33558528, 0},
     {1374389534720, 0, 0, 549822922752, 549822922752, 1099511627776},
     {0, 0, 0, 11544872091648}},
    {"llama-3.1-70b",
     kFullDense,
     LatentForm::kAbsorbed,
     64,
     {524288, 0},
     {10737418240, 0, 0, 8589934592, 8589934592, 8589934592},
     {0, 0, 0, 90194313216}},
    {"deepseek-v3",
     kLatentExperts,
     LatentForm::kExpanded,
     4096,
     {8390656, 0},
     {433254825984, 137438953472, 0, 412417523712, 274945015808, 962072674304},
     {15032385536, 2886218022912, 360777252864, 0}},
    {"deepseek-v3",
     kLatentExperts,
     LatentForm::kAbsorbed,
     64,
     {524288, 0},
     {6769606656, 2147483648, 0, 77309411328, 68719476736, 15032385536},
     {234881024, 45097156608, 5637144576, 0}},
    {"deepseek-v3.2",
     kLatentExperts,
     LatentForm::kAbsorbed,
     1,
     {2048, 131072},
     {105775104, 33554432, 2175401984, 301989888, 268435456, 234881024},
     {3670016, 704643072, 88080384, 0}},
    {"deepseek-v3.2",
     kLatentExperts,
     LatentForm::kAbsorbed,
     64,
     {131072, 2097152},
     {6769606656, 2147483648, 36146511872, 19327352832, 17179869184, 15032385536},
     {234881024, 45097156608, 5637144576, 0}},
    {"deepseek-v3.2",
     kLatentExperts,
     LatentForm::kAbsorbed,
     32768,
     {65012736, 536887296},
     {3466038607872, 1099511627776, 9711189491712, 9586517999616, 8521349332992, 7696581394432},
     {120259084288, 23089744183296, 2886218022912, 0}},
});

TEST(Flop, OfALayerAreThoseOfItsOperators) {
  for (const Layer& l : kLayers) {
    const LayerFlop flop = layer_flop(shipped(l.model), l.kind, l.tokens, l.pairs, l.form);
    const std::array<Wide, 6> attention = {flop.qkv, flop.latent, flop.indexer, flop.scores, flop.values, flop.output};
    const std::array<Wide, 4> feed_forward = {flop.router, flop.experts, flop.shared, flop.dense};
    for (std::size_t i = 0; i < attention.size(); ++i)
      EXPECT_EQ(static_cast<std::uint64_t>(attention[i]), l.attention[i]) << l.model << " " << l.tokens << " " << i;
    for (std::size_t i = 0; i < feed_forward.size(); ++i)
      EXPECT_EQ(static_cast<std::uint64_t>(feed_forward[i]), l.feed_forward[i])
          << l.model << " " << l.tokens << " " << i;
  }
}

TEST(Flop, PairsOfASparsePrefillAreBoundedByTheTokensKept) {
  EXPECT_TRUE(causal_pairs(32768, 0) == 536887296);
  EXPECT_TRUE(causal_pairs(32768, 2048) == 65012736);
}

// The output matrix meets the last token of a prompt, but every token of as many decode steps.
TEST(Flop, APrefillHasTheLayerFlopOfAsManyDecodeSteps) {
  constexpr std::uint64_t kTokens = 2500;  // more than the window of gpt-oss and the rows that an indexer keeps
  for (const char* name :
       {"gpt-oss-120b", "llama-3.1-8b", "deepseek-v3", "deepseek-v3.2", "mixtral-8x7b", "gpt-neox-20b"}) {
    const ModelShape model = shipped(name);
    const Wide head = Wide(2) * model.vocabulary * model.hidden;
    Wide steps = 0;
    for (std::uint64_t context = 1; context <= kTokens; ++context) steps += decode_flop(model, 1, context) - head;
    EXPECT_TRUE(prefill_flop(model, 1, kTokens, LatentForm::kAbsorbed) - head == steps) << name;
  }
}

}  // namespace
}  // namespace trnsim
