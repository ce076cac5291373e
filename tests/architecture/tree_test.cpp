// The tree speaks of itself alone, and its top shows its rooms.
#include "tests/architecture/tree.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace trnsim {
namespace {

TEST(Tree, TheTopHoldsItsRoomsAndNothingElse) {
  const std::set<std::string> names = {
      "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "demo",  "docs",      "models",
      "platforms",      "results",           "sweeps",  "test",      "tests", "workloads", "build"};
  for (const auto& entry : std::filesystem::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name.starts_with(".") || names.count(name) > 0) << name << " does not belong at the top";
  }
}

TEST(Tree, NamesNoPathOfOneMachine) {
  // Built from parts: this file must not match itself.
  const std::regex machine(std::string("(^|[^\\w.-])/(work|root|home/\\w+)") + "/|\\.\\./" + "shared");
  for (const SourceFile& file : files_below("")) {
    std::size_t number = 0;
    for (const std::string& line : lines_of(file.text)) {
      ++number;
      EXPECT_FALSE(line.size() < 4096 && std::regex_search(line, machine))
          << file.name << ":" << number << ": " << line;
    }
  }
}

TEST(Tree, HasNoUnfinishedMarks) {
  const std::regex mark(std::string("\\b(TO") + "DO|FIX" + "ME|X" + "XX)\\b");
  for (const char* folder : {"models", "platforms", "workloads", "sweeps", "results", "tests", "docs", ".ci"}) {
    for (const SourceFile& file : files_below(folder)) {
      if (file.name.ends_with(".csv")) continue;
      EXPECT_FALSE(std::regex_search(file.text, mark)) << file.name;
    }
  }
}

TEST(Tree, SourcesAreOfReadableLength) {
  for (const char* folder : {"models", "platforms", "workloads", "sweeps", "results", "tests"}) {
    for (const SourceFile& file : cpp_below(folder)) {
      EXPECT_LT(lines_of(file.text).size(), 400U) << file.name;
    }
  }
}

TEST(Tree, HeadersGuardThemselves) {
  for (const char* folder : {"models", "platforms", "workloads", "sweeps", "results", "tests"}) {
    for (const SourceFile& file : cpp_below(folder)) {
      if (!file.name.ends_with(".h")) continue;
      EXPECT_NE(file.text.find("#pragma once"), std::string::npos) << file.name;
    }
  }
}

}  // namespace
}  // namespace trnsim
