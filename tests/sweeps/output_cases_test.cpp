// What results may never hold: numbers that are none, counts that wrapped, negative stalls, two truths.
#include <algorithm>
#include <cmath>
#include <random>

#include "sweeps/evaluate.h"
#include "sweeps/isolated.h"
#include "tests/sweeps/command.h"
#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

/// Whether a cell is "nan", "-inf", "-1" or the like: nothing here can be negative.
bool is_nonsense(std::string cell) {
  std::transform(cell.begin(), cell.end(), cell.begin(), [](unsigned char c) { return std::tolower(c); });
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc::result_out_of_range ||
         (error == std::errc() && end == cell.data() + cell.size() && (!std::isfinite(value) || value < 0));
}

void expect_sense(const Table& table, const std::string& what) {
  for (const auto& cells : table.rows) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      EXPECT_FALSE(is_nonsense(cells[c])) << what << ": " << table.columns[c] << "=" << cells[c];
    }
  }
}

TEST(OutputCases, UndefinedRatiosAreEmptyCells) {
  struct Case {
    const char* workload;
    Assignments settings;
  };
  for (const Case& c : std::vector<Case>{{"matmul", {}},  // no experts, no collectives, one rank
                                         {"matmul", {{"m", "0"}}},
                                         {"attention", {{"batch", "0"}}},
                                         {"gpt-oss-120b-decode", {{"batch", "0"}}},
                                         {"gpt-oss-120b-decode", {{"dp", "1"}, {"batch", "1"}, {"context", "1"}}},
                                         {"gpt-oss-120b-prefill", {{"prompt_tokens", "0"}}}}) {
    const PointRow row = evaluated("trn2-48xlarge", c.workload, c.settings);
    ASSERT_EQ(row.status, Status::kOk) << row.error;
    for (const auto& [metric, value] : row.metrics) {
      EXPECT_FALSE(is_nonsense(value)) << c.workload << ": " << metric << "=" << value;
    }
    for (const Table* table : {&row.engines, &row.operators, &row.links, &row.run}) expect_sense(*table, c.workload);
  }
  EXPECT_TRUE(is_nonsense("nan") && is_nonsense("-NaN") && is_nonsense("inf") && is_nonsense("-1"));
  EXPECT_FALSE(is_nonsense("") || is_nonsense("0") || is_nonsense("1e300") || is_nonsense("tensor"));
}

TEST(OutputCases, StandardOutputIsPointsCsv) {
  const Folder folder;
  const Said said = finish_trnsim(
      folder,
      start_trnsim(folder, "run --platform trn2-48xlarge --workload matmul --format csv --out " + folder.path("r")));
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(folder.read("r/points.csv"), said.out);
}

TEST(OutputCases, CountsStayBelow2To63AndEnergyPerMacIsPlausible) {
  for (const char* dtype : {"fp32", "bf16", "fp8"}) {
    const PointRow row = evaluated("trn2-48xlarge", "matmul", {{"dtype", dtype}});
    ASSERT_EQ(row.status, Status::kOk) << row.error;
    for (const auto& [metric, value] : row.metrics) {
      const double number = number_of(row, metric);
      if (metric == "bottleneck" || metric == "peak_dtype") continue;
      EXPECT_GE(number, 0) << metric << "=" << value;
      EXPECT_LT(number, 0x1p63) << metric << "=" << value;
    }
    const double pj = number_of(row, "energy_tensor_j") / number_of(row, "issued_macs") * 1e12;
    EXPECT_GT(pj, 0.01) << dtype;
    EXPECT_LT(pj, 100) << dtype;
  }
}

/// One chip of a Trn2, other sizes of its buffers and arrays: "" if its accounts add up, else what is wrong.
std::string account_of(MachineSpec machine, const Assignments& shape) {
  std::vector<WorkloadOverride> overrides;
  for (const auto& [name, value] : shape) overrides.push_back({name, value, "test"});
  const LoweredWorkload lowered = lower(load_workload("matmul", overrides, data_folder()), machine, 1);
  const RunRecord record = simulate(machine, lowered.job, {});
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    const TimeAccount& account = record.engines[e].sum;
    const bool negative = account.busy < Time() || account.idle < Time() ||
                          std::any_of(account.stall.begin(), account.stall.end(), [](Time t) { return t < Time(); });
    if (negative) return std::string(kEngineNames[e]) + " has negative time";
    if (account.total() != record.elapsed * static_cast<std::int64_t>(machine.cores())) {
      return std::string(kEngineNames[e]) + " does not add up";
    }
  }
  return "";
}

TEST(OutputCases, StallsOfAThousandRandomShapesAreNeverNegativeAndAddUp) {
  MachineSpec chip = load_platform("trn2-48xlarge").machine;
  chip.chips = 1;
  chip.fabric.kind = FabricKind::kNone;
  std::mt19937 random(20'240'604);  // NOLINT: the same thousand every time
  int infeasible = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto size = [&] { return std::to_string(random() % (1U << random() % 13)); };
    const Assignments shape = {{"m", size()}, {"n", size()}, {"k", size()}, {"lnc", i % 2 == 0 ? "1" : "2"}};
    MachineSpec machine = chip;
    machine.core.sbuf_per_partition = Bytes(16'384 + random() % 300'000);
    machine.core.psum_per_partition = Bytes(2'048 << random() % 5);
    machine.hbm.bandwidth = BytesPerSecond(1'000'000'000 + random() % 2'000 * 1'000'000'000ULL);
    const Outcome outcome = run_isolated([&] { return account_of(machine, shape); });
    infeasible += outcome.end == Outcome::End::kInfeasible ? 1 : 0;
    if (outcome.end == Outcome::End::kInfeasible) continue;
    EXPECT_EQ(outcome.end, Outcome::End::kReturned) << shape[0].second << " " << outcome.text;
    EXPECT_EQ(outcome.text, "") << "m=" << shape[0].second << " n=" << shape[1].second << " k=" << shape[2].second;
  }
  EXPECT_LT(infeasible, 300);
}

TEST(OutputCases, EveryShippedWorkloadRunsAsItIs) {
  for (const std::string& workload : workload_names(data_folder())) {
    const PointRow row = evaluated("trn2-48xlarge", workload, {});
    EXPECT_EQ(row.status, Status::kOk) << workload << ": " << row.error;
  }
}

TEST(OutputCases, EveryShippedPlatformRunsAStep) {
  for (const std::string& platform : platform_names()) {
    Assignments step = {{"batch_per_replica", "1"}, {"context", "128"}, {"tp", "16"}};
    const MachineSpec machine = load_platform(platform).machine;
    const Bytes memory(machine.chips * machine.hbm.stacks * machine.hbm.capacity.count());
    const Bytes whole_model(256ULL << 30);  // its BF16 weights and room to work
    if (memory < whole_model) step = {{"batch_per_replica", "1"}, {"context", "128"}, {"tp", "2"}, {"layers", "2"}};
    const PointRow row = evaluated(platform, "gpt-oss-120b-decode", step);
    EXPECT_EQ(row.status, Status::kOk) << platform << ": " << row.error;
  }
}

TEST(OutputCases, AModelThatOneChipDoesNotHoldIsInfeasibleAndSaysWhy) {
  for (const char* platform : {"trn1-2xlarge", "inf2-xlarge", "trn2-3xlarge"}) {
    const PointRow row = evaluated(platform, "gpt-oss-120b-decode", {{"tp", "2"}});
    EXPECT_EQ(row.status, Status::kInfeasible) << platform;
    EXPECT_TRUE(row.error.starts_with("weights need ")) << row.error;
    EXPECT_TRUE(row.error.ends_with("; no tp fits")) << row.error;
  }
}

}  // namespace
}  // namespace trnsim
