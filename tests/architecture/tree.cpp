#include "tests/architecture/tree.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

namespace trnsim {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool is_left_out(const std::string& name) {
  return name == ".git" || name == "build" || name == "results/runs";
}

}  // namespace

std::vector<SourceFile> files_below(const std::string& folder) {
  std::vector<SourceFile> files;
  fs::recursive_directory_iterator entry(kRoot / folder);
  for (; entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().lexically_relative(kRoot).generic_string();
    if (is_left_out(name)) {
      if (entry->is_directory()) entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file()) continue;
    std::string text = contents(entry->path());
    if (text.find('\0') == std::string::npos) files.push_back({name, std::move(text)});
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  return files;
}

std::vector<SourceFile> cpp_below(const std::string& folder) {
  std::vector<SourceFile> files = files_below(folder);
  std::erase_if(files,
                [](const SourceFile& file) { return !file.name.ends_with(".h") && !file.name.ends_with(".cpp"); });
  return files;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string without_comments_and_literals(const std::string& text) {
  static const std::regex kLiteral(R"re("(\\.|[^"\\\n])*"|(^|[^\w])'(\\.|[^'\\\n])')re");
  std::string program;
  bool in_block = false;
  for (std::string line : lines_of(text)) {
    line = std::regex_replace(line, kLiteral, "$2");
    std::string kept;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const std::string_view next = std::string_view(line).substr(at, 2);
      if (in_block) {
        if (next == "*/") in_block = false, ++at;
        continue;
      }
      if (next == "//") break;
      if (next == "/*") {
        in_block = true;
        ++at;
        continue;
      }
      kept += line[at];
    }
    program += kept + '\n';
  }
  return program;
}

}  // namespace trnsim
