#include "results/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "results/writer.h"
#include "tests/results/folder.h"

namespace trnsim {
namespace {

TEST(Metrics, EveryNameStandsOnceWithBoundaryAndFormula) {
  std::set<std::string_view> names;
  for (const MetricInfo& info : metrics()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.boundary.empty()) << info.name;
    EXPECT_FALSE(info.formula.empty()) << info.name;
  }
}

TEST(Metrics, TheContractHolds) {
  for (const char* name : {"latency_us",
                           "tokens_per_s",
                           "tokens_per_s_per_user",
                           "ttft_us",
                           "tpot_us",
                           "step_time_s",
                           "peak_pflops",
                           "sustained_pflops",
                           "sustained_over_peak",
                           "mfu",
                           "tensor_utilization",
                           "vector_utilization",
                           "scalar_utilization",
                           "gpsimd_utilization",
                           "dma_utilization",
                           "hbm_utilization",
                           "link_utilization",
                           "exposed_communication_us",
                           "memory_used_gib_per_chip",
                           "chip_power_w",
                           "it_power_kw",
                           "utility_power_kw",
                           "energy_per_token_j",
                           "tokens_per_s_per_mw",
                           "peak_pflops_per_mw",
                           "sustained_pflops_per_mw",
                           "usd_per_million_tokens",
                           "algbw_gb_per_s",
                           "busbw_gb_per_s",
                           "bottleneck",
                           "roofline_us",
                           "peak_dtype",
                           "initiation_interval_ns",
                           "duration_ns",
                           "hbm_gb_per_s",
                           "fold_error_bound",
                           "tokens_per_s_per_provisioned_mw",
                           "tokens_per_s_per_chip_mw",
                           "tokens_per_s_per_utility_mw"}) {
    EXPECT_NE(find_metric(name), nullptr) << name;
  }
  EXPECT_EQ(find_metric("latency"), nullptr);
}

TEST(Metrics, TheDocumentIsTheTable) {
  const char* const path = TRNSIM_ROOT "/docs/metrics.md";
  if (std::getenv("TRNSIM_UPDATE_DOCS") != nullptr) write_file(path, render_metrics_markdown());
  EXPECT_EQ(sample::read(path), render_metrics_markdown())
      << "run this test with TRNSIM_UPDATE_DOCS=1 to write it anew";
}

TEST(FormatNumber, IsTheShortestTextThatReadsBackEqual) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(format_number(1234567), "1234567");
  EXPECT_EQ(format_number(5e-324), "5e-324");
  EXPECT_EQ(format_number(-0.0), "0");
}

TEST(FormatNumber, WhatIsNoNumberIsAnEmptyCell) {
  EXPECT_EQ(format_number(NAN), "");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "");
}

}  // namespace
}  // namespace trnsim
