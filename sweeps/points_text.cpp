#include "sweeps/points_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <utility>

#include "results/series.h"
#include "sweeps/text_table.h"

namespace trnsim {
namespace {

constexpr std::size_t kMostReasons = 5;
constexpr std::size_t kMostIds = 8;  // of a reason

using Columns = std::vector<std::pair<std::string, std::string_view>>;  ///< title and metric

bool is_collective(const PointRow& row) {
  return row.metrics.contains("busbw_gb_per_s");
}

Columns columns_of(const std::vector<PointRow>& rows) {
  const bool collectives = std::any_of(rows.begin(), rows.end(), is_collective);
  const bool others = !collectives || std::any_of(rows.begin(), rows.end(), [](const PointRow& row) {
    return !row.metrics.empty() && !is_collective(row);
  });
  Columns columns = {{"latency us", "latency_us"}};
  if (collectives) columns.insert(columns.end(), {{"algbw GB/s", "algbw_gb_per_s"}, {"busbw GB/s", "busbw_gb_per_s"}});
  if (others) {
    columns.insert(columns.end(), {{"sustained PFLOP/s", "sustained_pflops"}, {"tensor", "tensor_utilization"}});
  }
  columns.insert(columns.end(), {{"HBM", "hbm_utilization"}, {"bottleneck", "bottleneck"}});
  return columns;
}

/// What was set and is not the same for all points, in the order of the columns. REQUIRES: all rows are of one sweep.
std::vector<std::string> varied(const std::vector<PointRow>& rows) {
  std::vector<std::string> names;
  if (rows.empty()) return names;
  for (const auto& [name, value] : rows.front().swept) {
    const auto differs = [&, &key = name](const PointRow& row) {
      return parameter(row, key) != parameter(rows[0], key);
    };
    if (std::any_of(rows.begin(), rows.end(), differs)) names.push_back(name);
  }
  return names;
}

std::string ids_text(const std::vector<std::string>& ids) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), kMostIds); ++i) text += (i == 0 ? "" : ", ") + ids[i];
  return ids.size() <= kMostIds ? text : text + " and " + std::to_string(ids.size() - kMostIds) + " more";
}

}  // namespace

std::string rounded(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return text;
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(),
                value >= 1e6 || value == static_cast<double>(static_cast<long long>(value)) ? "%.0f" : "%.5g", value);
  return digits.data();
}

std::string points_text(const std::vector<PointRow>& rows) {
  const Columns columns = columns_of(rows);
  const std::vector<std::string> names = varied(rows);
  std::vector<std::vector<std::string>> table = {{"id"}};
  table[0].insert(table[0].end(), names.begin(), names.end());
  table[0].emplace_back("status");
  for (const auto& [title, metric] : columns) table[0].push_back(title);
  for (const PointRow& row : rows) {
    std::vector<std::string> line = {row.id};
    for (const std::string& name : names) line.push_back(parameter(row, name));
    line.emplace_back(name(row.status));
    for (const auto& [title, metric] : columns) {
      const auto found = row.metrics.find(metric);
      line.push_back(found == row.metrics.end() ? "" : rounded(found->second));
    }
    table.push_back(line);
  }
  return aligned(table, true);
}

std::string reasons_text(const std::vector<PointRow>& rows) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // in the order of the points
  for (const PointRow& row : rows) {
    if (row.error.empty()) continue;
    const std::string reason = std::string(name(row.status)) + ": " + row.error;
    auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == reason; });
    if (found == reasons.end()) found = reasons.insert(found, {reason, {}});
    found->second.push_back(row.id);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    text += reasons[i].first + " (" + ids_text(reasons[i].second) + ")\n";
  }
  if (reasons.size() > kMostReasons) {
    text +=
        "and " + std::to_string(reasons.size() - kMostReasons) + " more reasons, in the column error of the results\n";
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace trnsim
