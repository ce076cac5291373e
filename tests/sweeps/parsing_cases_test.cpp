// Sweep files as spreadsheets, editors and accidents write them.
#include <gtest/gtest.h>

#include <random>

#include "models/mechanism/error.h"
#include "sweeps/evaluate.h"
#include "sweeps/sweep_file.h"
#include "tests/platforms/byte_variants.h"
#include "tests/platforms/damaged.h"
#include "tests/sweeps/folder.h"

namespace trnsim {
namespace {

const std::string kSweep =
    "id,platform,workload,core.tensor.clock,tp,expect.latency_us,tolerance\n"
    "a,trn2-ultraserver,gpt-oss-120b-decode,2GHz:2.4GHz:+0.2GHz,16|32,900,5%\n"
    "b,trn3-ultraserver-gen1,gpt-oss-120b-decode,,8,,\n";

/// Points and checks without the places of their cells.
std::string content_of(const Sweep& sweep) {
  std::string text;
  for (const Point& point : sweep.points) {
    text += point.id;
    for (const auto& [name, value] : point.swept) text += " " + name + "=" + value;
    text += "\n";
  }
  for (const Check& c : sweep.checks) text += c.id + " " + c.metric + " " + std::to_string(c.low) + "\n";
  return text;
}

TEST(ParsingCases, ByteDifferentSweepFilesAreOneSweep) {
  const Folder folder;
  const std::string expected = content_of(read_sweep(folder.file("s.csv", kSweep), {}));
  EXPECT_NE(expected.find("a.6 platform=trn2-ultraserver workload=gpt-oss-120b-decode core.tensor.clock=2.4GHz tp=32"),
            std::string::npos)
      << expected;
  for (const auto& [name, bytes] : sample::byte_variants(kSweep)) {
    EXPECT_EQ(content_of(read_sweep(folder.file("s.csv", bytes), {})), expected) << name;
  }
}

TEST(ParsingCases, AThousandDamagedSweepsAreReadOrRefusedWithTheirPath) {
  const Folder folder;
  std::mt19937 random(20'240'603);  // NOLINT: the same thousand every time
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = folder.file("damaged.csv", sample::damaged(kSweep, random));
    try {
      const Sweep sweep = read_sweep(path, {});
      ++read;
      EXPECT_FALSE(sweep.points.empty());
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path + ":", 0), 0U) << error.what();
    }
  }
  EXPECT_GT(read, 20) << "a change inside an id or a digit may be another valid cell";
  EXPECT_LT(read, 800);
}

}  // namespace
}  // namespace trnsim
