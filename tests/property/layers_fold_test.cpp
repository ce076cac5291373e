// Models whose layers are alike, folded in time, against the same with every layer simulated.
#include <ostream>

#include "tests/property/rows.h"

namespace trnsim {
namespace {

struct Case {
  const char* name;
  const char* platform;
  const char* tp;
  const char* workload;
  Assignments settings;
  bool exact;
};

/// What GoogleTest calls a case; without it, the bytes of its pointers.
void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.name;
}

constexpr const char* kDecode = "gpt-oss-120b-decode";
constexpr const char* kPrefill = "gpt-oss-120b-prefill";

Assignments decode(const char* batch, const char* context) {
  return {{"batch_per_replica", batch}, {"context", context}};
}

/// A model that fits one chip.
Assignments small(Assignments settings) {
  settings.insert(settings.end(), {{"experts", "32"}, {"dp", "1"}});
  return settings;
}

class LayersFold : public testing::TestWithParam<Case> {};

TEST_P(LayersFold, IsFlatOrWithinItsBound) {
  Assignments settings = GetParam().settings;
  settings.emplace_back("tp", GetParam().tp);
  layers_fold(GetParam().platform, GetParam().workload, settings, GetParam().exact);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, LayersFold,
    testing::Values(Case{"Trn1Decode", "trn1-32xlarge", "16", kDecode, decode("8", "8192"), true},
                    Case{"Trn1DecodeOfMany", "trn1-32xlarge", "16", kDecode, decode("32", "4096"), true},
                    Case{"Trn1Prefill", "trn1-32xlarge", "16", kPrefill, {}, true},
                    Case{"Trn2Decode", "trn2-48xlarge", "16", kDecode, decode("8", "8192"), false},
                    Case{"Trn2DecodeInPhase", "trn2-48xlarge", "16", kDecode, decode("1", "1024"), true},
                    Case{"Trn2DecodeOfMany", "trn2-48xlarge", "16", kDecode, decode("32", "4096"), false},
                    Case{"Trn2Prefill", "trn2-48xlarge", "16", kPrefill, {{"prompt_tokens", "2048"}}, true},
                    Case{"Trn3Decode", "trn3-ultraserver-gen2", "8", kDecode, decode("8", "8192"), false},
                    Case{"Trn3DecodeInPhase", "trn3-ultraserver-gen2", "8", kDecode, decode("2", "16384"), true},
                    Case{"Trn3DecodeOfMany", "trn3-ultraserver-gen2", "8", kDecode, decode("32", "4096"), false},
                    Case{"Trn3Prefill", "trn3-ultraserver-gen2", "8", kPrefill, {}, false},
                    Case{"Trn2ChipDecode", "trn2-3xlarge", "4", kDecode, small(decode("8", "4096")), false},
                    Case{"Trn2ChipDecodeInPhase", "trn2-3xlarge", "4", kDecode, small(decode("1", "1024")), true},
                    Case{"Trn2ChipPrefill", "trn2-3xlarge", "4", kPrefill, small({{"prompt_tokens", "1024"}}), true}),
    [](const testing::TestParamInfo<Case>& tested) { return tested.param.name; });

}  // namespace
}  // namespace trnsim
