#include "workloads/models/catalogue.h"

#include <algorithm>
#include <filesystem>

#include "workloads/models/model_reader.h"
#include "workloads/workload.h"

namespace trnsim {

std::vector<NamedModel> shipped_models(const std::string& data_folder) {
  namespace fs = std::filesystem;
  std::vector<NamedModel> models;
  for (const auto& entry : fs::directory_iterator(fs::path(data_folder) / "workloads" / "models")) {
    if (entry.path().extension() != ".csv") continue;
    const Workload rows = load_workload(entry.path().string(), {}, data_folder);
    models.push_back({entry.path().stem().string(), model_of(SettingReader(rows))});
  }
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return models;
}

}  // namespace trnsim
