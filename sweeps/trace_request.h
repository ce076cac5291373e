// What `--trace` and the options beside it ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/observe/timeline.h"

namespace trnsim {

inline constexpr std::string_view kDefaultTraceLimit = "512MB";

struct TraceRequest {
  std::string path;
  std::vector<std::uint32_t> ranks;  ///< ascending; empty: all that are simulated
  std::string window;                ///< as typed, or empty
  Time from;
  Time to = TimelineFilter().to;
  std::string limit;  ///< as typed, or the default
  std::uint64_t limit_bytes = 0;
};

/// The options as typed; empty = not given.
struct TraceOptions {
  std::string path, ranks, window, limit;
};

/// Nothing if no timeline is asked for. Throws InputError.
[[nodiscard]] std::optional<TraceRequest> trace_request(const TraceOptions& options);

}  // namespace trnsim
