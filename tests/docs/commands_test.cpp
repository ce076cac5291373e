// Every command of README.md and docs/ that stands in a block fenced ```sh works as printed.
//
// The blocks of one document run in its order in a copy of the tree, with the program on the path and build/release
// leading to this build. ./demo and ./test are the set-up itself: here they must exist and parse. A block fenced
// ```console shows a dialogue and is not run.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::string place;  ///< document:line
  std::string commands;
};

std::vector<fs::path> documents() {
  const fs::path root = TRNSIM_ROOT;
  std::vector<fs::path> all = {root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  }
  std::sort(all.begin() + 1, all.end());
  return all;
}

std::vector<Block> blocks_of(const fs::path& document) {
  std::vector<Block> blocks;
  std::ifstream in(document);
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("```")) {
      inside = !inside && line == "```sh";
      if (inside) blocks.push_back({document.filename().string() + ":" + std::to_string(number), ""});
      continue;
    }
    if (!inside) continue;
    const bool is_setup = line.starts_with("./demo") || line.starts_with("./test");
    blocks.back().commands += (is_setup ? "bash -n " + line.substr(0, line.find(' ')) : line) + "\n";
  }
  return blocks;
}

/// A copy of the tree without what builds and runs left in it; gone with the object.
class TreeCopy {
 public:
  TreeCopy() {
    for (const auto& entry : fs::directory_iterator(TRNSIM_ROOT)) {
      const fs::path file = entry.path().filename();
      if (file == ".git" || file == "build") continue;
      fs::copy(entry.path(), path() / file, fs::copy_options::recursive);
    }
    fs::remove_all(path() / "results/runs");
    fs::create_directory(path() / "build");
    fs::create_directory_symlink(TRNSIM_BUILD, path() / "build/release");
  }
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_{"trnsim docs "};
};

struct Outcome {
  int status = -1;
  std::string output;  ///< both streams
};

Outcome run(const Block& block, const TreeCopy& tree) {
  const fs::path script = tree.path() / "build/commands.sh";
  std::ofstream(script) << "set -euo pipefail\ncd '" << tree.path().string() << "'\nexport HOME=$PWD/build/home\n"
                        << "PATH='" << fs::path(TRNSIM_PROGRAM).parent_path().string() << "':$PATH\n"
                        << block.commands;
  std::unique_ptr<FILE, void (*)(FILE*)> pipe(popen(("bash '" + script.string() + "' 2>&1").c_str(), "r"),
                                              [](FILE*) {});
  Outcome outcome;
  std::array<char, 65536> buffer;
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
    outcome.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe.release());
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(Documents, CommandsWorkAsPrinted) {
  const TreeCopy tree;
  std::size_t seen = 0;
  for (const fs::path& document : documents()) {
    for (const Block& block : blocks_of(document)) {
      ++seen;
      const Outcome outcome = run(block, tree);
      EXPECT_EQ(outcome.status, 0) << block.place << "\n" << block.commands << outcome.output;
    }
  }
  EXPECT_GT(seen, 0U) << "no document has a command";
}

TEST(Documents, ABrokenCommandIsNoticed) {
  const TreeCopy tree;
  EXPECT_EQ(run({"here", "trnsim --version\n"}, tree).status, 0);
  EXPECT_EQ(run({"here", "trnsim list nothing\ntrue\n"}, tree).status, 2);
}

}  // namespace
}  // namespace trnsim
