// Times of latent attention, dense and sparse: bounded below, growing with the context, and which wins where.
#include <gtest/gtest.h>

#include "tests/sweeps/rows.h"

namespace trnsim {
namespace {

double latency(const char* platform, const char* workload, const Assignments& settings) {
  const PointRow row = evaluated(platform, workload, settings);
  EXPECT_EQ(row.status, Status::kOk) << workload << ": " << row.error;
  EXPECT_LE(number_of(row, "roofline_us"), number_of(row, "latency_us")) << workload;
  return number_of(row, "latency_us");
}

TEST(LatentAttentionTimes, MoreKeysNeverTakeLess) {
  for (const char* platform : {"trn2-3xlarge", "trn3-3xlarge"}) {
    for (const char* workload : {"latent_attention", "sparse_attention"}) {
      double before = 0;
      for (const char* context : {"512", "1024", "2048", "4096", "8192", "16384"}) {
        const double now = latency(platform, workload, {{"context", context}, {"batch", "2"}});
        EXPECT_GE(now, before) << platform << " " << workload << " " << context;
        before = now;
      }
    }
    EXPECT_LT(latency(platform, "latent_attention", {{"query_tokens", "512"}, {"context", "512"}, {"q_heads", "8"}}),
              latency(platform, "latent_attention", {{"query_tokens", "512"}, {"context", "1024"}, {"q_heads", "8"}}));
  }
}

TEST(LatentAttentionTimes, PickingPaysAtLongContextsAlone) {
  for (const char* platform : {"trn2-3xlarge", "trn3-3xlarge"}) {
    for (const auto& [batch, context] : {std::pair{"1", "8192"}, std::pair{"16", "2048"}}) {
      const Assignments at = {{"batch", batch}, {"context", context}};
      EXPECT_GT(latency(platform, "sparse_attention", at), latency(platform, "latent_attention", at)) << batch;
    }
    for (const auto& [batch, context] : {std::pair{"1", "65536"}, std::pair{"16", "8192"}}) {
      const Assignments at = {{"batch", batch}, {"context", context}};
      EXPECT_LT(latency(platform, "sparse_attention", at), latency(platform, "latent_attention", at)) << batch;
    }
  }
}

// Up to 2 %: the tensor engine's clock limiter opens by windows, and may stay closed for one that is less busy.
TEST(LatentAttentionTimes, FewerRowsPickedNeverTakeLonger) {
  for (const char* batch : {"1", "16"}) {
    double before = 0;
    for (const char* top_k : {"128", "256", "512", "1024", "2048"}) {
      const double now =
          latency("trn2-3xlarge", "sparse_attention", {{"index_topk", top_k}, {"batch", batch}, {"context", "16384"}});
      EXPECT_GE(now, 0.98 * before) << batch << " " << top_k;
      before = now;
    }
  }
}

TEST(LatentAttentionTimes, TheExpandedFormIsNoWayToDecode) {
  EXPECT_GT(latency("trn2-3xlarge", "latent_attention", {{"form", "expanded"}, {"context", "2048"}}),
            latency("trn2-3xlarge", "latent_attention", {{"form", "absorbed"}, {"context", "2048"}}));
}

}  // namespace
}  // namespace trnsim
