#include "platforms/platform.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "models/mechanism/error.h"
#include "models/power/energy.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

double published(const Platform& platform, const std::string& name) {
  for (const PublishedTotal& total : platform.published) {
    if (total.name == name) return total.value;
  }
  ADD_FAILURE() << "no published." << name;
  return 0;
}

double provisioned_kw(const std::string& name) {
  const MachineSpec machine = load_platform(name).machine;
  return it_power(machine.power.chip.tdp, machine.chips, machine.power.system).count() / 1e3;
}

TEST(Platforms, EveryOneResolvesAndEveryValueHasASource) {
  for (const std::string& name : platform_names()) {
    for (const ResolvedParameter& p : load_platform(name).parameters) EXPECT_FALSE(p.source.empty()) << name << p.name;
  }
}

TEST(PublishedTotals, TheTrn3Gen2UltraServerHas362PetaflopsByArrayAndInPrint) {
  const Platform gen2 = load_platform("trn3-ultraserver-gen2");
  EXPECT_NEAR(gen2.machine.array_peak(Dtype::kMxfp8), 362.4e15, 0.1e15);
  EXPECT_NEAR(published(gen2, "mxfp8"), 362.4e15, 0.1e15);
  EXPECT_DOUBLE_EQ(published(gen2, "capacity"), 20736.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(published(gen2, "bandwidth"), 705.6e12);
  const HbmSpec& hbm = gen2.machine.hbm;
  EXPECT_EQ(hbm.capacity.count() * hbm.stacks * gen2.machine.chips, 20736ULL << 30);
  EXPECT_EQ(hbm.bandwidth.count() * hbm.stacks * gen2.machine.chips, 705'600'000'000'000ULL);
}

TEST(PublishedTotals, AgainstTheTrn2UltraServer) {
  const Platform gen2 = load_platform("trn3-ultraserver-gen2");
  const Platform trn2 = load_platform("trn2-ultraserver");
  EXPECT_NEAR(published(gen2, "mxfp8") / published(trn2, "fp8"), 4.36, 0.005);
  EXPECT_NEAR(gen2.machine.array_peak(Dtype::kMxfp8) / trn2.machine.array_peak(Dtype::kFp8), 4.50, 0.005);
  EXPECT_DOUBLE_EQ(published(gen2, "capacity") / published(trn2, "capacity"), 3.375);
  EXPECT_NEAR(published(gen2, "bandwidth") / published(trn2, "bandwidth"), 3.80, 0.005);
}

TEST(Power, TheBillClosesOnThePublishedSystemsWithEveryChipAtItsTdp) {
  EXPECT_NEAR(provisioned_kw("trn2-ultraserver"), 47.8, 0.1);
  EXPECT_NEAR(provisioned_kw("trn3-ultraserver-gen1"), 64.9, 0.1);
  EXPECT_NEAR(provisioned_kw("trn3-ultraserver-gen2"), 145.1, 0.1);
}

class PlatformFile : public testing::Test {
 protected:
  PlatformFile() : folder_(fs::path(testing::TempDir()) / ("trnsim_platform_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~PlatformFile() override { fs::remove_all(folder_); }

  /// A machine that inherits trn2-48xlarge and adds `rows`.
  std::string file(const std::string& rows, const std::string& name = "mine.csv") {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "parameter,value,unit,low,high,confidence,source\ninherits,"
                        << fs::path(TRNSIM_ROOT).string() << "/platforms/trn2-48xlarge.csv,,,,,\n"
                        << rows;
    return path.string();
  }
  std::string error_of(const std::string& rows, const std::vector<Override>& overrides = {}) {
    try {
      static_cast<void>(load_platform(file(rows), overrides));
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(PlatformFile, AChildReplacesItsParentsRow) {
  const Platform platform = load_platform(file("core.tensor.clock,3,GHz,,,estimated,test\n"));
  EXPECT_EQ(platform.machine.core.tensor.clock, Hertz(3'000'000'000));
}

TEST_F(PlatformFile, ErrorsNameFileLineColumnAndTheRightThing) {
  const struct {
    std::string row, says;
  } cases[] = {
      {"core.tensor.clok,3,GHz,,,estimated,test\n",
       "mine.csv:3:1: unknown parameter 'core.tensor.clok'; did you mean core.tensor.clock?"},
      {"core.tensor.clock,3,,,,estimated,test\n", "mine.csv:3:19: the unit is missing"},
      {"core.tensor.clock,3,ns,,,estimated,test\n", "unknown unit 'ns'"},
      {"core.tensor.clock,nan,GHz,,,estimated,test\n", "is no number"},
      {"core.tensor.clock,1e999,GHz,,,estimated,test\n", "out of range"},
      {"core.tensor.clock,-1,GHz,,,estimated,test\n", "is negative"},
      {"core.tensor.clock,,GHz,,,estimated,test\n", "the number is missing"},
      {"core.tensor.clock,999,GHz,,,estimated,test\n", "out of range"},
      {"core.tensor.clock,3,GHz,4,5,estimated,test\n", "low 4 is above the value 3"},
      {"core.tensor.clock,3,GHz,,,guessed,test\n", "unknown confidence 'guessed'"},
      {"core.tensor.clock,3,GHz,,,estimated,\n", "the source is missing"},
      {"core.tensor.clock,3,GHz,,,estimated,a\ncore.tensor.clock,3,GHz,,,estimated,a\n", "mine.csv:4:1: duplicate row"},
      {"fabric.racks,3,count,,,estimated,a\n", "has no effect on this machine's fabric"},
      {"fabric.kind,toros,,,,estimated,a\n", "did you mean torus?"},
      {"core[9999].clock_scale,0.5,1,,,estimated,a\n", "cores 0 to 127"},
      {"core[0].clock_scale,0,1,,,estimated,a\n", "is out of range; use 0.001 to 1000"},
  };
  for (const auto& c : cases) EXPECT_NE(error_of(c.row).find(c.says), std::string::npos) << error_of(c.row);
}

TEST_F(PlatformFile, AMissingParameterIsNamed) {
  const fs::path path = folder_ / "empty.csv";
  std::ofstream(path) << "parameter,value,unit,low,high,confidence,source\n";
  try {
    static_cast<void>(load_platform(path.string()));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("missing parameter"), std::string::npos) << error.what();
  }
}

TEST_F(PlatformFile, ACycleOfInheritanceIsPrinted) {
  std::ofstream(folder_ / "a.csv") << "parameter,value,unit,low,high,confidence,source\ninherits,b.csv,,,,,\n";
  std::ofstream(folder_ / "b.csv") << "parameter,value,unit,low,high,confidence,source\ninherits,a.csv,,,,,\n";
  try {
    static_cast<void>(load_platform((folder_ / "a.csv").string()));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a.csv -> b.csv -> a.csv"), std::string::npos) << error.what();
  }
}

TEST_F(PlatformFile, AnOverrideNeedsItsUnitToo) {
  EXPECT_NE(error_of("", {{"core.tensor.clock", "2.4", "--set"}}).find("the unit is missing"), std::string::npos);
  EXPECT_EQ(load_platform(file(""), {{"core.tensor.clock", "2.5GHz", "--set"}}).machine.core.tensor.clock,
            Hertz(2'500'000'000));
}

}  // namespace
}  // namespace trnsim
