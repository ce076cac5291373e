// The files of this tree, for tests about its structure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trnsim {

inline const std::filesystem::path kRoot = TRNSIM_ROOT;

struct SourceFile {
  std::string name;  ///< relative to the top
  std::string text;
};

/// Every regular file below `folder` (relative to the top), sorted; build trees, new results and git's own left out.
/// Binary files are left out too.
std::vector<SourceFile> files_below(const std::string& folder);

/// Those of them that are C++.
std::vector<SourceFile> cpp_below(const std::string& folder);

std::vector<std::string> lines_of(const std::string& text);

/// The program alone: comments, string and character literals blanked, lines kept.
std::string without_comments_and_literals(const std::string& text);

}  // namespace trnsim
