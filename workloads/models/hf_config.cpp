#include "workloads/models/hf_config.h"

#include <algorithm>
#include <filesystem>

#include "models/mechanism/error.h"
#include "platforms/table/nearest.h"
#include "workloads/models/architectures.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

const Architecture& architecture_of(ConfigReader& config) {
  const std::string type = config.word("model_type");
  const std::vector<std::string> classes = config.words("architectures");
  std::vector<std::string_view> known;
  for (const Architecture& one : architectures()) {
    const bool by_class = type.empty() && !classes.empty() && classes.front() == one.class_name;
    if (one.model_type == type || by_class) return one;
    known.push_back(one.model_type);
  }
  std::sort(known.begin(), known.end());
  if (type.empty() && !classes.empty())
    config.refuse("architectures",
                  "names '" + shown(classes.front()) + "', which is not covered; use model_type " + either(known));
  config.refuse("model_type", (type.empty() ? "is missing" : "is '" + shown(type) + "', which is not covered") +
                                  std::string("; use ") + either(known));
}

}  // namespace

bool is_model_config(const std::string& path) {
  return path.ends_with(".json");
}

std::string name_of_config(const std::string& path) {
  const fs::path file = fs::absolute(path).lexically_normal();
  const std::string folder = file.parent_path().filename().string();
  return file.filename() == "config.json" && !folder.empty() ? folder : file.stem().string();
}

ModelConfig read_model_config(const std::string& path) {
  const JsonFile file = read_json(path);
  ModelConfig model;
  model.end = file.place("");
  ConfigReader config(file, "", model.rows);
  architecture_of(config).read(config);
  config.check_all_read();
  return model;
}

}  // namespace trnsim
