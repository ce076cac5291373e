// What docs/claims.md says of attention kernels, held to the committed points. That those are what the model says now
// is for tests/property/claims_current_test.cpp.
#include "results/claims.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "models/mechanism/error.h"
#include "results/series.h"
#include "results/writer.h"

namespace trnsim {
namespace {

const std::vector<PointRow>& committed() {
  static const std::vector<PointRow> rows = read_results(TRNSIM_ROOT "/results/published/claims");
  return rows;
}

const PointRow& point(const std::string& shape, std::string_view machine, std::string_view mechanism) {
  const PointRow* row = fastest(committed(), shape, machine, mechanism);
  if (row == nullptr) throw std::runtime_error(shape + " has no " + std::string(mechanism));
  return *row;
}

double latency(const PointRow& row) {
  return metric(row, "latency_us");
}
double tensor_busy_share(const PointRow& row) {
  return metric(row, "tensor_utilization");
}
double tensor_waits(const PointRow& row, const std::string& reason) {
  return cell_of(row.engines, "tensor", "stall_" + reason + "_us");
}

TEST(Claims, ThePageIsThatOfTheCommittedPoints) {
  std::ifstream file(TRNSIM_ROOT "/docs/claims.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), claims_page(committed(), "results/published/claims"));
}

TEST(Claims, OtherResultsAndTimesThatAreNoneAreRefused) {
  const auto refusal = [](const std::vector<PointRow>& rows) -> std::string {
    try {
      return claims_page(rows, "folder");
    } catch (const InputError& error) {
      return error.what();
    }
  };
  PointRow other;
  other.id = "1";
  EXPECT_NE(refusal({other}).find("the folder must hold the results of sweeps/claims.csv"), std::string::npos);
  for (const char* time : {"", "0", "-1"}) {
    std::vector<PointRow> rows = committed();
    for (PointRow& row : rows) {
      if (row.id == "flash-gpt-oss-4k.trn2.copy512.tensor") row.metrics["latency_us"] = time;
    }
    EXPECT_NE(refusal(rows).find("latency_us is not above 0"), std::string::npos) << time;
  }
}

TEST(Claims, CoverTheShapesThatWereFixed) {
  for (const char* kernel : {"flash", "fused"}) EXPECT_EQ(claim_shapes(committed(), kernel).size(), 6U);
  for (const PointRow& row : committed()) EXPECT_EQ(row.status, Status::kOk) << row.id << ": " << row.error;
}

TEST(Claims, WithoutItsMechanismAKernelIsSlower) {
  struct Pair {
    const char *kernel, *machine, *off, *on;
  };
  for (const Pair& pair : {Pair{"fused", "trn3", "mx0", "mx4"}, Pair{"flash", "trn3", "exp1", "exp4"},
                           Pair{"fused", "trn3", "exp1", "exp4"}, Pair{"flash", "trn2", "copy128", "copy256"},
                           Pair{"flash", "trn2", "copy256", "copy512"}, Pair{"flash", "trn3", "copy128", "copy256"},
                           Pair{"flash", "trn3", "copy256", "copy512"}, Pair{"fused", "trn2", "copy128", "copy512"},
                           Pair{"fused", "trn3", "copy128", "copy512"}}) {
    for (const std::string& shape : claim_shapes(committed(), pair.kernel)) {
      EXPECT_GT(latency(point(shape, pair.machine, pair.off)), latency(point(shape, pair.machine, pair.on)))
          << shape << " " << pair.machine << " " << pair.off;
    }
  }
}

// Where the clock limiter closes more often without the mechanism, the engine takes longer for the same matmuls and
// seems busier: then the share of the peak falls alone.
TEST(Claims, WithSlowerExponentialsOrSmallerCopiesTheTensorEngineDoesLess) {
  for (const char* kernel : {"flash", "fused"}) {
    for (const std::string& shape : claim_shapes(committed(), kernel)) {
      const PointRow& slow = point(shape, "trn3", "exp1");
      const PointRow& fast = point(shape, "trn3", "exp4");
      const bool limited =
          cell_of(slow.engines, "tensor", "busy_us") > 1.05 * cell_of(fast.engines, "tensor", "busy_us");
      if (!limited) {
        EXPECT_LT(tensor_busy_share(slow), tensor_busy_share(fast)) << shape;
      }
      EXPECT_LT(metric(slow, "sustained_over_peak"), metric(fast, "sustained_over_peak")) << shape;
      for (const char* machine : {"trn2", "trn3"}) {
        EXPECT_LT(tensor_busy_share(point(shape, machine, "copy128")),
                  tensor_busy_share(point(shape, machine, "copy512")))
            << shape << " " << machine;
      }
    }
  }
}

// Microscaling by vector instructions keeps the tensor engine waiting for vector; copies keep PSUM banks; exponentials
// keep the weights, which reach the tensor engine by DMA, and the banks of scores whose rows they hold.
TEST(Claims, TheWaitThatAMechanismRemovesIsTheOneThatShrinks) {
  for (const std::string& shape : claim_shapes(committed(), "fused")) {
    EXPECT_LT(tensor_waits(point(shape, "trn3", "mx4"), "engine"), tensor_waits(point(shape, "trn3", "mx0"), "engine"))
        << shape;
  }
  for (const char* kernel : {"flash", "fused"}) {
    for (const std::string& shape : claim_shapes(committed(), kernel)) {
      for (const char* machine : {"trn2", "trn3"}) {
        EXPECT_LT(tensor_waits(point(shape, machine, "copy512"), "buffer"),
                  tensor_waits(point(shape, machine, "copy128"), "buffer"))
            << shape << " " << machine;
      }
      const auto waits = [](const PointRow& row) { return tensor_waits(row, "dma") + tensor_waits(row, "buffer"); };
      EXPECT_LT(waits(point(shape, "trn3", "exp4")), waits(point(shape, "trn3", "exp1"))) << shape;
    }
  }
}

TEST(Claims, WhereTheArrayAloneBoundsItsRatesAreExact) {
  const auto busy = [](const std::string& shape, const char* machine, const char* dtype) {
    return cell_of(point(shape, machine, std::string("array-") + dtype).operators, "qkv_projection", "tensor_busy_us");
  };
  for (const char* length : {"4k", "8k", "32k"}) {  // the hidden width divides by the contraction of every format
    const std::string shape = std::string("fused-llama-70b-") + length;
    EXPECT_NEAR(busy(shape, "trn2", "bf16") / busy(shape, "trn2", "fp8"), 2, 1e-6);
    EXPECT_NEAR(busy(shape, "trn3", "bf16") / busy(shape, "trn3", "fp8"), 2, 1e-6);
    EXPECT_NEAR(busy(shape, "trn3", "bf16") / busy(shape, "trn3", "mxfp8"), 4, 1e-6);
  }
}

}  // namespace
}  // namespace trnsim
