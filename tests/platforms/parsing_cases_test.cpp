// One platform in byte-different files is one machine.
#include <gtest/gtest.h>

#include "platforms/platform.h"
#include "tests/platforms/byte_variants.h"
#include "tests/platforms/files.h"

namespace trnsim {
namespace {

/// Everything of a platform that its files decide, the numbers of lines apart.
std::string content_of(const Platform& platform) {
  std::string text;
  for (const ResolvedParameter& p : platform.parameters) {
    text +=
        p.name + "," + p.value + "," + p.unit + "," + p.low + "," + p.high + "," + p.confidence + "," + p.source + "\n";
  }
  const MachineSpec& m = platform.machine;
  text += std::to_string(m.cores()) + " " + std::to_string(m.core.tensor.clock.count()) + " " +
          std::to_string(m.hbm.capacity.count()) + " " + std::to_string(m.fabric.dimensions[0].latency.count());
  return text;
}

TEST(ParsingCases, ByteDifferentPlatformFilesAreOneMachine) {
  const sample::Files files;
  const std::string text = "parameter,value,unit,low,high,confidence,source\ninherits," + data_folder() +
                           "/platforms/trn2-ultraserver.csv,,,,,\ncore.tensor.clock,2.0,GHz,1.8,2.4,estimated,a test\n"
                           "fabric.dimension[2].wrap,no,,,,estimated,a test\n";
  const std::string expected = content_of(load_platform(files.write("p.csv", text)));
  EXPECT_NE(expected.find("core.tensor.clock,2.0,GHz,1.8,2.4,estimated,a test"), std::string::npos);
  for (const auto& [name, bytes] : sample::byte_variants(text)) {
    EXPECT_EQ(content_of(load_platform(files.write("p.csv", bytes))), expected) << name;
  }
}

}  // namespace
}  // namespace trnsim
