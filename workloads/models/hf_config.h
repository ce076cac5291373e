// A Hugging Face config.json as the rows of a model CSV.
#pragma once

#include <string>
#include <vector>

#include "workloads/models/config_reader.h"

namespace trnsim {

struct ModelConfig {
  std::vector<ConfigRow> rows;  ///< the dimensions that the architecture has
  std::string end;              ///< "path:line:column" of the file's end
};

/// Whether `path` is taken for one.
[[nodiscard]] bool is_model_config(const std::string& path);

/// What a job that reads `path` is called: its file's name, or its folder's if that is config.json.
[[nodiscard]] std::string name_of_config(const std::string& path);

/// Reads `path`. Throws InputError at a line and column if it is no JSON object, the architecture is not a known one,
/// or a key is missing, holds what it may not, or is not understood.
[[nodiscard]] ModelConfig read_model_config(const std::string& path);

}  // namespace trnsim
