// The collectives there are, as users see them. A collective has one file of its name here, and one row.
#pragma once

#include <span>
#include <string_view>

namespace trnsim {

/// n = ranks, S = bytes of a rank's whole vector: what it holds before a reduction or an exchange, and after a gather.
struct CollectiveInfo {
  std::string_view name;
  std::string_view steps;  ///< dependent messages from start to end
  std::string_view bytes;  ///< that one rank sends
  std::string_view meaning;
};

/// In order of name.
[[nodiscard]] std::span<const CollectiveInfo> collectives();

}  // namespace trnsim
