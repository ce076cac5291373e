// What `trnsim list` prints.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sweeps/command.h"

namespace trnsim {
namespace {

TEST(List, NamesWhatThereIs) {
  EXPECT_NE(trnsim_says("list platforms").out.find("trn3-ultraserver-gen2"), std::string::npos);
  EXPECT_NE(trnsim_says("list workloads").out.find("gpt-oss-120b-decode"), std::string::npos);
  EXPECT_NE(trnsim_says("list models").out.find("gpt-oss-120b              116.83           5.13              73728"),
            std::string::npos);
  EXPECT_NE(trnsim_says("list parameters").out.find("core.tensor.clock"), std::string::npos);
  EXPECT_NE(trnsim_says("list metrics").out.find("tokens_per_s_per_mw"), std::string::npos);
  EXPECT_NE(trnsim_says("list kernels").out.find("attention_decode"), std::string::npos);
  EXPECT_NE(trnsim_says("list collectives").out.find("ring"), std::string::npos);
  EXPECT_NE(trnsim_says("list topologies").out.find("none      inf2-8xlarge, inf2-xlarge, trn1-2xlarge, "),
            std::string::npos);
  EXPECT_NE(trnsim_says("list topologies").out.find("switched  trn3-gen2-2-servers, "), std::string::npos);
}

TEST(List, FitsItsLinesAndCanBeNarrowed) {
  for (const char* what :
       {"platforms", "workloads", "models", "parameters", "metrics", "kernels", "collectives", "topologies"}) {
    const std::string all = trnsim_says(std::string("list ") + what).out;
    std::size_t longest = 0;
    for (std::size_t begin = 0, end = 0; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1) {
      longest = std::max(longest, end - begin);
    }
    EXPECT_LE(longest, 120U) << what;
  }
  const std::string some = trnsim_says("list parameters collective").out;
  EXPECT_NE(some.find("\ncollective"), std::string::npos) << some;
  EXPECT_EQ(some.find("core.tensor.clock"), std::string::npos) << some;
}

}  // namespace
}  // namespace trnsim
