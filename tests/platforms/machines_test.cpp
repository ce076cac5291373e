// The machines that ship: what their files add up to, beside what the vendor prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/power/energy.h"
#include "platforms/platform.h"

namespace trnsim {
namespace {

double published(const Platform& platform, const std::string& name) {
  for (const PublishedTotal& total : platform.published) {
    if (total.name == name) return total.value;
  }
  throw std::runtime_error("no published." + name);
}

double capacity(const MachineSpec& m) {
  return double(m.chips) * m.hbm.stacks * static_cast<double>(m.hbm.capacity.count());
}
double bandwidth(const MachineSpec& m) {
  return double(m.chips) * m.hbm.stacks * static_cast<double>(m.hbm.bandwidth.count());
}
double at_tdp_kw(const MachineSpec& m) {
  return it_power(m.power.chip.tdp, m.chips, m.power.system).count() / 1e3;
}

/// Nothing of it can be bought or measured.
bool projected(const std::string& platform) {
  return platform.starts_with("trn4");
}
bool has_neuroncores_v2(const std::string& platform) {
  return platform.starts_with("trn1") || platform.starts_with("inf2");
}

constexpr double kGiB = 1024.0 * 1024 * 1024;

TEST(Machines, OnlyWholeMachinesAreListed) {
  EXPECT_EQ(platform_names(),
            (std::vector<std::string>{"inf2-24xlarge", "inf2-48xlarge", "inf2-8xlarge", "inf2-xlarge", "trn1-2xlarge",
                                      "trn1-32xlarge", "trn1n-32xlarge", "trn2-3xlarge", "trn2-48xlarge",
                                      "trn2-ultraserver", "trn3-3xlarge", "trn3-gen2-2-servers", "trn3-gen2-4-servers",
                                      "trn3-gen2-rack", "trn3-ultraserver-gen1", "trn3-ultraserver-gen2",
                                      "trn3-ultraserver-gen2-later-silicon", "trn4-projected", "trn4-projected-wide"}));
}

TEST(Machines, EveryNumberHasASourceOfItsOwnKind) {
  for (const std::string& name : platform_names()) {
    const Platform platform = load_platform(name);
    EXPECT_TRUE(std::is_sorted(platform.parameters.begin(), platform.parameters.end(),
                               [](auto& a, auto& b) { return a.name < b.name; }));
    for (const ResolvedParameter& p : platform.parameters) {
      EXPECT_GE(p.source.size(), 8U) << name << " " << p.name;
      EXPECT_EQ(p.source.find("../"), std::string::npos) << name << " " << p.name;
      EXPECT_NE(p.origin.find(".csv:"), std::string::npos) << name << " " << p.name;
    }
  }
}

TEST(Machines, WhatIsEstimatedSaysWhatElseItCouldBe) {
  for (const std::string& name : platform_names()) {
    for (const ResolvedParameter& p : load_platform(name).parameters) {
      const bool word = p.unit.empty();  // a choice, which has no bounds
      if (p.confidence != "estimated" || word) continue;
      EXPECT_NE(p.low, "") << name << " " << p.name;
      EXPECT_NE(p.high, "") << name << " " << p.name;
      EXPECT_NE(p.low, p.high) << name << " " << p.name;
    }
  }
}

TEST(Machines, WhatWasFittedIsCalibratedAndNamesWhatItWasFittedOn) {
  for (const std::string& name : platform_names()) {
    std::size_t calibrated = 0;
    for (const ResolvedParameter& p : load_platform(name).parameters) {
      const bool fitted = p.source.find("fitted to") != std::string::npos ||
                          p.source.find("watts chosen so that the UltraServer closes") != std::string::npos;
      const bool is_calibrated = p.confidence == "calibrated";
      if (p.unit != "count") {
        EXPECT_EQ(is_calibrated, fitted) << name << " " << p.name;
      }
      calibrated += is_calibrated ? 1 : 0;
    }
    if (projected(name)) {
      EXPECT_EQ(calibrated, 0U) << name;
    } else {
      EXPECT_GE(calibrated, 8U) << name;
    }
  }
}

TEST(Machines, NothingOnTrainium3IsCalledMeasured) {
  for (const std::string& name : platform_names()) {
    if (!name.starts_with("trn3")) continue;
    for (const ResolvedParameter& p : load_platform(name).parameters) {
      EXPECT_NE(p.confidence, "measured")
          << name << " " << p.name << ": no instruction or collective was measured there";
    }
  }
}

TEST(Machines, EverythingOnTrainium4IsCalledEstimated) {
  for (const std::string& name : platform_names()) {
    if (!projected(name)) continue;
    for (const ResolvedParameter& p : load_platform(name).parameters) {
      EXPECT_EQ(p.confidence, "estimated") << name << " " << p.name;
    }
  }
}

TEST(Machines, ShapesAreTheDocumentedOnes) {
  const MachineSpec trn1 = load_platform("trn1-32xlarge").machine;
  EXPECT_EQ(trn1.chips, 16U);
  EXPECT_EQ(trn1.cores(), 32U);
  EXPECT_EQ(load_platform("inf2-24xlarge").machine.cores(), 12U);
  EXPECT_EQ(load_platform("inf2-48xlarge").machine.cores(), 24U);
  const MachineSpec server = load_platform("trn2-48xlarge").machine;
  EXPECT_EQ(server.chips, 16U);
  EXPECT_EQ(server.cores(), 128U);
  const MachineSpec trn2 = load_platform("trn2-ultraserver").machine;
  EXPECT_EQ(trn2.chips, 64U);
  EXPECT_EQ(trn2.cores(), 512U);
  EXPECT_EQ(trn2.cores_per_stack(), 2U);
  EXPECT_EQ(trn2.fabric.kind, FabricKind::kTorus);
  const MachineSpec gen1 = load_platform("trn3-ultraserver-gen1").machine;
  EXPECT_EQ(gen1.chips, 64U);
  EXPECT_FALSE(gen1.fabric.sled_switch);
  const MachineSpec gen2 = load_platform("trn3-ultraserver-gen2").machine;
  EXPECT_EQ(gen2.chips, 144U);
  EXPECT_EQ(gen2.cores(), 1152U);
  EXPECT_TRUE(gen2.fabric.sled_switch);
  EXPECT_EQ(gen2.fabric.planes, 4U);
  EXPECT_EQ(load_platform("trn3-ultraserver-gen2-later-silicon").machine.fabric.planes, 2U);
  EXPECT_EQ(load_platform("trn3-gen2-2-servers").machine.chips, 8U);
  EXPECT_EQ(load_platform("trn3-gen2-4-servers").machine.chips, 16U);
  EXPECT_EQ(load_platform("trn3-gen2-rack").machine.chips, 72U);
}

TEST(Machines, OneChipAloneIsTheChipOfTheLargerMachinesWithoutLinks) {
  const struct {
    const char *alone, *larger;
    std::uint32_t cores;
  } cases[] = {{"trn1-2xlarge", "trn1-32xlarge", 2},
               {"inf2-xlarge", "inf2-48xlarge", 2},
               {"inf2-8xlarge", "inf2-24xlarge", 2},
               {"trn2-3xlarge", "trn2-48xlarge", 8},
               {"trn3-3xlarge", "trn3-ultraserver-gen1", 8}};
  for (const auto& c : cases) {
    const Platform alone = load_platform(c.alone);
    const Platform larger = load_platform(c.larger);
    EXPECT_EQ(alone.machine.chips, 1U) << c.alone;
    EXPECT_EQ(alone.machine.cores(), c.cores) << c.alone;
    EXPECT_EQ(alone.machine.fabric.kind, FabricKind::kNone) << c.alone;
    EXPECT_DOUBLE_EQ(alone.machine.array_peak(Dtype::kBf16) * larger.machine.chips,
                     larger.machine.array_peak(Dtype::kBf16));
    for (const ResolvedParameter& p : alone.parameters) {
      EXPECT_EQ(p.name.find("fabric.link"), std::string::npos) << c.alone;
      const auto same = std::find_if(larger.parameters.begin(), larger.parameters.end(),
                                     [&](const ResolvedParameter& other) { return other.name == p.name; });
      if (!p.name.starts_with("core.") && !p.name.starts_with("chip.") && !p.name.starts_with("dma.")) continue;
      ASSERT_NE(same, larger.parameters.end()) << p.name;
      EXPECT_EQ(p.value + p.unit, same->value + same->unit) << c.alone << " " << p.name;
    }
  }
}

TEST(Machines, Trainium1AndInferentia2AreTwoNeuronCoresV2WithAnHbmStackEach) {
  for (const char* name : {"trn1-2xlarge", "inf2-xlarge"}) {
    const MachineSpec m = load_platform(name).machine;
    EXPECT_EQ(m.cores(), 2U) << name;
    EXPECT_EQ(m.cores_per_stack(), 1U) << name;
    EXPECT_EQ(m.default_lnc, 1U) << name;
    EXPECT_EQ(m.fabric.kind, FabricKind::kNone) << name;
    EXPECT_DOUBLE_EQ(m.array_peak(Dtype::kBf16), 2.0 * 128 * 128 * 2.8e9 * 2) << name;
    EXPECT_DOUBLE_EQ(m.array_peak(Dtype::kFp8), m.array_peak(Dtype::kBf16)) << name << ": no double rate";
    EXPECT_DOUBLE_EQ(m.array_peak(Dtype::kFp32), m.array_peak(Dtype::kBf16) / 4) << name;
    EXPECT_EQ(m.array_peak(Dtype::kMxfp8), 0) << name << ": no microscaling";
    EXPECT_FALSE(m.core.tensor.limiter) << name;
    EXPECT_EQ(m.core.vector.exponential_rate, 0U) << name;
    EXPECT_EQ(m.dma.hardware_generators, 0U) << name;
    EXPECT_EQ(m.dma.engines * m.dma.engine_bandwidth.count(), 272'000'000'000U) << name << ": below the stack's 410";
  }
}

TEST(Machines, ATrainium3Gen2UltraServerHas362PetaflopsOfMxfp8ByBothCounts) {
  const Platform gen2 = load_platform("trn3-ultraserver-gen2");
  EXPECT_DOUBLE_EQ(gen2.machine.array_peak(Dtype::kMxfp8), 2.0 * 512 * 128 * 2.4e9 * 1152);
  EXPECT_EQ(std::lround(gen2.machine.array_peak(Dtype::kMxfp8) / 1e15), 362);
  EXPECT_EQ(std::lround(published(gen2, "mxfp8") / 1e15), 362);
  EXPECT_EQ(gen2.machine.array_peak(Dtype::kMxfp4), gen2.machine.array_peak(Dtype::kMxfp8));
}

TEST(Machines, TotalsOfMemoryEqualThePublishedOnes) {
  for (const std::string& name : platform_names()) {
    const Platform platform = load_platform(name);
    EXPECT_DOUBLE_EQ(capacity(platform.machine), published(platform, "capacity")) << name;
    EXPECT_DOUBLE_EQ(bandwidth(platform.machine), published(platform, "bandwidth")) << name;
  }
  const Platform gen2 = load_platform("trn3-ultraserver-gen2");
  EXPECT_DOUBLE_EQ(capacity(gen2.machine) / kGiB, 20'736);
  EXPECT_DOUBLE_EQ(bandwidth(gen2.machine) / 1e12, 705.6);
}

TEST(Machines, ChipTotalsOfBf16CountEnginesThatDoNoMatmul) {
  for (const std::string& name : platform_names()) {
    if (projected(name)) continue;  // no such total was previewed
    const Platform platform = load_platform(name);
    const double ratio = platform.machine.array_peak(Dtype::kBf16) / published(platform, "bf16");
    const bool v2 = has_neuroncores_v2(name);
    EXPECT_GT(ratio, v2 ? 0.96 : 0.93) << name;  // the v2 totals follow from an array at 2.9 GHz instead
    EXPECT_LT(ratio, v2 ? 0.97 : 0.95) << name;
  }
}

TEST(Machines, Trainium4HasThePreviewedRatiosToTrainium3InBothScenarios) {
  const MachineSpec trn3 = load_platform("trn3-ultraserver-gen2").machine;
  for (const char* name : {"trn4-projected", "trn4-projected-wide"}) {
    const Platform platform = load_platform(name);
    const MachineSpec& trn4 = platform.machine;
    ASSERT_EQ(trn4.chips, trn3.chips);
    EXPECT_DOUBLE_EQ(trn4.array_peak(Dtype::kMxfp8), 3 * trn3.array_peak(Dtype::kMxfp8)) << name;
    EXPECT_DOUBLE_EQ(trn4.array_peak(Dtype::kMxfp4), 6 * trn3.array_peak(Dtype::kMxfp4)) << name;
    EXPECT_NEAR(trn4.array_peak(Dtype::kMxfp8) / published(platform, "mxfp8"), 1, 0.001) << name;
    EXPECT_DOUBLE_EQ(bandwidth(trn4), 4 * bandwidth(trn3)) << name;
    EXPECT_DOUBLE_EQ(capacity(trn4), 2 * capacity(trn3)) << name;
    EXPECT_EQ(trn4.cores_per_chip * trn4.dma.engines, 256U) << name;
    EXPECT_EQ(trn4.cores_per_chip / trn4.default_lnc, 8U) << name << ": as many ranks in both";
    EXPECT_EQ(trn4.cores_per_chip * trn4.core.partitions, 2048U) << name << ": as many vector lanes in both";
  }
}

TEST(Machines, AgainstTheTrn2UltraServerTheRatiosOfTheTalkAreReproducedSaveBandwidth) {
  const Platform trn2 = load_platform("trn2-ultraserver");
  const Platform gen2 = load_platform("trn3-ultraserver-gen2");
  EXPECT_NEAR(published(gen2, "mxfp8") / published(trn2, "fp8"), 4.36, 0.005);
  EXPECT_NEAR(gen2.machine.array_peak(Dtype::kMxfp8) / trn2.machine.array_peak(Dtype::kFp8), 4.50, 0.005);
  EXPECT_DOUBLE_EQ(capacity(gen2.machine) / capacity(trn2.machine), 3.375);
  EXPECT_NEAR(bandwidth(gen2.machine) / bandwidth(trn2.machine), 3.80, 0.005);
  EXPECT_NEAR(published(gen2, "talk_compute_over_trn2"), 4.36, 0.05);
  EXPECT_NEAR(published(gen2, "talk_capacity_over_trn2"), 3.375, 0.05);
  EXPECT_GT(published(gen2, "talk_bandwidth_over_trn2") - 3.80, 0.05) << "said 3.9: not reproduced";
}

TEST(Machines, PowerClosesOnTheTotalsOfItsSources) {
  EXPECT_NEAR(at_tdp_kw(load_platform("trn2-ultraserver").machine), 47.8, 0.05);
  EXPECT_NEAR(at_tdp_kw(load_platform("trn3-ultraserver-gen1").machine), 64.9, 0.05);
  EXPECT_NEAR(at_tdp_kw(load_platform("trn3-ultraserver-gen2").machine), 145.1, 0.05);
  EXPECT_NEAR(2 * at_tdp_kw(load_platform("trn2-48xlarge").machine), 26.0, 0.05) << "a standard rack has two servers";
  EXPECT_NEAR(16 * at_tdp_kw(load_platform("trn2-3xlarge").machine), at_tdp_kw(load_platform("trn2-48xlarge").machine),
              0.001);
  EXPECT_NEAR(at_tdp_kw(load_platform("trn3-3xlarge").machine), 0.975, 0.005)
      << "Gen1's 1.015 less switches and cables";
  EXPECT_NEAR(at_tdp_kw(load_platform("trn1-2xlarge").machine), 0.327, 0.001);
  EXPECT_NEAR(at_tdp_kw(load_platform("inf2-xlarge").machine), 0.276, 0.001);
  EXPECT_NEAR(at_tdp_kw(load_platform("trn1-32xlarge").machine), 5.2, 0.05);
  EXPECT_NEAR(at_tdp_kw(load_platform("trn1-32xlarge").machine), 16 * at_tdp_kw(load_platform("trn1-2xlarge").machine),
              0.001);
  EXPECT_NEAR(at_tdp_kw(load_platform("inf2-48xlarge").machine), 3.4, 0.05);
  EXPECT_NEAR(2 * at_tdp_kw(load_platform("inf2-24xlarge").machine), at_tdp_kw(load_platform("inf2-48xlarge").machine),
              0.001);
}

TEST(Machines, PartsOfATrn3UltraServerDrawTheirShareWithoutItsCables) {
  const MachineSpec whole = load_platform("trn3-ultraserver-gen2").machine;
  const PowerSpec& power = whole.power;
  const double cables_kw = power.system.cables * power.system.cable.count() * (1 + power.system.fan_fraction) /
                           power.system.psu_efficiency / 1e3;
  for (const char* name : {"trn3-gen2-2-servers", "trn3-gen2-4-servers", "trn3-gen2-rack"}) {
    const MachineSpec part = load_platform(name).machine;
    EXPECT_NEAR(at_tdp_kw(part) * whole.chips / part.chips, at_tdp_kw(whole) - cables_kw, 0.01) << name;
  }
}

TEST(Machines, AllInUtilityPowerPerChip) {
  const auto per_chip = [](const char* name) {
    const MachineSpec m = load_platform(name).machine;
    const Watts it = it_power(m.power.chip.tdp, m.chips, m.power.system);
    return utility_power(it, m.power.system).count() / m.chips / 1e3;
  };
  EXPECT_NEAR(per_chip("trn2-ultraserver"), 0.90, 0.01);
  EXPECT_NEAR(per_chip("trn3-ultraserver-gen1"), 1.22, 0.01);
  EXPECT_NEAR(per_chip("trn3-ultraserver-gen2"), 1.17, 0.02);  // quoted for a PUE of 1.08 to 1.10
}

TEST(Machines, ReadsAndWritesThatTakeTurnsSustainFourFifthsOfHbm) {
  for (const std::string& name : platform_names()) {
    const HbmSpec hbm = load_platform(name).machine.hbm;
    EXPECT_EQ(hbm.mixed_fraction, 0.80) << name;
    EXPECT_GT(std::min(hbm.read_fraction, hbm.write_fraction), hbm.mixed_fraction) << name;
  }
}

TEST(Machines, ADependentMessageOnTrn2TakesTwoPointFourMicroseconds) {
  const MachineSpec m = load_platform("trn2-48xlarge").machine;
  const Time message = m.core.collective.message_issue + m.core.collective.step + m.dma.read_latency + m.dma.notify;
  EXPECT_NEAR(microseconds(message), 2.4, 0.001);
}

TEST(Machines, ABf16TileOf512ColumnsTakes213NanosecondsOfTheArrayAnd183OnNeuronCoreV2) {
  for (const std::string& name : platform_names()) {
    if (projected(name)) continue;
    const TensorSpec tensor = load_platform(name).machine.core.tensor;
    EXPECT_EQ(duration(std::uint64_t{512}, tensor.clock), Time(has_neuroncores_v2(name) ? 182'857 : 213'333)) << name;
  }
}

/// Chip power at the point that the energies were closed on: array full, HBM 40 %, links 50 %, vector and scalar 50 %
/// with 6 B of SBUF per element, and the SRAM traffic per MAC of stationary weights with 512-column tiles.
double chip_watts(const MachineSpec& m, Dtype dtype, double sbuf_per_mac, double psum_per_mac,
                  double elements_per_second) {
  const ChipPowerSpec& p = m.power.chip;
  const double macs = m.array_peak(dtype) / 2 / m.chips;
  const double sram = macs * (sbuf_per_mac * p.sbuf_byte.count() + psum_per_mac * p.psum_byte.count());
  const double hbm = 0.4 * static_cast<double>(m.hbm.bandwidth.count()) * m.hbm.stacks * p.hbm_byte.count();
  const double vector = elements_per_second * (p.vector_element.count() + 6 * p.sbuf_byte.count());
  return p.static_power.count() + macs * p.mac[static_cast<std::size_t>(dtype)].count() + sram + hbm + vector;
}

TEST(Machines, EnergiesCloseOnTheChipsTdp) {
  // Element rates at half use: cores x 128 lanes x (vector + scalar clock) / 2.
  const auto watts_of_v2 = [](const char* name) {
    return chip_watts(load_platform(name).machine, Dtype::kBf16, 0.0195, 0.0625, 2 * 128 * (1.12e9 + 1.4e9) / 2);
  };
  EXPECT_NEAR(watts_of_v2("trn1-2xlarge"), 200, 5);
  EXPECT_NEAR(watts_of_v2("inf2-xlarge"), 190, 5);
  const MachineSpec trn2 = load_platform("trn2-ultraserver").machine;
  EXPECT_NEAR(chip_watts(trn2, Dtype::kBf16, 0.0195, 0.0625, 8 * 128 * (0.96e9 + 1.2e9) / 2), 500, 15);
  EXPECT_NEAR(chip_watts(trn2, Dtype::kFp8, 0.0098, 0.03125, 8 * 128 * (0.96e9 + 1.2e9) / 2), 500, 15);
  const MachineSpec trn3 = load_platform("trn3-ultraserver-gen2").machine;
  EXPECT_NEAR(chip_watts(trn3, Dtype::kMxfp8, 0.0098, 0.0156, 8 * 128 * (1.2e9 + 1.2e9) / 2), 700, 20);
  const MachineSpec trn4 = load_platform("trn4-projected").machine;
  EXPECT_NEAR(chip_watts(trn4, Dtype::kMxfp8, 0.0098, 0.0156, 16 * 128 * (1.2e9 + 1.2e9) / 2), 1640, 50);
}

}  // namespace
}  // namespace trnsim
