// The architectures of config.json files: which keys each has and what they are as parameters.
#pragma once

#include <span>
#include <string_view>

#include "workloads/models/config_reader.h"

namespace trnsim {

/// A kind of model, by `model_type` or by the class that `architectures` names.
struct Architecture {
  std::string_view model_type, class_name;
  void (*read)(ConfigReader& config);
};

[[nodiscard]] std::span<const Architecture> architectures();

}  // namespace trnsim
