#include "workloads/kernels/kernels.h"

#include <functional>

#include "models/mechanism/error.h"
#include "tests/workloads/kernel_writing.h"

namespace trnsim {
namespace {

using test::expect_legal;
using Lowered = test::WrittenKernel;

Lowered write(const MachineSpec& machine, const std::function<void(KernelWriter&)>& kernel) {
  return test::written(machine, kernel);
}

struct Kernel {
  const char* name;
  std::function<void(KernelWriter&)> write;
};

std::vector<Kernel> all_kernels() {
  return {
      {"rms_norm", [](KernelWriter& w) { rms_norm(w, 2880, 700, {}); }},
      {"projection", [](KernelWriter& w) { project(w, {.contraction = 2880, .columns = 5120, .tokens = 600}, {}); }},
      {"rope", [](KernelWriter& w) { rope(w, 640, 8, {}); }},
      {"attention_decode",
       [](KernelWriter& w) {
         attention_decode(w, {.sequences = 5, .q_heads = 8, .kv_heads = 1, .head_dim = 64, .keys = 3001, .written = 5},
                          {});
       }},
      {"attention_prefill",
       [](KernelWriter& w) {
         attention_prefill(
             w, {.sequences = 2, .q_heads = 8, .kv_heads = 2, .head_dim = 64, .queries = 999, .keys = 999}, {});
       }},
      {"router",
       [](KernelWriter& w) {
         router(w, {2880, 128, 4, 65}, {});
       }},
      {"lm_head", [](KernelWriter& w) { lm_head(w, 2880, 12568, 8, {}); }},
      {"matmul",
       [](KernelWriter& w) {
         matmul_kernel(w, {1000, 2000, 3000, Dtype::kBf16});
       }},
      {"matmul fp8",
       [](KernelWriter& w) {
         matmul_kernel(w, {1000, 2000, 3000, Dtype::kFp8});
       }},
  };
}

TEST(Kernels, LowerForAnInventedChipWithOtherSizes) {
  const MachineSpec machine = test::invented_machine();
  for (const Kernel& kernel : all_kernels()) {
    SCOPED_TRACE(kernel.name);
    const Lowered l = write(machine, kernel.write);
    EXPECT_LE(l.program->sbuf_per_partition, machine.core.sbuf_per_partition);
    EXPECT_LE(l.program->psum_per_partition, machine.core.psum_per_partition);
    EXPECT_GT(l.count.instructions, 0U);
    expect_legal(machine, l.job);
  }
}

TEST(Kernels, LowerForTheRealCores) {
  for (const char* name : {"trn2-48xlarge", "trn3-ultraserver-gen2"}) {
    const MachineSpec machine = test::machine(name);
    for (const Kernel& kernel : all_kernels()) {
      SCOPED_TRACE(kernel.name);
      expect_legal(machine, write(machine, kernel.write).job);
    }
  }
}

TEST(Kernels, WholeModelLowersForTheInventedChip) {
  const MachineSpec machine = test::invented_machine();
  for (const test::Changes& changes :
       {test::Changes{{"tp", "16"}, {"batch_per_replica", "7"}}, test::Changes{{"tp", "16"}, {"ep", "16"}},
        test::Changes{{"tp", "8"}, {"ep", "32"}, {"batch_per_replica", "40"}, {"precision", "mxfp4_experts"}}}) {
    const LoweredWorkload l = test::lowered(machine, "gpt-oss-120b-decode", changes);
    test::expect_conserved(l);
    test::expect_runs(l);
    Job group;
    for (const CoreId core : l.job.replicas[0].cores) group.cores.push_back(l.job.cores[core.index()]);
    expect_legal(machine, group);
  }
  const LoweredWorkload prefill =
      test::lowered(machine, "gpt-oss-120b-prefill", {{"tp", "16"}, {"prompt_tokens", "700"}});
  test::expect_conserved(prefill);
  test::expect_runs(prefill);
}

TEST(Kernels, EverySingleKernelLowersForTheInventedChip) {
  const MachineSpec machine = test::invented_machine();
  const std::pair<const char*, test::Changes> kernels[] = {
      {"scan", {{"channels", "300"}}},
      {"scan", {{"channels", "300"}, {"schedule", "chunk_outer"}}},
      {"scan", {{"channels", "300"}, {"schedule", "state_outer"}}},
      {"scan", {{"channels", "200"}, {"schedule", "channel_outer"}, {"sequence", "12000"}}},
      {"scan", {{"channels", "200"}, {"schedule", "channel_outer_chunked"}}},
      {"conv1d", {{"sequence", "50"}}},
      {"conv1d", {{"sequence", "50"}, {"schedule", "whole_resident"}}},
      {"elementwise", {{"m", "500"}}},
      {"rope", {{"tokens", "300"}}},
      {"rms_norm", {{"result_dtype", "fp8"}, {"tokens", "200"}}},
      {"softmax", {{"m", "200"}}},
      {"softmax", {{"m", "200"}, {"schedule", "three_passes"}}},
      {"router", {}},
      {"projection", {{"tokens", "500"}}},
      {"moe", {}},
      {"mlp", {{"stored_dtype", "fp32"}, {"layers", "2"}}},
      {"mlp", {{"activation", "swiglu"}, {"dtype", "fp32"}}},
      {"mlp", {{"schedule", "blocked"}, {"widths", "512x256"}, {"bias", "yes"}}},
      {"transformer_block", {{"tokens", "500"}, {"head_dim", "64"}}},
  };
  for (const auto& [name, changes] : kernels) {
    SCOPED_TRACE(name);
    const LoweredWorkload l = test::lowered(machine, name, changes);
    test::expect_conserved(l);
    test::expect_runs(l);
    Job group;
    for (const CoreId core : l.job.replicas[0].cores) group.cores.push_back(l.job.cores[core.index()]);
    expect_legal(machine, group);
  }
}

TEST(Kernels, TooFewPsumBanksOrDmaQueuesDoNotFit) {
  MachineSpec few_banks = test::machine("trn2-48xlarge");
  few_banks.core.psum_banks = 2;
  EXPECT_THROW((void)test::lowered(few_banks, "matmul"), InfeasibleError);
  MachineSpec few_queues = test::machine("trn2-48xlarge");
  few_queues.dma.queues_per_engine = 1;
  EXPECT_THROW((void)test::lowered(few_queues, "matmul"), InfeasibleError);
}

TEST(Kernels, NothingToDoEmitsNothing) {
  const MachineSpec machine = test::machine("trn2-48xlarge");
  const Lowered l = write(machine, [](KernelWriter& w) {
    rms_norm(w, 2880, 0, {});
    project(w, {.contraction = 2880, .columns = 640, .tokens = 0}, {});
    attention_decode(w, {.sequences = 0, .q_heads = 8, .kv_heads = 1, .head_dim = 64, .keys = 100}, {});
    attention_prefill(w, {.sequences = 0, .q_heads = 8, .kv_heads = 1, .head_dim = 64}, {});
    lm_head(w, 2880, 100, 0, {});
    matmul_kernel(w, {0, 5, 5, Dtype::kBf16});
  });
  EXPECT_EQ(l.count.instructions, 0U);
}

TEST(Kernels, ProjectionReadsEachWeightOnceAndIssuesItsTiles) {
  const Lowered l = write(test::machine("trn2-48xlarge"), [](KernelWriter& w) {
    project(w, {.contraction = 2880, .columns = 640, .tokens = 10, .bias = false}, {});
  });
  EXPECT_EQ(l.count.bytes[static_cast<std::size_t>(Traffic::kWeights)], 2880U * 640 * 2);
  // 2880 rows make 23 passes of 128; the last is half empty.
  EXPECT_EQ(l.count.macs[static_cast<std::size_t>(Dtype::kBf16)], 23U * 128 * 640 * 10);
}

TEST(Kernels, DescriptorsAreLargeAndWithinTheLimit) {
  const MachineSpec machine = test::machine("trn2-48xlarge");
  write(machine, [&](KernelWriter& w) {
    EXPECT_EQ(w.descriptors(0), 0U);
    EXPECT_EQ(w.descriptors(100), 1U);
    EXPECT_EQ(w.descriptors(128 * 2048), 128U);
    const std::uint64_t large = 128ULL * 100'000;
    EXPECT_GE(w.descriptors(large) * machine.dma.max_descriptor.count(), large);
  });
}

}  // namespace
}  // namespace trnsim
