// The models that are shipped.
#pragma once

#include <string>
#include <vector>

#include "workloads/models/model_shape.h"

namespace trnsim {

struct NamedModel {
  std::string name;
  ModelShape shape;
};

/// <data_folder>/workloads/models/*.csv, sorted by name. Throws InputError if one cannot be read.
[[nodiscard]] std::vector<NamedModel> shipped_models(const std::string& data_folder);

}  // namespace trnsim
