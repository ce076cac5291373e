#include "results/series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace trnsim {
namespace {

/// What a deployer may choose freely on a given machine.
bool is_choice(std::string_view name) {
  constexpr std::array<std::string_view, 9> kChoices = {
      "batch", "batch_per_replica", "tp", "ep", "dp", "pp", "cp", "sp", "lnc"};
  return std::find(kChoices.begin(), kChoices.end(), name) != kChoices.end();
}

/// Platform parameters and run options have dots.
bool names_machine(std::string_view name) {
  return name == "platform" || name == "precision" || name.find('.') != std::string_view::npos;
}

std::vector<std::string> swept_names(const std::vector<PointRow>& rows) {
  std::vector<std::string> names;
  for (const PointRow& row : rows) {
    for (const auto& [name, value] : row.swept) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

bool varies(const std::vector<PointRow>& rows, std::string_view name) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const PointRow& row) { return parameter(row, name) != parameter(rows.front(), name); });
}

/// Which parameters name a scenario or a series, and how a label reads.
class Labels {
 public:
  explicit Labels(const std::vector<PointRow>& rows) {
    for (const std::string& name : swept_names(rows)) {
      if (is_choice(name) || name == "workload" || name == "platform" || name == "precision") continue;
      if (varies(rows, name)) (names_machine(name) ? machine_ : asked_).push_back(name);
    }
  }
  [[nodiscard]] std::string scenario(const PointRow& row) const { return label(row, {"workload"}, asked_, " "); }
  [[nodiscard]] std::string series(const PointRow& row) const {
    return label(row, {"platform", "precision"}, machine_, "=");
  }

 private:
  /// Values of `plain` as they are, then "name value" of each of `named`.
  static std::string label(const PointRow& row, std::initializer_list<std::string_view> plain,
                           const std::vector<std::string>& named, std::string_view between) {
    std::string text;
    const auto add = [&text](const std::string& part) {
      if (!text.empty()) text += " · ";
      text += part;
    };
    for (std::string_view name : plain) {
      if (const std::string value = parameter(row, name); !value.empty() && value != "auto") add(value);
    }
    for (const std::string& name : named) {
      if (const std::string value = parameter(row, name); !value.empty())
        add(std::string(name).append(between).append(value));
    }
    return text;
  }

  std::vector<std::string> asked_, machine_;
};

ParetoFront front_of(const std::vector<PointRow>& rows, const std::vector<std::size_t>& members) {
  std::vector<FrontPoint> points;
  for (std::size_t i : members) {
    if (rows[i].status != Status::kOk) continue;
    points.push_back({metric(rows[i], "tokens_per_s_per_user"), metric(rows[i], "tokens_per_s_per_mw"), i});
  }
  return ParetoFront(std::move(points));
}

template <class T>
T& find_or_add(std::vector<T>& list, const std::string& label) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& item) { return item.label == label; });
  if (found != list.end()) return *found;
  list.emplace_back().label = label;
  return list.back();
}

}  // namespace

std::vector<Scenario> group(const std::vector<PointRow>& rows) {
  const Labels labels(rows);
  std::vector<Scenario> scenarios;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Scenario& scenario = find_or_add(scenarios, labels.scenario(rows[i]));
    find_or_add(scenario.series, labels.series(rows[i])).rows.push_back(i);
  }
  for (Scenario& scenario : scenarios) {
    for (Series& series : scenario.series) series.front = front_of(rows, series.rows);
  }
  return scenarios;
}

double metric(const PointRow& row, std::string_view name) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (const auto found = row.metrics.find(name); found != row.metrics.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::numeric_limits<double>::quiet_NaN();
  }
  return value;
}

std::string parameter(const PointRow& row, std::string_view name) {
  for (const auto& [swept, value] : row.swept) {
    if (swept == name && !value.empty()) return value;
  }
  const auto& columns = row.parameters.columns;
  const auto key = std::find(columns.begin(), columns.end(), "parameter");
  const auto value = std::find(columns.begin(), columns.end(), "value");
  if (key == columns.end() || value == columns.end()) return {};
  for (const auto& cells : row.parameters.rows) {
    if (cells[static_cast<std::size_t>(key - columns.begin())] == name) {
      return cells[static_cast<std::size_t>(value - columns.begin())];
    }
  }
  return {};
}

}  // namespace trnsim
