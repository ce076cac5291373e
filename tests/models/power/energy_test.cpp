// Energy from counts and power from parts, on numbers that can be added by hand.
#include "models/power/energy.h"

#include <gtest/gtest.h>

namespace trnsim {
namespace {

constexpr std::size_t at(Dtype dtype) {
  return static_cast<std::size_t>(dtype);
}

ChipPowerSpec chip() {
  ChipPowerSpec spec;
  spec.mac[at(Dtype::kBf16)] = Joules(2e-12);
  spec.mac[at(Dtype::kMxfp8)] = Joules(1e-12);
  spec.sbuf_byte = Joules(3e-12);
  spec.psum_byte = Joules(5e-12);
  spec.vector_element = Joules(7e-12);
  spec.hbm_byte = Joules(11e-12);
  spec.link_byte = Joules(13e-12);
  spec.switch_byte = Joules(17e-12);
  spec.static_power = Watts(100);
  spec.tdp = Watts(500);
  return spec;
}

TEST(Energy, EachCountCostsItsOwnEnergy) {
  Activity activity;
  activity.macs[at(Dtype::kBf16)] = 1'000;
  activity.macs[at(Dtype::kMxfp8)] = 500;
  activity.sbuf_bytes = 10;
  activity.psum_bytes = 20;
  activity.vector_elements = 30;
  activity.hbm_read_bytes = 40;
  activity.hbm_write_bytes = 60;
  activity.link_bytes = 70;
  activity.switch_bytes = 80;
  const EnergyReport report = energy_of(activity, Time(0), 4, chip());
  EXPECT_DOUBLE_EQ(report.tensor.count(), 2'500e-12);
  EXPECT_DOUBLE_EQ(report.sbuf.count(), 30e-12);
  EXPECT_DOUBLE_EQ(report.psum.count(), 100e-12);
  EXPECT_DOUBLE_EQ(report.vector.count(), 210e-12);
  EXPECT_DOUBLE_EQ(report.hbm.count(), 1'100e-12);
  EXPECT_DOUBLE_EQ(report.link.count(), 70 * 13e-12 + 80 * 17e-12);
  EXPECT_EQ(report.fixed.count(), 0);
  EXPECT_DOUBLE_EQ(report.total().count(), (2'500 + 30 + 100 + 210 + 1'100 + 910 + 1'360) * 1e-12);
}

TEST(Energy, AnIdleMachineDrawsItsStaticPower) {
  const EnergyReport report = energy_of(Activity(), Time(2'000'000), 4, chip());  // 2 us
  EXPECT_DOUBLE_EQ(report.fixed.count(), 4 * 100 * 2e-6);
  EXPECT_DOUBLE_EQ(report.total().count(), report.fixed.count());
}

TEST(Energy, ReplicasCountedTogetherEqualReplicasAddedUp) {
  Activity one;
  one.macs[at(Dtype::kBf16)] = 123'456'789;
  one.hbm_read_bytes = 987'654'321;
  Activity eight;
  eight.add(one, 8);
  Activity added;
  for (int i = 0; i < 8; ++i) added.add(one, 1);
  EXPECT_EQ(energy_of(eight, Time(5), 8, chip()).total(), energy_of(added, Time(5), 8, chip()).total());
}

TEST(Power, ItPowerIsTheSumOfThePartsOverTheSupply) {
  SystemPowerSpec s;
  s.vrm_loss = 0.1;
  s.hosts = 2, s.host = Watts(300);
  s.nics = 3, s.nic = Watts(30);
  s.retimers = 4, s.retimer = Watts(10);
  s.cables = 5, s.cable = Watts(9);
  s.sled_switches = 6, s.sled_switch = Watts(12);
  s.rack_switches = 7, s.rack_switch = Watts(55);
  s.top_of_rack = Watts(1'000);
  s.auxiliary = 8, s.auxiliary_each = Watts(25);
  s.fan_fraction = 0.05;
  s.psu_efficiency = 0.5;
  const double parts = 10 * 500 * 1.1 + 600 + 90 + 40 + 45 + 72 + 385 + 1'000 + 200;
  EXPECT_DOUBLE_EQ(it_power(Watts(500), 10, s).count(), parts * 1.05 / 0.5);
}

TEST(Power, UtilityPowerAddsTheNetworkThenTheFacility) {
  SystemPowerSpec s;
  s.network_share = 0.05;
  s.pue = 1.2;
  EXPECT_DOUBLE_EQ(utility_power(Watts(1'000), s).count(), 1'000 * 1.05 * 1.2);
}

}  // namespace
}  // namespace trnsim
