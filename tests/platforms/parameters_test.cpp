// The parameter table: one row for every number of a machine.
#include "platforms/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "platforms/platform.h"
#include "tests/platforms/files.h"

namespace trnsim {
namespace {

using sample::input_error;

/// The unit that `real` counts, so that bounds can be written to the last digit.
std::string base_unit(Dimension dimension) {
  static const std::map<Dimension, std::string> kUnits = {{Dimension::kCount, "count"},
                                                          {Dimension::kFraction, ""},
                                                          {Dimension::kFrequency, "Hz"},
                                                          {Dimension::kBandwidth, "B/s"},
                                                          {Dimension::kCapacity, "B"},
                                                          {Dimension::kTime, "ps"},
                                                          {Dimension::kEnergyPerMac, "fJ/MAC"},
                                                          {Dimension::kEnergyPerByte, "fJ/B"},
                                                          {Dimension::kEnergyPerOperation, "fJ/op"},
                                                          {Dimension::kPower, "W"},
                                                          {Dimension::kPrice, "USD/h"}};
  return kUnits.at(dimension);
}

bool is_energy(Dimension dimension) {
  return dimension == Dimension::kEnergyPerMac || dimension == Dimension::kEnergyPerByte ||
         dimension == Dimension::kEnergyPerOperation;
}

/// A bound as a file would write it, moved by `step` base units.
std::string bound(const Parameter& parameter, double base, int step) {
  std::array<char, 40> text{};
  const double scaled = is_energy(parameter.dimension) ? base * 1e15 : base;
  const bool whole = scaled >= 1 || scaled == 0;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.6f", scaled + (whole ? step : 0.001 * step));
  return text.data() + base_unit(parameter.dimension);
}

/// What is said of `parameter` set to `value` on a machine that has it; empty if accepted.
std::string refusal(const Parameter& parameter, const std::string& value) {
  static const sample::Files files;
  static const std::string torus = files.write("torus.csv", sample::flattened("trn2-ultraserver"));
  static const std::string switched = files.write("switched.csv", sample::flattened("trn3-ultraserver-gen2"));
  const std::string& machine =
      parameter.applies == Applies::kSwitched || parameter.applies == Applies::kSwitches ? switched : torus;
  return input_error([&] {
    static_cast<void>(load_platform(machine, {{std::string(parameter.name), value, "--set"}}));
  });
}

TEST(ParameterTable, IsSortedAndEveryRowHasAMeaning) {
  const auto table = parameter_table();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(), [](auto& a, auto& b) { return a.name < b.name; }));
  std::set<std::string_view> names;
  for (const Parameter& parameter : table) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
    EXPECT_NE(parameter.name.find('.'), std::string_view::npos) << parameter.name << ": platform names have dots";
    EXPECT_LE(parameter.low, parameter.high) << parameter.name;
    EXPECT_EQ(find_parameter(parameter.name), &parameter) << parameter.name;
  }
}

TEST(ParameterTable, EveryParameterChangesItsOwnBytesOfTheMachine) {
  // Two values of one parameter differ in the machine, and no two parameters write the same bytes.
  std::map<std::size_t, std::string_view> owner;
  const auto bytes = [](const MachineSpec& m) {
    std::string all;
    const auto append = [&](const auto& part) { all.append(reinterpret_cast<const char*>(&part), sizeof(part)); };
    append(m.chips), append(m.instances), append(m.cores_per_chip), append(m.default_lnc);
    append(m.core), append(m.dma), append(m.hbm), append(m.fabric), append(m.power), append(m.host);
    append(m.collective_rules);
    return all;
  };
  for (const Parameter& parameter : parameter_table()) {
    if (parameter.dimension == Dimension::kFile) continue;
    // In memory of zeros, so that bytes between fields are equal too.
    std::vector<std::byte> memory(2 * sizeof(MachineSpec), std::byte{});
    MachineSpec& one = *new (memory.data()) MachineSpec;
    MachineSpec& two = *new (memory.data() + sizeof(MachineSpec)) MachineSpec;
    Value low, high;
    low.integer = 1, high.integer = 2, low.real = 0.25, high.real = 0.5;
    if (!parameter.words.empty()) low.word = parameter.words.front(), high.word = parameter.words.back();
    parameter.set(one, low);
    parameter.set(two, high);
    const std::string a = bytes(one), b = bytes(two);
    const auto difference = std::mismatch(a.begin(), a.end(), b.begin());
    ASSERT_NE(difference.first, a.end()) << parameter.name << " changes nothing";
    const auto [entry, fresh] =
        owner.try_emplace(static_cast<std::size_t>(difference.first - a.begin()), parameter.name);
    EXPECT_TRUE(fresh) << parameter.name << " writes the field of " << entry->second;
  }
}

TEST(ParameterTable, BoundsAreAcceptedAndOneBeyondIsRefusedWithTheRange) {
  for (const Parameter& p : parameter_table()) {
    if (is_text(p.dimension)) continue;
    const std::string name(p.name);
    for (const std::string& good : {bound(p, p.low, 0), bound(p, p.high, 0)}) {
      // The value may still not fit the rest of the machine (a torus of other size): that is another sentence.
      EXPECT_EQ(refusal(p, good).find("out of range"), std::string::npos)
          << name << "=" << good << ": " << refusal(p, good);
    }
    const std::string above = refusal(p, bound(p, p.high, 1));
    EXPECT_EQ(above.rfind("--set: " + name + ": ", 0), 0U) << above;
    EXPECT_NE(above.find(" is out of range; use "), std::string::npos) << above;
    const std::string below = refusal(p, bound(p, p.low, -1));
    const std::string wrong = p.low > 0 ? " is out of range; use " : " is negative; ";
    EXPECT_NE(below.find(wrong), std::string::npos) << name << ": " << below;
  }
}

TEST(ParameterTable, WordsOutsideTheListAreRefused) {
  for (const Parameter& p : parameter_table()) {
    if (p.dimension != Dimension::kWord) continue;
    EXPECT_NE(refusal(p, "maybe").find("use one of "), std::string::npos) << p.name;
  }
}

TEST(ParameterTable, IndexedNamesAreRead) {
  std::uint32_t index = 0;
  ASSERT_NE(find_indexed("core[17].clock_scale", index), nullptr);
  EXPECT_EQ(index, 17U);
  EXPECT_NE(find_indexed("link[0].bandwidth_scale", index), nullptr);
  for (const char* bad : {"core[].clock_scale", "core[-1].clock_scale", "core[x].clock_scale", "core[1].clock",
                          "chip[1].clock_scale", "core[01].clock_scale", "core[99999999999].clock_scale", "core]1[."}) {
    EXPECT_EQ(find_indexed(bad, index), nullptr) << bad;
  }
}

TEST(ParameterTable, TheListForPeopleHasEveryNameInOrder) {
  const std::vector<ParameterInfo> list = platform_parameters();
  EXPECT_EQ(list.size(), parameter_table().size() + indexed_parameters().size());
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](auto& a, auto& b) { return a.name < b.name; }));
  for (const ParameterInfo& row : list) EXPECT_FALSE(row.range.empty()) << row.name;
  EXPECT_TRUE(is_platform_parameter("core.tensor.clock"));
  EXPECT_TRUE(is_platform_parameter("core[3].clock_scale"));
  EXPECT_FALSE(is_platform_parameter("batch"));
  EXPECT_FALSE(is_platform_parameter("published.fp8"));
}

}  // namespace
}  // namespace trnsim
