// A thousand damaged platform files: each is read or refused by one sentence, and nothing else happens.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "platforms/platform.h"
#include "tests/platforms/damaged.h"
#include "tests/platforms/files.h"

namespace trnsim {
namespace {

TEST(DamagedPlatforms, AreReadOrRefusedWithTheirPath) {
  const sample::Files files;
  const std::string text = sample::flattened("trn3-ultraserver-gen2");
  std::mt19937 random(20'240'601);  // NOLINT: the same thousand every time
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = files.write("damaged.csv", sample::damaged(text, random));
    try {
      const Platform platform = load_platform(path);
      ++read;
      EXPECT_TRUE(std::isfinite(platform.machine.array_peak(Dtype::kMxfp8)));
      EXPECT_GT(platform.machine.array_peak(Dtype::kBf16), 0);
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind(path + ":", 0), 0U) << message;
      EXPECT_NE(message.find("; "), std::string::npos) << message;
    }
  }
  EXPECT_GT(read, 30) << "a change inside a source or a digit is no error";
  EXPECT_LT(read, 800);
}

}  // namespace
}  // namespace trnsim
