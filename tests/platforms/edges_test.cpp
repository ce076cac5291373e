// Fabrics given link by link: what is read, and what is said of every mistake.
#include "platforms/edges.h"

#include <gtest/gtest.h>

#include "tests/platforms/files.h"

namespace trnsim {
namespace {

constexpr const char* kHeader = "from,to,bandwidth,latency\n";

TEST(Edges, ChipsComeByNumberAndSwitchesByAppearance) {
  const sample::Files files;
  FabricSpec fabric;
  fabric.kind = FabricKind::kEdges;
  read_edges(files.write("e.csv", std::string(kHeader) + "chip1,spine,64GB/s,300ns\nspine,chip1,64GB/s,300ns\n"
                                                         "chip0,spine,1GiB/s,0ps\nspine,chip0,64GB/s,1us\n"),
             fabric);
  EXPECT_EQ(fabric.shape_chips(), 2U);
  EXPECT_EQ(fabric.switch_names, std::vector<std::string>{"spine"});
  ASSERT_EQ(fabric.edges.size(), 4U);
  EXPECT_EQ(fabric.edges[0].from, 1U);
  EXPECT_EQ(fabric.edges[0].to, 2U);
  EXPECT_EQ(fabric.edges[2].bandwidth, BytesPerSecond(1ULL << 30));
  EXPECT_EQ(fabric.edges[3].latency, Time(1'000'000));
}

TEST(Edges, EveryMistakeIsRefusedWithItsPlace) {
  const sample::Files files;
  const std::string pair = "chip0,chip1,1GB/s,1ns\nchip1,chip0,1GB/s,1ns\n";
  for (const auto& [rows, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", ":1:1: no row names a chip; "},
           {"a,b,1GB/s,1ns\n", ":1:1: no row names a chip; "},
           {pair + ",chip0,1GB/s,1ns\n", ":4:1: the name is missing; "},
           {pair + "chip0,chip9999999999,1GB/s,1ns\n", ":4:7: 'chip9999999999' names no chip; use chip0 to chip4095"},
           {pair + "chip,chip0,1GB/s,1ns\n", ":4:1: 'chip' names no chip; "},
           {pair + "chip01,chip0,1GB/s,1ns\n", ":4:1: 'chip01' names no chip; "},
           {pair + "chip0,chip3,1GB/s,1ns\n", ":4:7: chip3 is given but chip2 is not; "},
           {pair + "chip0,chip1,2GB/s,1ns\n", ":4:1: the link is given twice, first in line 2; "},
           {pair + "chip0,chip0,2GB/s,1ns\n", ":4:7: the link leads back to where it begins; "},
           {pair + "chip0,hub,0GB/s,1ns\n", ":4:11: a link without bandwidth carries nothing; "},
           {pair + "chip0,hub,1,1ns\n", ":4:11: the unit is missing; use one of B/s, "},
           {pair + "chip0,hub,1GB,1ns\n", ":4:11: unknown unit 'GB'; "},
           {pair + "chip0,hub,1GB/s,0.5ps\n", ":4:17: 0.5 ps is not a whole number of base units; "},
           {pair + "chip0,hub,1GB/s\n", ":4:11: the row ends before column 'latency'; "},
           {"chip0,chipp1,1GB/s,1ns\nchipp1,chip0,1GB/s,1ns\n" + pair,
            ":2:7: chipp1 has one neighbour and leads nowhere; a switch joins two or more; chips are called chip0, "},
           {pair + "chip2,chip0,1GB/s,1ns\n", ":4:1: no way leads from chip0 to chip2; "},
           {pair + "chip0,chip2,1GB/s,1ns\n", ":4:7: no way leads from chip2 to chip0; "}}) {
    const std::string path = files.write("e.csv", kHeader + rows);
    FabricSpec fabric;
    const std::string error = sample::input_error([&] { read_edges(path, fabric); });
    EXPECT_EQ(error.rfind(path + expected, 0), 0U) << rows << error;
  }
}

const std::string kMachine = "parameter,value,unit,low,high,confidence,source\ninherits," + data_folder() +
                             "/platforms/parts/trn2.csv,,,,,\nfabric.link.sustained_fraction,1,1,,,estimated,x\n"
                             "fabric.chip_forward_latency,0,ns,,,estimated,x\n";

TEST(InventedMachines, AreReadFromAFewRows) {
  const sample::Files files;
  files.write("links.csv", std::string(kHeader) + "chip0,chip1,1GB/s,1ns\nchip1,chip0,1GB/s,1ns\n");
  const std::string power = [] {
    std::string rows;
    for (const ResolvedParameter& p : load_platform("trn2-48xlarge").parameters) {
      if (p.name.starts_with("power.system.")) rows += p.name + "," + p.value + "," + p.unit + ",,,estimated,x\n";
    }
    return rows;
  }();
  const auto machine = [&](const std::string& rows) {
    return load_platform(files.write("m.csv", kMachine + power + rows)).machine;
  };
  const MachineSpec edges = machine(
      "machine.chips,2,count,,,estimated,x\nfabric.kind,edges,,,,estimated,x\n"
      "fabric.switch_latency,0,ns,,,estimated,x\nfabric.edges,links.csv,,,,estimated,x\n");
  EXPECT_EQ(edges.fabric.edges.size(), 2U);
  const MachineSpec chain = machine(
      "machine.chips,6,count,,,estimated,x\nfabric.kind,torus,,,,estimated,x\n"
      "fabric.dimension[0].size,6,count,,,estimated,x\n"
      "fabric.dimension[0].wrap,no,,,,estimated,x\n"
      "fabric.dimension[0].bandwidth,1,GB/s,,,estimated,x\n"
      "fabric.dimension[0].latency,1,ns,,,estimated,x\n");
  EXPECT_FALSE(chain.fabric.dimensions.at(0).wrap);
}

TEST(InventedMachines, LackNoRowAndHaveNoneTooMany) {
  const sample::Files files;
  for (const auto& [name, value, expected] : std::vector<std::array<std::string, 3>>{
           {"fabric.dimension[4].size", "2",
            "--set: fabric.dimension[4].size: dimension[4] leaves a gap, the torus has dimensions 0, 1 and 2; use "
            "dimension[3] "},
           {"fabric.dimension[3].size", "2",
            "--set: fabric.dimension[3].size: missing parameter fabric.dimension[3].bandwidth "},
           {"fabric.dimension[16].size", "2",
            "--set: fabric.dimension[16].size is beyond the last; use numbers from 0 to 15"},
           {"fabric.dimension[0].size", "0",
            "--set: fabric.dimension[0].size: 0 count is out of range; use 1 to 65536"},
           {"fabric.dimension[0].size", "5",
            "--set: fabric.dimension[0].size: the fabric joins 80 chips, machine.chips says 64"},
           {"fabric.dimension[0].wrap", "maybe", "--set: fabric.dimension[0].wrap: 'maybe' is no possible value; "},
           {"fabric.level[0].size", "4", "--set: fabric.level[0].size has no effect on this machine's fabric; "},
           {"fabric.edges", "links.csv", "--set: fabric.edges: links.csv: no such file; "},
           {"fabric.torus.x", "4", "--set: unknown parameter 'fabric.torus.x'; "}}) {
    const std::string error = sample::input_error([&, &name = name, &value = value] {
      static_cast<void>(load_platform("trn2-ultraserver", {{name, value, "--set"}}));
    });
    EXPECT_NE(error.find(expected), std::string::npos) << name << ": " << error;
  }
}

}  // namespace
}  // namespace trnsim
