#include "platforms/table/inherited.h"

#include <algorithm>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

/// Deeper chains are no file that a person wrote.
constexpr std::size_t kDeepest = 64;

}  // namespace

std::string named_file(const CsvFile& file, const CsvRow& row, const std::string& folder) {
  const std::string& name = row.fields[1].text;
  const std::string& kind = row.fields[0].text;
  if (name.empty()) throw InputError(file.at(row, 1, "`" + kind + "` names no file; write its name"));
  for (std::size_t i = 2; i < row.fields.size(); ++i) {
    if (row.fields[i].text.empty() || file.header.fields[i].text == "source") continue;
    throw InputError(file.at(row, i,
                             "'" + row.fields[i].text + "' has no meaning in a row `" + kind +
                                 "`; leave all but the file's name and a source empty"));
  }
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  if (!fs::exists(path, error))
    throw InputError(file.at(row, 1, "no file " + path.string() + " to build on; check its name"));
  if (!fs::is_regular_file(path, error))
    throw InputError(file.at(row, 1, path.string() + " is no regular file; name a CSV to build on"));
  return path.string();
}

void FileChain::enter(const std::string& file, const std::string& place) {
  const auto again = std::find(files_.begin(), files_.end(), file);
  if (again != files_.end()) {
    std::string cycle;
    for (auto it = again; it != files_.end(); ++it) cycle += fs::path(*it).filename().string() + " -> ";
    throw InputError(place + ": the files inherit in a cycle: " + cycle + fs::path(file).filename().string() +
                     "; remove one `inherits` row");
  }
  if (files_.size() == kDeepest) {
    throw InputError(place + ": more than " + std::to_string(kDeepest) +
                     " files inherit from each other in a chain; join some");
  }
  files_.push_back(file);
}

}  // namespace trnsim
