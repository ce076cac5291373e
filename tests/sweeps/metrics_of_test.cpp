#include "sweeps/metrics_of.h"

#include <gtest/gtest.h>

#include "models/mechanism/error.h"
#include "results/series.h"
#include "results/writer.h"
#include "sweeps/isolated.h"
#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

/// One small machine-wide decode step, evaluated once per test.
PointRow decode_row() {
  Point point;
  point.id = "1";
  point.platform = "trn2-48xlarge";
  point.workload = "gpt-oss-120b-decode";
  point.workload_overrides = {{"context", "1024", "test"}, {"batch_per_replica", "2", "test"}};
  const Outcome outcome = run_isolated([&] { return serialize(evaluate(point)); });
  EXPECT_EQ(outcome.end, Outcome::End::kReturned) << outcome.text;
  return outcome.end == Outcome::End::kReturned ? deserialize(outcome.text) : PointRow();
}

TEST(Metrics, FollowTheirFormulas) {
  const PointRow row = decode_row();
  const auto m = [&](const char* name) { return metric(row, name); };
  EXPECT_DOUBLE_EQ(m("tpot_us"), m("latency_us"));
  EXPECT_NEAR(m("tokens_per_s"), m("batch") / (m("tpot_us") * 1e-6), 1e-9 * m("tokens_per_s"));
  EXPECT_NEAR(m("tokens_per_s_per_user"), m("tokens_per_s") / m("batch"), 1e-9 * m("tokens_per_s_per_user"));
  EXPECT_NEAR(m("sustained_pflops"), m("useful_flop") / (m("latency_us") * 1e-6) / 1e15, 1e-9);
  EXPECT_NEAR(m("sustained_over_peak"), m("sustained_pflops") / m("peak_pflops"), 1e-9);
  EXPECT_NEAR(m("tokens_per_s_per_mw"), m("tokens_per_s") / (m("it_power_kw") / 1000), 1e-9 * m("tokens_per_s_per_mw"));
  EXPECT_NEAR(m("energy_per_token_j"), m("it_power_kw") * 1000 / m("tokens_per_s"), 1e-9);
  const double joules = m("energy_tensor_j") + m("energy_vector_j") + m("energy_sbuf_j") + m("energy_psum_j") +
                        m("energy_hbm_j") + m("energy_link_j") + m("energy_static_j");
  EXPECT_NEAR(m("chip_power_w"), joules / (m("latency_us") * 1e-6) / 16, 1e-6 * m("chip_power_w"));  // 16 chips
  EXPECT_GE(m("latency_us"), m("roofline_us"));
  EXPECT_LT(m("it_power_kw"), m("utility_power_kw"));
  for (const char* share : {"tensor_utilization", "vector_utilization", "hbm_utilization", "dma_utilization",
                            "link_utilization", "sustained_over_peak"}) {
    EXPECT_GT(m(share), 0) << share;
    EXPECT_LE(m(share), 1) << share;
  }
}

TEST(Metrics, IdleCoresDoNotDiluteUtilization) {
  const PointRow row = evaluated("trn2-48xlarge", "matmul", {{"m", "2048"}, {"n", "2048"}, {"k", "2048"}});
  EXPECT_EQ(number_of(row, "idle_cores"), 126);
  EXPECT_GT(number_of(row, "tensor_utilization"), 0.5);
  EXPECT_GT(number_of(row, "hbm_utilization"), 0.05);
}

TEST(Metrics, TheRooflineHoldsForACoreThatIsMadeFaster) {
  const PointRow row = evaluated("trn2-48xlarge", "matmul",
                                 {{"lnc", "1"},
                                  {"m", "8192"},
                                  {"n", "1024"},
                                  {"k", "1024"},
                                  {"core[0].clock_scale", "1000"},
                                  {"dma.engine_bandwidth", "1000TB/s"},
                                  {"chip.hbm.stack_bandwidth", "1000TB/s"}});
  EXPECT_EQ(row.status, Status::kOk) << row.error;
}

TEST(Metrics, TheRooflineCountsEveryChipThatAGroupIsOn) {
  for (const char* groups : {"0,4,8,12", "4,8,12,16;0-3"}) {
    const PointRow row = evaluated("trn2-48xlarge", "all_reduce", {{"bytes", "64MiB"}, {"groups", groups}});
    EXPECT_EQ(row.status, Status::kOk) << groups << ": " << row.error;
  }
}

TEST(Metrics, NameTheAlgorithmsThatGroupsTookInOrderOfAppearance) {
  const auto algorithm = [](const char* bytes, const char* groups) {
    PointRow row = evaluated("trn2-48xlarge", "all_reduce", {{"bytes", bytes}, {"groups", groups}});
    return row.metrics["algorithm"];
  };
  EXPECT_EQ(algorithm("4KiB", "0-3"), "mesh");
  EXPECT_EQ(algorithm("64MiB", "0-3;4-7"), "kangaring");
  EXPECT_EQ(algorithm("64MiB", "0-2,4;8-11;5-7,12"), "ring;kangaring");
  EXPECT_EQ(evaluated("trn2-3xlarge", "dma_copy", {{"bytes", "4KiB"}}).metrics.count("algorithm"), 0U);
}

TEST(Metrics, EveryEngineHasItsTimeAccountedFor) {
  const PointRow row = decode_row();
  const double elapsed = metric(row, "latency_us") * 16 * 8;  // 16 chips of 8 cores
  std::size_t engines = 0;
  for (const auto& cells : row.engines.rows) {
    if (cells[0] == "dma_queues") continue;
    double sum = 0;
    for (std::size_t c = 1; c < cells.size() && row.engines.columns[c] != "utilization"; ++c)
      sum += std::stod(cells[c]);
    EXPECT_NEAR(sum, elapsed, 1e-6 * elapsed) << cells[0];
    ++engines;
  }
  EXPECT_EQ(engines, kEngineCount);
}

TEST(Metrics, TheHashFollowsEveryInput) {
  Point point;
  point.platform = "trn2-48xlarge";
  point.workload = "matmul";
  const auto hash = [](const Point& p) { return failed_row(p, Status::kCrashed, "").input_hash; };
  const std::string base = hash(point);
  EXPECT_EQ(base.size(), 16U);
  EXPECT_EQ(hash(point), base);
  Point other = point;
  other.run.seed = 2;
  EXPECT_NE(hash(other), base);
  other = point;
  other.run.options.fold = Fold::kNone;
  EXPECT_NE(hash(other), base);
  other = point;
  other.run.options.detail = Detail::kInstruction;
  EXPECT_NE(hash(other), base);
  other = point;
  other.workload_overrides = {{"m", "512", "test"}};
  EXPECT_NE(hash(other), base);
  other = point;
  other.platform_overrides = {{"core.tensor.clock", "2GHz", "test"}};
  EXPECT_NE(hash(other), base);
}

/// A record that obeys the laws: one core, everything idle, nothing moved.
Evaluation lawful() {
  Evaluation e;
  e.platform.machine.chips = 1;
  e.platform.machine.cores_per_chip = 1;
  e.record.elapsed = Time(1000);
  for (EngineRecord& engine : e.record.engines) engine.sum.idle = Time(1000);
  return e;
}

TEST(Conservation, HoldsForALawfulRecord) {
  EXPECT_NO_THROW(check_conservation(lawful()));
}

TEST(Conservation, BreaksWhenTimeBytesOrTheRooflineDoNotAddUp) {
  Evaluation e = lawful();
  e.record.engines[0].sum.busy = Time(1);
  EXPECT_THROW(check_conservation(e), InvariantError);
  e = lawful();
  e.record.bytes_sent = 1;
  EXPECT_THROW(check_conservation(e), InvariantError);
  e = lawful();
  e.lowered.roofline_ps = 1001;
  EXPECT_THROW(check_conservation(e), InvariantError);
  e.lowered.roofline_ps = 1000;
  EXPECT_NO_THROW(check_conservation(e));
  for (auto WorkloadFacts::*fact : {&WorkloadFacts::weight_bytes, &WorkloadFacts::bias_bytes,
                                    &WorkloadFacts::kv_read_bytes, &WorkloadFacts::kv_write_bytes}) {
    e = lawful();
    e.lowered.facts.*fact = 1;
    EXPECT_THROW(check_conservation(e), InvariantError);
  }
}

}  // namespace
}  // namespace trnsim
