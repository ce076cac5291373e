// Platform files: inheritance, overrides, and one clear sentence for everything that can be wrong.
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT: setenv

#include <algorithm>
#include <array>

#include "platforms/platform.h"
#include "tests/platforms/files.h"

namespace trnsim {
namespace {

using sample::Files;
using sample::input_error;

const std::string kHeader = "parameter,value,unit,low,high,confidence,source\n";

/// A file that builds on a real machine and adds `rows`.
std::string on(const std::string& parent, const std::string& rows) {
  return kHeader + "inherits," + data_folder() + "/platforms/" + parent + ".csv,,,,,\n" + rows;
}

std::string refusal(const std::string& path, const std::vector<Override>& overrides = {}) {
  return input_error([&] { static_cast<void>(load_platform(path, overrides)); });
}

const ResolvedParameter& row_of(const Platform& platform, const std::string& name) {
  const auto found = std::find_if(platform.parameters.begin(), platform.parameters.end(),
                                  [&](const ResolvedParameter& p) { return p.name == name; });
  if (found == platform.parameters.end()) throw std::runtime_error("no row " + name);
  return *found;
}

TEST(PlatformReader, AChildReplacesItsParentsValueAndKeepsTheRest) {
  const Files files;
  const std::string path =
      files.write("faster.csv", on("trn2-ultraserver", "core.tensor.clock,2.8,GHz,,,estimated,test\n"));
  const Platform child = load_platform(path);
  const Platform parent = load_platform("trn2-ultraserver");
  EXPECT_EQ(child.machine.name, "faster");
  EXPECT_EQ(child.machine.core.tensor.clock, Hertz(2'800'000'000));
  EXPECT_EQ(child.machine.core.vector.clock, parent.machine.core.vector.clock);
  EXPECT_EQ(child.parameters.size(), parent.parameters.size());
  EXPECT_EQ(row_of(child, "core.tensor.clock").origin, "faster.csv:3");
  EXPECT_EQ(row_of(child, "core.vector.clock").origin, row_of(parent, "core.vector.clock").origin);
}

TEST(PlatformReader, AnOverrideReplacesTheFileAndIsShownAsSet) {
  const Platform platform =
      load_platform("trn3-ultraserver-gen1", {{"core.tensor.clock", "2.0GHz", "--set"},
                                              {"fabric.link.reading", "level_table", "--set"},
                                              {"chip.hbm.stack_capacity", "36GiB", "sweep.csv:3:14"},
                                              {"core[511].clock_scale", "0.5", "--set"},
                                              {"link[7].bandwidth_scale", "0.25", "--set"}});
  EXPECT_EQ(platform.machine.core.tensor.clock, Hertz(2'000'000'000));
  EXPECT_EQ(platform.machine.fabric.reading, LinkReading::kLevelTable);
  EXPECT_EQ(platform.machine.hbm.capacity, Bytes(36ULL << 30));
  EXPECT_EQ(platform.machine.core_clock_scale.at(511), 0.5);
  EXPECT_EQ(platform.machine.link_bandwidth_scale.at(7), 0.25);
  EXPECT_EQ(row_of(platform, "core.tensor.clock").confidence, "set");
  EXPECT_EQ(row_of(platform, "chip.hbm.stack_capacity").origin, "sweep.csv:3:14");
}

TEST(PlatformReader, TheLastOfTwoOverridesHolds) {
  const Platform platform = load_platform(
      "trn2-ultraserver", {{"core.tensor.clock", "2GHz", "--set"}, {"core.tensor.clock", "1GHz", "--set"}});
  EXPECT_EQ(platform.machine.core.tensor.clock, Hertz(1'000'000'000));
}

TEST(PlatformReader, BadRowsAreRefusedAtTheirPlace) {
  struct Case {
    const char* rows;
    const char* message;  ///< after the path
  };
  constexpr std::array kCases = std::to_array<Case>({
      {"core.tensor.clok,2.4,GHz,,,documented,x\n",
       ":3:1: unknown parameter 'core.tensor.clok'; did you mean core.tensor.clock?"},
      {"colour,2.4,GHz,,,documented,x\n", ":3:1: unknown parameter 'colour'; see `trnsim list parameters`"},
      {",2.4,GHz,,,documented,x\n", ":3:1: the parameter has no name; see `trnsim list parameters`"},
      {"core.tensor.clock,2.4,,,,documented,x\n", ":3:19: the unit is missing; use one of Hz, kHz, MHz, GHz"},
      {"core.tensor.clock,2.4,Ghz,,,documented,x\n",
       ":3:19: unknown unit 'Ghz'; did you mean GHz? (Hz, kHz, MHz, GHz)"},
      {"core.tensor.clock,2.4,GB/s,,,documented,x\n", ":3:19: unknown unit 'GB/s'; "},
      {"core.tensor.clock,,GHz,,,documented,x\n", ":3:19: the number is missing; write a value"},
      {"core.tensor.clock,nan,GHz,,,documented,x\n", ":3:19: 'nan' is no number; write digits"},
      {"core.tensor.clock,inf,GHz,,,documented,x\n", ":3:19: 'inf' is no number; write digits"},
      {"core.tensor.clock,1e999,GHz,,,documented,x\n", ":3:19: the number '1e999' is out of range; "},
      {"core.tensor.clock,-2.4,GHz,,,documented,x\n", ":3:19: -2.4 is negative; write a value of 0 or more"},
      {"core.tensor.clock,0,GHz,,,documented,x\n", ":3:19: 0 GHz is out of range; use 1 MHz to 100 GHz"},
      {"dma.notify,0.1,ps,,,documented,x\n", ":3:12: 0.1 ps is not a whole number of base units; "},
      {"core.tensor.limiter,maybe,,,,documented,x\n", ":3:21: 'maybe' is no possible value; use one of no, yes"},
      {"core.tensor.clock,2.4,GHz,,,guessed,x\n", ":3:29: unknown confidence 'guessed'; use documented, measured"},
      {"core.tensor.clock,2.4,GHz,,,documentd,x\n", ":3:29: unknown confidence 'documentd'; did you mean documented?"},
      {"core.tensor.clock,2.4,GHz,,,set,x\n", ":3:29: unknown confidence 'set'; "},
      {"core.tensor.clock,2.4,GHz,,,documented,\n", ":3:40: the source is missing; say where the value comes from"},
      {"core.tensor.clock,2.4,GHz,2.5,,estimated,x\n",
       ":3:27: low 2.5 is above the value 2.4; low <= value <= high must hold"},
      {"core.tensor.clock,2.4,GHz,,2.3,estimated,x\n",
       ":3:28: high 2.3 is below the value 2.4; low <= value <= high must hold"},
      {"core.tensor.clock,2.4,GHz,,nan,estimated,x\n", ":3:28: 'nan' is no number; write digits"},
      {"core.tensor.clock,2.4,GHz\n", ":3:23: the row ends before column 'low'; write 7 fields"},
      {"dma.notify,1,ns,,,estimated,x\n\ndma.notify,2,ns,,,estimated,x\n",
       ":5:1: duplicate row for 'dma.notify', first in line 3; keep one"},
      {"published.fp8,80,furlongs,,,documented,x\n",
       ":3:15: a published total has one of the units GFLOPS, TFLOPS, PFLOPS, B, "},
      {"published.fp8,80,PFLOPS,90,,documented,x\n", ":3:25: low 90 is above the value 80; "},
      {"published.fp8,80,PFLOPS,70,60,documented,x\n", ":3:28: high 60 is below the value 80; "},
      {"core.psum.shared_port,all,,all,,documented,x\n", ":3:28: a word has no bounds; leave low empty"},
      {"core[1].clock_scale,0,1,,,estimated,x\n", ":3:21: 0 is out of range; use 0.001 to 1000, "},
      {"core[512].clock_scale,0.5,1,,,estimated,x\n",
       ":3:1: core[512].clock_scale names no core; this machine has cores 0 to 511"},
      {"core[x].clock_scale,0.5,1,,,estimated,x\n",
       ":3:1: unknown parameter 'core[x].clock_scale'; write a number, e.g. core[0].clock_scale"},
      {"core.clock_scale,0.5,1,,,estimated,x\n", ":3:1: unknown parameter 'core.clock_scale'; write a number, e.g. "},
      {"link[0:3].bandwidth_scale,0.5,1,,,estimated,x\n",
       ":3:1: unknown parameter 'link[0:3].bandwidth_scale'; write a number, e.g. link[0].bandwidth_scale"},
      {"core[1].clock_scale,0.5,1,0.6,,estimated,x\n", ":3:27: low 0.6 is above the value 0.5; "},
      {"hbm_bandwidth,2,TB/s,,,documented,x\n",
       ":3:1: unknown parameter 'hbm_bandwidth'; did you mean chip.hbm.stack_bandwidth?"},
      {"fabric.racks,2,count,,,documented,x\n",
       ":3:1: fabric.racks has no effect on this machine's fabric; remove the row"},
      {"chip.hbm.stacks,3,count,,,documented,x\n", ":3:17: chip.cores must be a multiple of chip.hbm.stacks; "},
      {"machine.chips,65,count,,,documented,x\n",
       ":3:15: the fabric joins 64 chips, machine.chips says 65; they must be equal"},
      {"inherits,none.csv,,,,,\n", ":3:10: no file "},
      {"inherits,,,,,,\n", ":3:10: `inherits` names no file; write its name"},
      {"inherits,bad.csv,GHz,,,,\n", ":3:18: 'GHz' has no meaning in a row `inherits`; "},
      {"inherits,bad.csv,,,,estimated,x\n", ":3:21: 'estimated' has no meaning in a row `inherits`; "},
  });
  const Files files;
  for (const Case& c : kCases) {
    const std::string path = files.write("bad.csv", on("trn2-ultraserver", c.rows));
    const std::string message = refusal(path);
    EXPECT_EQ(message.substr(0, path.size() + std::string_view(c.message).size()), path + c.message);
  }
}

TEST(PlatformReader, BadOverridesAreRefusedAtTheirPlace) {
  struct Case {
    const char* name;
    const char* value;
    const char* message;
  };
  constexpr std::array kCases = std::to_array<Case>({
      {"core.tensor.clok", "2GHz", "--set: unknown parameter 'core.tensor.clok'; did you mean"},
      {"core.tensor.clock", "2", "--set: core.tensor.clock: the unit is missing; use one of Hz, kHz, MHz, GHz"},
      {"core.tensor.clock", "", "--set: core.tensor.clock: the number is missing; write a value"},
      {"core.tensor.clock", "fast", "--set: core.tensor.clock: 'fast' is no number; write digits"},
      {"core.tensor.clock", "1e999GHz", "--set: core.tensor.clock: the number '1e999' is out of range; "},
      {"core.tensor.clock", "-1GHz", "--set: core.tensor.clock: -1 is negative; "},
      {"core.tensor.clock", "1THz", "--set: core.tensor.clock: unknown unit 'THz'; did you mean "},
      {"core.tensor.limiter", "off", "--set: core.tensor.limiter: 'off' is no possible value; "},
      {"core[0].clock_scale", "0", "--set: core[0].clock_scale: 0 is out of range; "},
      {"published.fp8", "1PFLOPS", "--set: unknown parameter 'published.fp8'; "},
      {"core.clock_scale", "1",
       "--set: unknown parameter 'core.clock_scale'; write a number, e.g. core[0].clock_scale"},
      {"core[512].clock_scale", "1", "--set: core[512].clock_scale names no core; this machine has cores 0 to 511"},
      {"chip.cores", "8x", "--set: chip.cores: '8x' is no number; write digits alone, such as 8"},
      {"chip.cores", "3", "--set: chip.cores: chip.cores must be a multiple of chip.hbm.stacks; "},
      {"machine.chips", "65", "--set: machine.chips: the fabric joins 64 chips, machine.chips says 65; "},
      {"fabric.racks", "3", "--set: fabric.racks has no effect on this machine's fabric; "},
  });
  for (const Case& c : kCases) {
    const std::string message = refusal("trn2-ultraserver", {{c.name, c.value, "--set"}});
    EXPECT_EQ(message.substr(0, std::string_view(c.message).size()), c.message);
  }
}

TEST(PlatformReader, AnInheritanceCycleIsNamed) {
  const Files files;
  files.write("a.csv", kHeader + "inherits,b.csv,,,,,\n");
  files.write("b.csv", kHeader + "# next\ninherits,c.csv,,,,,\n");
  files.write("c.csv", kHeader + "inherits,./a.csv,,,,,\n");
  EXPECT_EQ(refusal(files.path("a.csv")), files.path("c.csv") +
                                              ":2:10: the files inherit in a cycle: a.csv -> b.csv -> c.csv -> "
                                              "a.csv; remove one `inherits` row");
  files.write("self.csv", kHeader + "inherits,self.csv,,,,,\n");
  EXPECT_NE(refusal(files.path("self.csv")).find("self.csv -> self.csv"), std::string::npos);
}

TEST(PlatformReader, AnErrorInAParentNamesTheParent) {
  const Files files;
  files.write("parent.csv", kHeader + "core.tensor.clock,2.4,,,,documented,x\n");
  const std::string child = files.write("child.csv", kHeader + "inherits,parent.csv,,,,,\n");
  EXPECT_EQ(refusal(child).substr(0, files.path("parent.csv").size() + 6), files.path("parent.csv") + ":2:19:");
}

TEST(PlatformReader, AMissingParameterIsNamedWithItsMeaning) {
  const Files files;
  const std::string path = files.write("poor.csv", kHeader + "chip.cores,8,count,,,documented,x\n");
  EXPECT_EQ(refusal(path), path +
                               ":1:1: missing parameter chip.hbm.mixed_fraction (sustained share of the bandwidth "
                               "while reads and writes take "
                               "turns); "
                               "add a row, or inherit one");
}

TEST(PlatformReader, AMachineWithoutFabricNeedsNoLinks) {
  const Files files;
  const std::string one = "machine.chips,1,count,,,estimated,x\nfabric.kind,none,,,,estimated,x\n";
  std::string parts;
  for (const ResolvedParameter& p : load_platform("trn2-ultraserver").parameters) {
    if (!p.name.starts_with("power.system.")) continue;
    parts += p.name + "," + p.value + "," + p.unit + ",,,estimated,x\n";
  }
  const std::string chip = kHeader + "inherits," + data_folder() + "/platforms/parts/trn2.csv,,,,,\n";
  const Platform platform = load_platform(files.write("single.csv", chip + one + parts));
  EXPECT_EQ(platform.machine.cores(), 8U);
  EXPECT_EQ(platform.machine.fabric.kind, FabricKind::kNone);
}

TEST(PlatformReader, FilesThatAreNoPlatformAreRefused) {
  const Files files;
  EXPECT_EQ(refusal(files.write("empty.csv", "")),
            files.path("empty.csv") + ":1:1: the file is empty; begin with a header row");
  EXPECT_EQ(refusal(files.path("")), files.path("") + ": is a directory; name a CSV file");
  EXPECT_EQ(refusal(files.path("none.csv")), files.path("none.csv") + ": no such file; check the path");
  EXPECT_NE(
      refusal(files.write("other.csv", "id,platform\n1,trn2\n")).find("the header has 'id' where 'parameter' belongs"),
      std::string::npos);
  EXPECT_EQ(refusal("trn2-ultrasever"), "unknown platform 'trn2-ultrasever'; did you mean trn2-ultraserver?");
  EXPECT_EQ(refusal("trn2"), "unknown platform 'trn2'; did you mean trn2-3xlarge, trn2-48xlarge or trn2-ultraserver?");
  EXPECT_TRUE(refusal("gpu").starts_with("unknown platform 'gpu'; use inf2-24xlarge, inf2-48xlarge, "));
  EXPECT_TRUE(refusal("gpu").ends_with(", trn4-projected or trn4-projected-wide"));
}

TEST(PlatformReader, AFileToBuildOnThatIsNoneIsRefusedWhereItIsNamed) {
  const Files files;
  for (const char* name : {"..", "/dev/zero", "none.csv"}) {
    const std::string said = refusal(files.write("mine.csv", kHeader + "inherits," + name + ",,,,,\n"));
    EXPECT_TRUE(said.starts_with(files.path("mine.csv") + ":2:10: ")) << said;
  }
}

TEST(PlatformReader, AMemoryTooSmallForOneResultIsRefusedWithItsBound) {
  const auto refused = [](const char* name, const char* value) {
    return input_error([&] { static_cast<void>(load_platform("trn2-3xlarge", {{name, value, "--set"}})); });
  };
  EXPECT_EQ(refused("core.psum.per_partition", "31B"),
            "--set: core.psum.per_partition: core.psum.per_partition leaves a bank no room for one FP32; 8 banks need "
            "32B or more");
  EXPECT_NE(refused("core.sbuf.per_partition", "1KiB").find("use 2048B or more"), std::string::npos);
}

TEST(PlatformReader, TheDataFolderCanBeMovedAndAWrongOneIsNamed) {
  const Files files;
  setenv("TRNSIM_DATA", files.path("").c_str(), 1);
  EXPECT_EQ(data_folder(), files.path(""));
  EXPECT_NE(input_error([] { static_cast<void>(platform_names()); }).find("set TRNSIM_DATA"), std::string::npos);
  unsetenv("TRNSIM_DATA");
  EXPECT_EQ(data_folder(), TRNSIM_ROOT);
}

// Forty levels that each name the next twice: 2^40 reads if a file were read once per path to it.
TEST(PlatformReader, AFileThatManyInheritIsReadOnce) {
  const Files files;
  for (int level = 0; level < 40; ++level) {
    const std::string next = "inherits,level" + std::to_string(level + 1) + ".csv,,,,,\n";
    files.write("level" + std::to_string(level) + ".csv", kHeader + next + next);
  }
  files.write("level40.csv", on("trn2-ultraserver", ""));
  EXPECT_EQ(load_platform(files.path("level0.csv")).parameters.size(),
            load_platform("trn2-ultraserver").parameters.size());
}

TEST(PlatformReader, AChainDeeperThanAPersonWouldWriteIsRefused) {
  const Files files;
  for (int level = 0; level < 100; ++level) {
    files.write("level" + std::to_string(level) + ".csv",
                kHeader + "inherits,level" + std::to_string(level + 1) + ".csv,,,,,\n");
  }
  EXPECT_NE(refusal(files.path("level0.csv")).find("more than 64 files inherit"), std::string::npos);
}

}  // namespace
}  // namespace trnsim
