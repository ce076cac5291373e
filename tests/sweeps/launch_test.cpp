#include "sweeps/launch.h"

#include <gtest/gtest.h>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

Point matmul(const std::string& id) {
  Point point;
  point.id = id;
  point.platform = "trn2-48xlarge";
  point.workload = "matmul";
  return point;
}

TEST(Launch, APointThatTakesTooLongIsATimeoutAndTheOthersGoOn) {
  std::vector<Point> points = {matmul("short"), matmul("long")};
  points[1].platform = "trn3-ultraserver-gen2";
  points[1].workload = "gpt-oss-120b-decode";
  points[1].run.options.fold = Fold::kNone;
  points[1].workload_overrides = {{"batch_per_replica", "1024", "test"}, {"context", "1024", "test"}};
  std::vector<PointRow> rows(2);
  EXPECT_TRUE(launch(points, {1, std::chrono::milliseconds(2500)},
                     [&](std::size_t i, const PointRow& row, std::size_t) { rows[i] = row; }));
  EXPECT_EQ(rows[0].status, Status::kOk) << rows[0].error;
  EXPECT_EQ(rows[1].status, Status::kTimeout);
  EXPECT_FALSE(rows[1].input_hash.empty());
  EXPECT_FALSE(rows[1].parameters.rows.empty());
}

TEST(Launch, WrongInputFoundInAChildIsAnInputError) {
  Point point = matmul("1");
  point.workload = "gpt-oss-120b-decode";
  point.workload_overrides = {{"kv_heads", "7", "sweep.csv:2:3"}};
  try {
    launch({point}, {1, {}}, [](std::size_t, const PointRow&, std::size_t) {});
    FAIL() << "7 KV heads do not divide 64 heads";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 13), "sweep.csv:2:3") << error.what();
  }
}

TEST(Launch, WrongInputFoundInAChildIsToldToWhoAsks) {
  std::vector<Point> points = {matmul("1"), matmul("2")};
  points[0].workload = "gpt-oss-120b-decode";
  points[0].workload_overrides = {{"kv_heads", "7", "sweep.csv:2:3"}};
  std::vector<std::string> refused(2), ran(2);
  EXPECT_TRUE(launch(points,
                     {.jobs = 1,
                      .limit = {},
                      .refused = [&](std::size_t i, const std::string& error, std::size_t) { refused[i] = error; }},
                     [&](std::size_t i, const PointRow& row, std::size_t) { ran[i] = row.id; }));
  EXPECT_TRUE(refused[0].starts_with("sweep.csv:2:3")) << refused[0];
  EXPECT_EQ(ran[0], "");
  EXPECT_EQ(ran[1], "2");
}

TEST(Launch, StopsWhenAsked) {
  stop_requested = 1;
  std::size_t done = 0;
  EXPECT_FALSE(launch({matmul("1")}, {1, {}}, [&](std::size_t, const PointRow&, std::size_t) { ++done; }));
  EXPECT_EQ(done, 0U);
  stop_requested = 0;
}

TEST(Launch, MessagesFitOneField) {
  EXPECT_EQ(as_field("deadlock:\nA waits\nB waits\n"), "deadlock:; A waits; B waits");
  std::string waiters = "deadlock";
  for (int i = 0; i < 10'000; ++i) waiters += "\ncore" + std::to_string(i) + " waits";
  const std::string field = as_field(waiters);
  EXPECT_LT(field.size(), 2100U);
  EXPECT_NE(field.find("more characters"), std::string::npos);
  EXPECT_EQ(field.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace trnsim
