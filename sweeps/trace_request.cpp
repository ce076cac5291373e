#include "sweeps/trace_request.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/table/quantity.h"

namespace trnsim {
namespace {

/// `text` as a whole quantity of `dimension`; `option` is what an error starts with.
std::int64_t whole(const std::string& option, Dimension dimension, std::string_view text) {
  try {
    return parse_value_with_unit(dimension, text).integer;
  } catch (const std::invalid_argument& error) {
    throw InputError(option + ": " + error.what());
  }
}

std::vector<std::uint32_t> ranks_of(const std::string& text) {
  const std::string option = "--trace-ranks " + text;
  std::vector<std::uint32_t> ranks;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(text.data() + start, text.data() + comma, rank);
    if (error != std::errc() || end != text.data() + comma) {
      throw InputError(option + ": '" + text.substr(start, comma - start) +
                       "' is no rank; write numbers with commas between them, for example 0,3");
    }
    ranks.push_back(rank);
    start = comma + 1;
  }
  std::sort(ranks.begin(), ranks.end());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  if (twice != ranks.end()) throw InputError(option + ": rank " + std::to_string(*twice) + " stands twice; keep one");
  return ranks;
}

void set_window(TraceRequest& request, const std::string& text) {
  const std::string option = "--trace-window " + text;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw InputError(option + ": not of the form FROM:TO; write for example 10us:20us");
  }
  request.window = text;
  request.from = Time(whole(option, Dimension::kTime, std::string_view(text).substr(0, colon)));
  request.to = Time(whole(option, Dimension::kTime, std::string_view(text).substr(colon + 1)));
  if (request.from >= request.to) {
    throw InputError(option + ": ends at or before its begin; write the earlier time first, for example 10us:20us");
  }
}

void refuse_without_file(const TraceOptions& options) {
  const auto refuse = [](const char* option, const std::string& value) {
    if (value.empty()) return;
    throw InputError(std::string(option) + " " + value + ": says what --trace writes; give --trace FILE too");
  };
  refuse("--trace-ranks", options.ranks);
  refuse("--trace-window", options.window);
  refuse("--trace-limit", options.limit);
}

}  // namespace

std::optional<TraceRequest> trace_request(const TraceOptions& options) {
  if (options.path.empty()) {
    refuse_without_file(options);
    return std::nullopt;
  }
  TraceRequest request;
  request.path = options.path;
  if (!options.ranks.empty()) request.ranks = ranks_of(options.ranks);
  if (!options.window.empty()) set_window(request, options.window);
  request.limit = options.limit.empty() ? std::string(kDefaultTraceLimit) : options.limit;
  const std::string option = "--trace-limit " + request.limit;
  const std::int64_t limit = whole(option, Dimension::kCapacity, request.limit);
  if (limit < 1'000'000) throw InputError(option + ": too small for a timeline; use 1MB or more");
  request.limit_bytes = static_cast<std::uint64_t>(limit);
  return request;
}

}  // namespace trnsim
