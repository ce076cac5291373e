#include "workloads/routing/counts_path.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "models/mechanism/error.h"
#include "platforms/table/nearest.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> shipped(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".csv") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

bool names_counts_file(std::string_view counts) {
  return std::find(kCountsModelNames.begin(), kCountsModelNames.end(), counts) == kCountsModelNames.end();
}

std::string counts_path(const std::string& counts, const std::string& folder, const std::string& data_folder,
                        const std::string& place) {
  std::error_code error;
  if (counts.find('/') != std::string::npos || counts.ends_with(".csv")) {
    const fs::path path = fs::path(folder) / counts;
    if (!fs::exists(path, error)) throw InputError(place + ": " + path.string() + ": no such file; check the path");
    if (!fs::is_regular_file(path, error)) {
      throw InputError(place + ": " + path.string() + " is no regular file; name a CSV file");
    }
    return path.string();
  }
  const fs::path own = fs::path(data_folder) / "workloads" / "counts";
  const fs::path path = own / (counts + ".csv");
  if (fs::exists(path, error)) return path.string();
  const std::vector<std::string> names = shipped(own);
  std::vector<std::string_view> choices(kCountsModelNames.begin(), kCountsModelNames.end());
  choices.insert(choices.end(), names.begin(), names.end());
  const std::string near = nearest(counts, choices);
  throw InputError(
      place + ": unknown counts '" + counts + "'; " +
      (near.empty() ? "use " + either(choices) + ", or the path of a file" : "did you mean " + near + "?"));
}

}  // namespace trnsim
