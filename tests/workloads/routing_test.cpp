#include "workloads/routing/routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace trnsim {
namespace {

Settings gpt_oss(Routing routing) {
  Settings s;
  s.model.experts = 128;
  s.model.top_k = 4;
  s.routing = routing;
  s.routing_sigma = 0.8;
  return s;
}

TEST(Routing, EveryTokenTakesDifferentExperts) {
  for (const Routing kind : {Routing::kUniform, Routing::kBalanced, Routing::kLognormal}) {
    const LayerRouting r = draw_routing(gpt_oss(kind), 500, 3, 1);
    ASSERT_EQ(r.choices.size(), 2000U);
    for (std::size_t t = 0; t < 500; ++t) {
      const std::set<std::uint32_t> set(r.choices.begin() + static_cast<std::ptrdiff_t>(4 * t),
                                        r.choices.begin() + static_cast<std::ptrdiff_t>(4 * t + 4));
      EXPECT_EQ(set.size(), 4U);
      EXPECT_LT(*set.rbegin(), 128U);
    }
  }
}

// Mean over draws of E(1-(1-k/E)^T), within three standard errors.
TEST(Routing, UniformDrawsHitTheExpectedNumberOfDistinctExperts) {
  for (const std::uint64_t tokens : {1U, 4U, 8U, 32U, 64U, 256U}) {
    constexpr int kDraws = 2000;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const auto distinct = static_cast<double>(draw_routing(gpt_oss(Routing::kUniform), tokens, i, 7).distinct(128));
      sum += distinct;
      squares += distinct * distinct;
    }
    const double mean = sum / kDraws;
    const double error = std::sqrt(std::max(0.0, squares / kDraws - mean * mean) / kDraws);
    const double expected = 128 * (1 - std::pow(1 - 4.0 / 128, static_cast<double>(tokens)));
    EXPECT_NEAR(mean, expected, 3 * error + 1e-9) << tokens;
  }
}

TEST(Routing, UniformDrawsFavourNoExpert) {
  const std::vector<std::uint64_t> counts =
      draw_routing(gpt_oss(Routing::kUniform), 100000, 0, 5).tokens_per_expert(128);
  double chi = 0;
  for (const std::uint64_t n : counts) chi += std::pow(static_cast<double>(n) - 3125, 2) / 3125;
  EXPECT_LT(chi, 127 + 4 * std::sqrt(2 * 127.0));
}

TEST(Routing, BalancedDealsEvenly) {
  for (const std::uint64_t n : draw_routing(gpt_oss(Routing::kBalanced), 64, 0, 5).tokens_per_expert(128))
    EXPECT_EQ(n, 2U);
}

TEST(Routing, LognormalIsMoreUneven) {
  const auto peak = [](Routing kind) {
    const auto counts = draw_routing(gpt_oss(kind), 10000, 0, 5).tokens_per_expert(128);
    return *std::max_element(counts.begin(), counts.end());
  };
  EXPECT_GT(peak(Routing::kLognormal), 2 * peak(Routing::kUniform));
}

TEST(Routing, SeedAndLayerFixTheDraw) {
  const Settings s = gpt_oss(Routing::kUniform);
  EXPECT_EQ(draw_routing(s, 50, 2, 9).choices, draw_routing(s, 50, 2, 9).choices);
  EXPECT_NE(draw_routing(s, 50, 2, 9).choices, draw_routing(s, 50, 3, 9).choices);
  EXPECT_NE(draw_routing(s, 50, 2, 9).choices, draw_routing(s, 50, 2, 8).choices);
}

}  // namespace
}  // namespace trnsim
