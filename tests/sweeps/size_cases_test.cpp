// Sizes of zero and one, and core counts that divide nothing.
#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

constexpr const char* kDecode = "gpt-oss-120b-decode";
constexpr const char* kPrefill = "gpt-oss-120b-prefill";

struct Case {
  const char* workload;
  Assignments settings;
};

TEST(SizeCases, NothingToDoTakesTheTimeOfAnEmptyProgramAndMovesNothing) {
  const std::vector<Case> cases = {
      {"matmul", {{"m", "0"}}},
      {"matmul", {{"n", "0"}}},
      {"matmul", {{"k", "0"}, {"n", "0"}}},
      {"attention", {{"batch", "0"}}},
      {"attention", {{"query_tokens", "0"}}},
      {"attention", {{"query_tokens", "0"}, {"context", "0"}}},
      {kDecode, {{"batch_per_replica", "0"}}},
      {kDecode, {{"batch", "0"}}},
      {kPrefill, {{"batch_per_replica", "0"}}},
      {kPrefill, {{"prompt_tokens", "0"}}},
  };
  for (const Case& c : cases) {
    const PointRow row = evaluated("trn2-48xlarge", c.workload, c.settings);
    const std::string what = std::string(c.workload) + " " + c.settings[0].first;
    ASSERT_EQ(row.status, Status::kOk) << what << ": " << row.error;
    EXPECT_GT(number_of(row, "latency_us"), 0) << what;
    EXPECT_LT(number_of(row, "latency_us"), 10) << what;
    for (const char* zero : {"useful_flop", "issued_macs", "weight_bytes", "kv_read_bytes", "kv_write_bytes",
                             "bytes_sent", "energy_link_j", "energy_hbm_j", "energy_tensor_j"}) {
      EXPECT_EQ(number_of(row, zero), 0) << what << ": " << zero;
    }
    EXPECT_EQ(row.metrics.at("bottleneck"), "") << what;
  }
}

TEST(SizeCases, OneOfEverythingRuns) {
  const std::vector<Case> cases = {
      {"matmul", {{"m", "1"}, {"n", "1"}, {"k", "1"}}},
      {"attention", {{"query_tokens", "1"}, {"context", "1"}, {"q_heads", "1"}, {"head_dim", "1"}}},
      {"attention", {{"query_tokens", "2"}, {"context", "2"}, {"q_heads", "1"}, {"head_dim", "1"}}},
      {kDecode, {{"batch_per_replica", "1"}, {"context", "1"}}},
      {kDecode, {{"batch", "1"}, {"dp", "1"}, {"context", "1"}}},
      {kPrefill, {{"batch_per_replica", "1"}, {"prompt_tokens", "1"}}},
  };
  for (const Case& c : cases) {
    const PointRow row = evaluated("trn2-48xlarge", c.workload, c.settings);
    ASSERT_EQ(row.status, Status::kOk) << c.workload << ": " << row.error;
    EXPECT_GT(number_of(row, "useful_flop"), 0) << c.workload;
    EXPECT_GE(number_of(row, "latency_us"), number_of(row, "roofline_us")) << c.workload;
  }
}

TEST(SizeCases, CoreCountsThatDivideNothingLeaveRemaindersNotFaults) {
  struct Cores {
    const char* per_chip;
    const char* stacks;
    double idle;  ///< of 16 chips, with as many replicas of 16 cores as fit
  };
  for (const Cores& c : {Cores{"1", "1", 0}, Cores{"3", "1", 0}, Cores{"5", "5", 0}, Cores{"12", "4", 0},
                         Cores{"16", "4", 0}, Cores{"32", "4", 0}}) {
    const Assignments chip = {{"chip.cores", c.per_chip},
                              {"chip.hbm.stacks", c.stacks},
                              {"chip.hbm.stack_capacity", "512GiB"},
                              {"machine.lnc", "1"}};
    Assignments matmul = chip;
    matmul.insert(matmul.end(), {{"m", "101"}, {"n", "333"}, {"k", "77"}});
    const PointRow kernel = evaluated("trn2-48xlarge", "matmul", matmul);
    EXPECT_EQ(kernel.status, Status::kOk) << c.per_chip << " cores: " << kernel.error;
    Assignments decode = chip;
    decode.insert(decode.end(), {{"tp", "16"}, {"batch", "7"}, {"context", "130"}});
    const PointRow model = evaluated("trn2-48xlarge", kDecode, decode);
    EXPECT_EQ(model.status, Status::kOk) << c.per_chip << " cores: " << model.error;
    EXPECT_EQ(number_of(model, "idle_cores"), c.idle) << c.per_chip << " cores";
    EXPECT_EQ(number_of(model, "batch"), 7) << c.per_chip << " cores";
    EXPECT_EQ(number_of(model, "batch") + number_of(model, "padded_sequences"),
              number_of(model, "batch_per_replica") * number_of(model, "dp"))
        << c.per_chip << " cores";
  }
}

TEST(SizeCases, CoresThatNoReplicaFillsAreIdleAndCounted) {
  const PointRow row = evaluated("trn2-48xlarge", kDecode,
                                 {{"chip.cores", "3"},
                                  {"chip.hbm.stacks", "1"},
                                  {"chip.hbm.stack_capacity", "512GiB"},
                                  {"machine.lnc", "1"},
                                  {"tp", "32"},
                                  {"context", "130"}});
  ASSERT_EQ(row.status, Status::kOk) << row.error;
  EXPECT_EQ(number_of(row, "idle_cores"), 16);  // 48 cores, one replica of 32
}

}  // namespace
}  // namespace trnsim
