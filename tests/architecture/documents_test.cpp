// Documents name only what exists.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/architecture/tree.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

std::vector<SourceFile> documents() {
  std::vector<SourceFile> all;
  for (SourceFile& file : files_below("")) {
    if (file.name.ends_with(".md")) all.push_back(std::move(file));
  }
  return all;
}

std::vector<std::string> captures(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m) found.push_back((*m)[1]);
  return found;
}

/// A word of prose that can only be a path of this tree.
bool looks_like_a_path(const std::string& word) {
  static const std::regex kPath(
      R"((models|platforms|workloads|sweeps|results|tests|docs|\.ci)/[\w./-]*|[\w-]+\.(md|json|txt)|\./\w+)");
  return std::regex_match(word, kPath);
}

/// Folders that a run makes.
bool is_made_by_runs(const std::string& path) {
  return path.starts_with("results/runs") || path.starts_with("build");
}

TEST(Documents, PathsInProseExist) {
  static const std::regex kCode(R"(`([^`\n]+)`)");
  std::size_t seen = 0;
  for (const SourceFile& document : documents()) {
    for (const std::string& word : captures(document.text, kCode)) {
      if (!looks_like_a_path(word) || is_made_by_runs(word)) continue;
      ++seen;
      EXPECT_TRUE(fs::exists(kRoot / word) || fs::exists((kRoot / document.name).parent_path() / word))
          << document.name << " names " << word;
    }
  }
  EXPECT_GT(seen, 5U);
}

TEST(Documents, LinksLeadSomewhere) {
  static const std::regex kLink(R"(\]\(([^)#\s]+)(?:#[^)]*)?\))");
  for (const SourceFile& document : documents()) {
    for (const std::string& target : captures(document.text, kLink)) {
      if (target.find("://") != std::string::npos) continue;
      EXPECT_TRUE(fs::exists((kRoot / document.name).parent_path() / target)) << document.name << " links " << target;
    }
  }
}

TEST(Documents, TestsNamedInTheCasesExist) {
  static const std::regex kNamed(R"(`(\w+\.[A-Z]\w+)`)");
  static const std::regex kTest(R"(\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\))");
  std::set<std::string> tests;
  for (const SourceFile& file : cpp_below("tests")) {
    for (std::sregex_iterator m(file.text.begin(), file.text.end(), kTest), end; m != end; ++m) {
      tests.insert((*m)[1].str() + "." + (*m)[2].str());
    }
  }
  std::size_t seen = 0;
  for (const SourceFile& document : documents()) {
    if (document.name != "docs/cases.md") continue;
    for (const std::string& name : captures(document.text, kNamed)) {
      ++seen;
      EXPECT_TRUE(tests.contains(name)) << document.name << " names " << name;
    }
  }
  EXPECT_GT(seen, 50U);
}

TEST(Documents, ReadmeSaysWhatIsOutOfScope) {
  for (const SourceFile& document : documents()) {
    if (document.name != "README.md") continue;
    EXPECT_NE(document.text.find("Inf1"), std::string::npos);
    return;
  }
  FAIL() << "no README.md";
}

}  // namespace
}  // namespace trnsim
