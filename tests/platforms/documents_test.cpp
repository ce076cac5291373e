// docs/platforms.md says what the reader does.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "platforms/parameters.h"
#include "platforms/platform.h"
#include "tests/platforms/files.h"

namespace trnsim {
namespace {

std::string page(const std::string& name = "platforms.md") {
  std::ifstream file(std::string(TRNSIM_ROOT) + "/docs/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(PlatformsPage, ItsExampleIsAPlatform) {
  const std::string text = page();
  const std::size_t begin = text.find("```\n") + 4;
  std::string example = text.substr(begin, text.find("```", begin) - begin);
  const std::string parent = "inherits,";
  ASSERT_NE(example.find(parent), std::string::npos);
  example.insert(example.find(parent) + parent.size(), data_folder() + "/platforms/");
  const sample::Files files;
  const MachineSpec machine = load_platform(files.write("example.csv", example)).machine;
  EXPECT_EQ(machine.fabric.dimensions[0].bandwidth, BytesPerSecond(256'000'000'000));
}

TEST(PlatformsPage, NamesEveryUnitAndConfidence) {
  const std::string text = page();
  const auto named = [&](const std::string& word) { return text.find('`' + word + '`') != std::string::npos; };
  for (const Dimension dimension :
       {Dimension::kCount, Dimension::kFraction, Dimension::kFrequency, Dimension::kBandwidth, Dimension::kCapacity,
        Dimension::kTime, Dimension::kPower, Dimension::kPrice}) {
    std::istringstream units(accepted_units(dimension));
    for (std::string unit; std::getline(units >> std::ws, unit, ',');) EXPECT_TRUE(named(unit)) << unit;
  }
  for (const char* word : {"documented", "measured", "derived", "third-party", "estimated", "calibrated"}) {
    EXPECT_TRUE(named(word)) << word;
  }
}

/// What stands in the files of `platform`, by parameter.
std::map<std::string, std::string> values_of(const std::string& platform) {
  std::map<std::string, std::string> values;
  for (const ResolvedParameter& p : load_platform(platform).parameters) values[p.name] = p.value;
  return values;
}

TEST(CollectivesPage, HasTheRulesOfEveryGeneration) {
  const std::string text = page("modelling/collectives.md");
  std::vector<std::map<std::string, std::string>> generations;
  for (const char* platform : {"trn1-2xlarge", "trn2-3xlarge", "trn3-3xlarge", "trn4-projected"}) {
    generations.push_back(values_of(platform));
  }
  std::map<std::string, std::string> inf2 = values_of("inf2-xlarge");
  for (const Parameter& parameter : parameter_table()) {
    const std::string name(parameter.name);
    if (!name.starts_with("collective.rule.")) continue;
    std::string row = "| `" + name + "` | " + std::string(parameter.meaning) + " |";
    for (auto& values : generations) row += " " + values[name] + " |";
    EXPECT_NE(text.find(row + "\n"), std::string::npos) << "docs/modelling/collectives.md lacks\n" << row;
    EXPECT_EQ(inf2[name], generations.front()[name]) << name;
  }
}

}  // namespace
}  // namespace trnsim
