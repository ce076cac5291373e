// Every chip of every machine has an address of its own.
#include <gtest/gtest.h>

#include "models/system/machine.h"

namespace trnsim {
namespace {

MachineSpec machine_of(FabricKind kind, std::uint32_t chips, std::uint32_t instances) {
  MachineSpec machine;
  machine.chips = chips * instances;
  machine.instances = instances;
  machine.cores_per_chip = 8;
  machine.fabric.kind = kind;
  return machine;
}

void expect_addresses(const MachineSpec& machine) {
  const AddressMap map = address_map(machine);
  for (std::uint32_t core = 0; core < machine.cores(); ++core) {
    const std::uint64_t address = map.encode(CoreId(core), Space::kSbuf);
    ASSERT_EQ(map.core_of(address), CoreId(core));
    ASSERT_EQ(map.chip_of(address), ChipId(core / machine.cores_per_chip));
    ASSERT_EQ(AddressMap::space_of(address), Space::kSbuf);
  }
}

TEST(Addresses, NameEveryChipOfAnUltraClusterOfUltraServers) {
  MachineSpec gen2 = machine_of(FabricKind::kSwitched, 144, 500);
  gen2.fabric.racks = 2, gen2.fabric.sleds_per_rack = 18, gen2.fabric.chips_per_sled = 4;
  expect_addresses(gen2);
  EXPECT_EQ(address_map(gen2).encode(CoreId(72 * 8), Space::kHbm) >> 48, 1U);  // the second rack
  MachineSpec ultraserver = machine_of(FabricKind::kTorus, 64, 1024);
  ultraserver.fabric.dimensions.assign(3, {4, true, {}, {}});
  expect_addresses(ultraserver);
  EXPECT_EQ(address_map(ultraserver).chips_per_server, 16U);
}

TEST(Addresses, NameEveryChipOfARingOf65536) {
  MachineSpec ring = machine_of(FabricKind::kTorus, 65536, 1);
  ring.fabric.dimensions.assign(1, {65536, true, {}, {}});
  expect_addresses(ring);
}

}  // namespace
}  // namespace trnsim
