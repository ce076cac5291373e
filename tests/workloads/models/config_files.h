// config.json files for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "models/mechanism/error.h"
#include "tests/temporary_folder.h"
#include "workloads/models/model_reader.h"
#include "workloads/workload.h"

namespace trnsim::test {

class ConfigFiles {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// `{"model_type": <type>, <more>}` of a small model, each key on a line of its own, the first on line 2. What `more`
/// sets again is left out of the rest.
inline std::string small_config(const std::string& type, const std::vector<std::string>& more) {
  std::string text = "{\n \"model_type\": \"" + type + "\"";
  for (const std::string& key : more) text += ",\n " + key;
  for (const char* key : {"\"num_hidden_layers\": 4", "\"hidden_size\": 64", "\"num_attention_heads\": 8",
                          "\"num_key_value_heads\": 2", "\"intermediate_size\": 96", "\"vocab_size\": 1000"}) {
    const std::string name = std::string(key).substr(0, std::string(key).find(':'));
    if (text.find(name) == std::string::npos) text += ",\n " + std::string(key);
  }
  return text + "\n}\n";
}

inline Workload config(const std::string& path, const std::vector<WorkloadOverride>& overrides = {}) {
  return load_workload(path, overrides, TRNSIM_ROOT);
}

inline ModelShape shape_of(const std::string& path) {
  const Workload workload = config(path);
  return model_of(SettingReader(workload));
}

inline std::string refusal_of(const std::string& path, const std::vector<WorkloadOverride>& overrides = {}) {
  try {
    const Workload workload = config(path, overrides);
    static_cast<void>(model_of(SettingReader(workload)));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace trnsim::test
