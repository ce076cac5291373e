// Attention by published schedules issues the matmuls and transposes that its authors' sources and profiles count.
#include "models/mechanism/error.h"
#include "tests/workloads/lowering.h"

namespace trnsim {
namespace {

struct Published {
  const char* platform;
  test::Changes changes;
  std::size_t tensor_instructions;  ///< matmuls and transposes; FP32 passes are the hardware's
};

std::vector<Published> all() {
  const auto one_head = [](const char* schedule, const char* tokens, const char* head_dim, const char* dtype) {
    test::Changes changes = {{"schedule", schedule}, {"query_tokens", tokens}, {"context", tokens}, {"lnc", "1"},
                             {"head_dim", head_dim}, {"q_heads", "1"},         {"causal", "no"}};
    // Kernels row by row keep the weights as they are.
    if (!std::string(schedule).starts_with("rowwise")) changes.emplace_back("softmax_dtype", dtype);
    return changes;
  };
  return {
      {"trn2-3xlarge", one_head("three_phases", "1024", "128", "fp32"), 8 + 16 + 64 + 64},
      {"trn2-3xlarge", one_head("fused", "512", "128", "fp32"), 4 + 4 + 16 + 16},
      {"trn1-2xlarge", one_head("hbm_passes", "4096", "128", "fp32"), 32 + 256 + 1024 + 1024},
      {"trn1-2xlarge", one_head("hbm_passes_fused_sum", "4096", "128", "fp32"), 32 + 256 + 1024 + 1024},
      {"trn1-2xlarge", one_head("recompute", "4096", "128", "fp32"), 3 * 256 + 2 * 1024 + 1024},
      {"trn1-2xlarge", one_head("recompute_fused_sum", "4096", "128", "bf16"), 3 * 256 + 2 * 1024 + 1024},
      {"trn1-2xlarge", one_head("single_max", "4096", "128", "bf16"), 32 + 8 + 256 + 1024 + 1024},
      {"trn1-2xlarge", one_head("rowwise", "4096", "64", "fp32"), 3 * 1024 + 32},
      {"trn1-2xlarge", one_head("rowwise_fused_sum", "4096", "64", "fp32"), 3 * 1024},
      {"trn1-2xlarge", one_head("rowwise_delayed_division", "4096", "64", "bf16"), 3 * 1024},
      {"trn2-3xlarge", one_head("flash", "4096", "128", "bf16"), 32 * 8 * (1 + 4)},
      {"trn2-3xlarge", one_head("flash", "4096", "256", "bf16"), 32 * 8 * (2 + 4)},
      {"trn1-2xlarge",
       {{"schedule", "spilled_scores"},
        {"q_heads", "16"},
        {"kv_heads", "8"},
        {"head_dim", "128"},
        {"causal", "no"},
        {"dtype", "fp32"},
        {"softmax_dtype", "fp32"}},
       4096 + 16384 + 17152},
      {"trn3-3xlarge",
       {{"schedule", "fused_block"},
        {"hidden", "2048"},
        {"head_dim", "128"},
        {"query_tokens", "1"},
        {"context", "641"},
        {"lnc", "1"}},
       210 + 39},
  };
}

TEST(AttentionSchedules, IssueThePublishedMatmulsAndTransposes) {
  for (const Published& published : all()) {
    SCOPED_TRACE(published.changes.front().second);
    const LoweredWorkload lowered = test::lowered(test::machine(published.platform), "attention", published.changes);
    test::expect_runs(lowered);
    test::expect_conserved(lowered);
    std::size_t issued = 0;
    for (const Instruction& i : lowered.job.cores.front().program->segments.front().instructions[0]) {
      issued += i.op == Op::kMatmul || i.op == Op::kTranspose ? 1U : 0U;
    }
    EXPECT_EQ(issued, published.tensor_instructions);
  }
}

TEST(AttentionSchedules, RefuseWhatTheyDoNotTake) {
  const MachineSpec machine = test::machine("trn2-3xlarge");
  const auto lowered = [&](const test::Changes& changes) { (void)test::lowered(machine, "attention", changes); };
  EXPECT_THROW(lowered({{"schedule", "nonsense"}}), InputError);
  EXPECT_THROW(lowered({{"dtype", "fp32"}}), InputError);  // the kernel of whole models is BF16
  EXPECT_THROW(lowered({{"head_dim", "256"}}), InfeasibleError);
  EXPECT_THROW(lowered({{"schedule", "fused"}}), InfeasibleError);  // causal
  EXPECT_THROW(lowered({{"schedule", "fused"}, {"causal", "no"}, {"query_tokens", "1000"}}), InfeasibleError);
  EXPECT_THROW(lowered({{"schedule", "flash"}, {"exponential_engine", "vector"}}), InfeasibleError);
  EXPECT_THROW(lowered({{"schedule", "fused_block"}}), InfeasibleError);
  EXPECT_THROW((void)test::lowered(machine, "fused_attention", {{"projection_dtype", "mxfp8"}}), InfeasibleError);
}

TEST(FusedAttention, MovesWhatItsClosedFormsSay) {
  for (const char* platform : {"trn2-3xlarge", "trn3-3xlarge"}) {
    for (const char* transposes : {"dma", "tensor"}) {
      for (const char* dtype : {"bf16", "fp8"}) {
        const LoweredWorkload lowered =
            test::lowered(test::machine(platform), "fused_attention",
                          {{"projection_dtype", dtype}, {"transpose_engine", transposes}, {"query_tokens", "1500"}});
        test::expect_runs(lowered);
        test::expect_conserved(lowered);
      }
    }
  }
}

}  // namespace
}  // namespace trnsim
