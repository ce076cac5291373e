// The kernels there are, as users see them. A kernel has one file of its name here, and one row.
#pragma once

#include <span>
#include <string_view>

namespace trnsim {

struct KernelInfo {
  std::string_view name;
  std::string_view meaning;
};

/// In order of name.
[[nodiscard]] std::span<const KernelInfo> kernels();

}  // namespace trnsim
