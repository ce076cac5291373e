// One way between rooms: what may include and link what.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/architecture/tree.h"

namespace trnsim {
namespace {

using Rooms = std::set<std::string>;

/// Every room and the rooms it may include. "spec" stands for all files *_spec.h: shapes and limits, no modules.
const std::map<std::string, Rooms>& arrows() {
  static const Rooms kHardware = {"spec", "transport", "program", "observe", "mechanism"};
  static const std::map<std::string, Rooms> kArrows = {
      {"mechanism", {}},
      {"program", {"mechanism"}},
      {"observe", {"program", "mechanism"}},
      {"spec", {"program", "mechanism"}},
      {"transport", {"program", "mechanism"}},
      {"neuroncore", kHardware},
      {"dma", kHardware},
      {"memory", kHardware},
      {"topology", {"spec", "program", "mechanism"}},
      {"interconnect", {"spec", "topology", "transport", "program", "observe", "mechanism"}},
      {"power", kHardware},
      {"system",
       {"spec", "neuroncore", "dma", "memory", "interconnect", "topology", "power", "transport", "program", "observe",
        "mechanism"}},
      {"table", {"mechanism"}},
      {"platforms", {"spec", "table", "mechanism"}},
      {"workloads", {"spec", "topology", "program", "table", "mechanism"}},
      {"results", {"table", "mechanism"}},
      {"sweeps",
       {"workloads", "platforms", "system", "results", "table", "spec", "power", "program", "observe", "mechanism"}},
  };
  return kArrows;
}

std::string folder_of(const std::string& room) {
  if (room == "table") return "platforms/table";
  if (room == "platforms" || room == "workloads" || room == "results" || room == "sweeps") return room;
  return "models/" + room;
}

/// The room a file or an included name belongs to; empty if none.
std::string room_of(const std::string& name) {
  if (name.ends_with("_spec.h")) return "spec";
  static const std::regex kModels(R"(models/(\w+)/.*)");
  std::smatch match;
  if (std::regex_match(name, match, kModels)) return match[1];
  if (name.starts_with("platforms/table/")) return "table";
  const std::string top = name.substr(0, name.find('/'));
  return arrows().count(top) > 0 ? top : "";
}

std::vector<SourceFile> sources() {
  std::vector<SourceFile> all;
  for (const char* folder : {"models", "platforms", "workloads", "results", "sweeps"}) {
    for (SourceFile& file : cpp_below(folder)) all.push_back(std::move(file));
  }
  return all;
}

std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m) found.push_back((*m)[1]);
  return found;
}

std::vector<std::string> quoted_includes(const SourceFile& file) {
  static const std::regex kInclude(R"re((?:^|\n)\s*#\s*include\s*"([^"]+)")re");
  return matches(file.text, kInclude);
}

/// Rooms that a room's CMake file links.
Rooms links_of(const std::string& room) {
  static const std::regex kLink(R"(\btrnsim_(\w+)\b)");
  Rooms links;
  for (const SourceFile& file : files_below(folder_of(room))) {
    if (file.name != folder_of(room) + "/CMakeLists.txt") continue;
    for (const std::string& target : matches(file.text, kLink)) {
      if (arrows().count(target) > 0 && target != room) links.insert(target);
    }
  }
  return links;
}

/// All that `next` leads to, over any number of steps.
template <typename Next>
Rooms reached(const std::string& from, Next next) {
  Rooms all;
  Rooms frontier = next(from);
  while (!frontier.empty()) {
    Rooms further;
    for (const std::string& room : frontier) {
      if (!all.insert(room).second) continue;
      further.merge(next(room));
    }
    frontier = std::move(further);
  }
  return all;
}

TEST(Rooms, EveryFolderOfModelsIsARoomWithArrows) {
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "models")) {
    if (!entry.is_directory() || entry.path().filename() == "cmake") continue;
    EXPECT_TRUE(arrows().count(entry.path().filename().string()) > 0) << entry.path();
  }
}

TEST(Rooms, IncludeAlongTheArrowsOnly) {
  std::size_t seen = 0;
  for (const SourceFile& file : sources()) {
    const std::string from = room_of(file.name);
    ASSERT_FALSE(from.empty()) << file.name << " is in no room";
    for (const std::string& include : quoted_includes(file)) {
      const std::string to = room_of(include);
      ++seen;
      EXPECT_FALSE(to.empty()) << file.name << " includes \"" << include << "\", which is in no room";
      EXPECT_TRUE(to == from || arrows().at(from).count(to) > 0)
          << file.name << ": " << from << " may not include " << include;
    }
  }
  EXPECT_GT(seen, 100U);
}

TEST(Rooms, IncludesNameFilesFromTheTop) {
  for (const SourceFile& file : sources()) {
    for (const std::string& include : quoted_includes(file)) {
      EXPECT_TRUE(std::filesystem::exists(kRoot / include)) << file.name << ": " << include;
    }
  }
}

TEST(Rooms, IncludeNoCycle) {
  const auto next = [](const std::string& room) { return arrows().at(room); };
  for (const auto& [room, to] : arrows()) EXPECT_EQ(reached(room, next).count(room), 0U) << room;
}

TEST(Rooms, LinkOnlyWhatTheyMayReach) {
  const auto next = [](const std::string& room) { return arrows().at(room); };
  for (const auto& [room, to] : arrows()) {
    if (room == "spec") continue;
    for (const std::string& link : links_of(room)) {
      EXPECT_EQ(reached(room, next).count(link), 1U) << folder_of(room) << "/CMakeLists.txt links trnsim_" << link;
    }
  }
}

TEST(Rooms, LinkWhatTheyInclude) {
  for (const SourceFile& file : sources()) {
    const std::string from = room_of(file.name);
    if (from == "spec") continue;
    const Rooms linked = reached(from, links_of);
    for (const std::string& include : quoted_includes(file)) {
      const std::string to = room_of(include);
      if (to == from || to == "spec") continue;
      EXPECT_EQ(linked.count(to), 1U) << file.name << " includes " << include << " but " << from << " does not link it";
    }
  }
}

TEST(Rooms, SystemCStaysWhereTimePasses) {
  static const std::regex kSystemC(R"((?:^|\n)\s*#\s*include\s*<((?:systemc|tlm|sysc/|tlm_)[^>]*)>)");
  const Rooms allowed = {"transport", "neuroncore", "dma", "memory", "interconnect", "system"};
  for (const SourceFile& file : sources()) {
    // The command line defines sc_main, which libsystemc refers to.
    if (file.name == "models/mechanism/clock.h" || file.name == "sweeps/main.cpp") continue;
    if (allowed.count(room_of(file.name)) > 0) continue;
    EXPECT_TRUE(matches(file.text, kSystemC).empty()) << file.name << " includes SystemC";
  }
}

TEST(Rooms, OnlyHardwareRoomsReachTheClock) {
  const Rooms allowed = {"transport", "neuroncore", "dma", "memory", "interconnect", "system", "mechanism"};
  for (const SourceFile& file : sources()) {
    for (const std::string& include : quoted_includes(file)) {
      if (include != "models/mechanism/clock.h") continue;
      EXPECT_TRUE(allowed.count(room_of(file.name)) > 0) << file.name << " includes the SystemC clock";
    }
  }
}

TEST(Rooms, HardwareHasNoThreads) {
  static const std::regex kThread(R"(\b(SC_C?THREAD|SC_FORK|std::j?thread|std::async)\b)");
  for (const SourceFile& file : sources()) {
    const std::string program = without_comments_and_literals(file.text);
    EXPECT_FALSE(std::regex_search(program, kThread)) << file.name;
  }
}

TEST(Rooms, OnlyTheCommandLineKnowsItsLibrary) {
  for (const SourceFile& file : sources()) {
    if (file.name == "sweeps/main.cpp") continue;
    EXPECT_EQ(file.text.find("boost/program_options"), std::string::npos) << file.name;
  }
}

}  // namespace
}  // namespace trnsim
