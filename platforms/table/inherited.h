// Files that build on other files: a row `inherits,<file>` or `model,<file>` names one.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platforms/table/csv.h"

namespace trnsim {

/// The file that `row` names in its second field, relative to `folder`. Throws InputError at its place if it names
/// none, if there is no such file, or if the row says anything else; a source it may have.
[[nodiscard]] std::string named_file(const CsvFile& file, const CsvRow& row, const std::string& folder);

/// The files being read, outermost first.
class FileChain {
 public:
  /// Throws InputError at `place`, the row that names `file`, if the chain comes back to it or never seems to end.
  void enter(const std::string& file, const std::string& place);
  void leave() { files_.pop_back(); }

 private:
  std::vector<std::string> files_;
};

/// What files hold, each read once however many others build on it.
template <class Rows>
class InheritedFiles {
 public:
  /// `read(path)`, unless it was read before. `place` is the row that names the file.
  template <class Read>
  const Rows& at(const std::string& path, const std::string& place, const Read& read) {
    const std::string file = std::filesystem::weakly_canonical(path).string();
    const auto known = read_.find(file);
    if (known != read_.end()) return known->second;
    chain_.enter(file, place);
    Rows rows = read(path);
    chain_.leave();
    return read_.emplace(file, std::move(rows)).first->second;
  }

 private:
  FileChain chain_;
  std::map<std::string, Rows> read_;
};

}  // namespace trnsim
