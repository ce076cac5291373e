#include "sweeps/sweep_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "platforms/table/nearest.h"
#include "results/metrics.h"

namespace trnsim {
namespace {

/// Rows with all their tables stay within 4 GiB when the results are put together.
constexpr std::uint64_t kMaxPoints = 20'000;

/// What a column of a sweep means.
struct Column {
  enum class Kind { kSetting, kId, kGroup, kClass, kNote, kExpect, kLow, kHigh, kTolerance };
  Kind kind = Kind::kSetting;
  std::string name;   ///< of the parameter or metric
  std::string error;  ///< where there is no such parameter or metric
};

std::string unknown_metric(const CsvFile& file, std::size_t column, const std::string& metric) {
  if (find_metric(metric) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const MetricInfo& info : metrics()) names.push_back(info.name);
  const std::string near = nearest(metric, names);
  return file.at(file.header, column,
                 "unknown metric '" + metric + "'; " +
                     (near.empty() ? "see `trnsim list metrics`" : "did you mean " + near + "?"));
}

std::string unknown_parameter(const CsvFile& file, std::size_t column) {
  const std::string& text = file.header.fields[column].text;
  if (text == "platform" || text == "workload" || text.starts_with("run.")) return {};
  try {
    Point probe;
    if (!is_platform_parameter(text) && !is_workload_parameter(text)) {
      add_setting(probe, {text, "", file.place(file.header, column)});
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

Column column_of(const CsvFile& file, std::size_t index) {
  const std::string& text = file.header.fields[index].text;
  if (text == "id") return {Column::Kind::kId, text, {}};
  if (text == "group") return {Column::Kind::kGroup, text, {}};
  if (text == "class") return {Column::Kind::kClass, text, {}};
  if (text == "source") return {Column::Kind::kNote, text, {}};
  if (text == "tolerance") return {Column::Kind::kTolerance, text, {}};
  for (const auto& [prefix, kind] : {std::pair{"expect.", Column::Kind::kExpect}, std::pair{"low.", Column::Kind::kLow},
                                     std::pair{"high.", Column::Kind::kHigh}}) {
    if (!text.starts_with(prefix)) continue;
    const std::string metric = text.substr(std::string_view(prefix).size());
    return {kind, metric, unknown_metric(file, index, metric)};
  }
  return {Column::Kind::kSetting, text, unknown_parameter(file, index)};
}

double number_at(const CsvFile& file, const CsvRow& row, std::size_t field) {
  const std::string& text = row.fields[field].text;
  const bool percent = text.ends_with('%');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - (percent ? 1 : 0), value);
  if (error != std::errc() || end != text.data() + text.size() - (percent ? 1 : 0) || !std::isfinite(value)) {
    throw InputError(file.at(row, field, "'" + text + "' is no number; write digits, such as 2.4 or 5%"));
  }
  return percent ? value / 100 : value;
}

class Reader {
 public:
  Reader(const CsvFile& file, const std::vector<Setting>& common, WrongRows wrong)
      : file_(file), common_(common), wrong_(wrong) {
    std::map<std::string, std::size_t> seen;
    for (const Setting& setting : common_) {
      const auto& fields = file.header.fields;
      const auto same = [&](const Field& field) { return field.text == setting.name; };
      if (std::none_of(fields.begin(), fields.end(), same)) swept_.push_back(setting.name);
    }
    for (std::size_t i = 0; i < file.header.fields.size(); ++i) {
      columns_.push_back(column_of(file, i));
      if (wrong_ == WrongRows::kThrown && !columns_[i].error.empty()) throw InputError(columns_[i].error);
      if (!seen.try_emplace(file.header.fields[i].text, i).second) {
        throw InputError(file.at(file.header, i, "duplicate column '" + file.header.fields[i].text + "'; keep one"));
      }
      if (columns_[i].kind == Column::Kind::kSetting) swept_.push_back(columns_[i].name);
    }
  }

  Sweep read() {
    for (std::size_t r = 0; r < file_.rows.size(); ++r) add_row(file_.rows[r], r + 1);
    if (sweep_.points.empty() && sweep_.refused.empty())
      throw InputError(file_.path + ": the sweep has no points; add a row under the header");
    return std::move(sweep_);
  }

 private:
  struct Axis {
    std::size_t column = 0;
    std::vector<std::string> values;
  };

  void add_row(const CsvRow& row, std::size_t number) {
    std::string id = std::to_string(number);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].kind == Column::Kind::kId && !row.fields[c].text.empty()) id = row.fields[c].text;
    }
    std::vector<Point> points;
    try {
      points = points_of(row, id);
    } catch (const InputError& error) {
      if (wrong_ == WrongRows::kThrown) throw;
      sweep_.refused.push_back({id, error.what()});
      add_notes(row, id);
      return;
    }
    for (Point& point : points) {
      add_notes(row, point.id);
      sweep_.points.push_back(std::move(point));
    }
  }

  [[nodiscard]] std::vector<Point> points_of(const CsvRow& row, const std::string& base) const {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].error.empty() && !row.fields[c].text.empty()) throw InputError(columns_[c].error);
    }
    const std::vector<Axis> axes = axes_of(row);
    std::uint64_t count = 1;
    bool too_many = false;
    for (const Axis& axis : axes) {
      too_many |= __builtin_mul_overflow(count, axis.values.size(), &count);
    }
    if (too_many || sweep_.points.size() + count > kMaxPoints) {
      const std::string points = too_many ? "more than 2^64" : std::to_string(sweep_.points.size() + count);
      throw InputError(file_.at(row, 0,
                                "the sweep has " + points + " points, the most is " + std::to_string(kMaxPoints) +
                                    "; make its lists shorter, or more files of it"));
    }
    std::vector<Point> points;
    for (std::uint64_t i = 0; i < count; ++i) {
      points.push_back(point_of(row, axes, i, count == 1 ? base : base + "." + std::to_string(i + 1)));
    }
    return points;
  }

  [[nodiscard]] std::vector<Axis> axes_of(const CsvRow& row) const {
    std::vector<Axis> axes;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].kind != Column::Kind::kSetting || row.fields[c].text.empty()) continue;
      try {
        const bool is_path = columns_[c].name == "platform" || columns_[c].name == "workload";
        axes.push_back({c, is_path && row.fields[c].text.find('/') != std::string::npos
                               ? std::vector<std::string>{row.fields[c].text}
                               : expand_cell(row.fields[c].text)});
      } catch (const std::invalid_argument& error) {
        throw InputError(file_.at(row, c, error.what()));
      }
    }
    return axes;
  }

  [[nodiscard]] Point point_of(const CsvRow& row, const std::vector<Axis>& axes, std::uint64_t index,
                               const std::string& id) const {
    Point point;
    point.id = id;
    std::map<std::string, Setting> settings;
    for (const Setting& setting : common_) settings[setting.name] = setting;
    std::uint64_t rest = index;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {  // the last column varies fastest
      const std::string& name = columns_[axis->column].name;
      settings[name] = {name, axis->values[rest % axis->values.size()], file_.place(row, axis->column)};
      rest /= axis->values.size();
    }
    // Every point has every column, so that rows look alike whichever of them have finished.
    for (const std::string& name : swept_) {
      const auto set = settings.find(name);
      if (set != settings.end()) add_setting(point, set->second);
      point.swept.emplace_back(name, set == settings.end() ? "" : set->second.value);
    }
    for (const char* needed : {"platform", "workload"}) {
      if ((std::string_view(needed) == "platform" ? point.platform : point.workload).empty()) {
        throw InputError(file_.at(
            row, 0, std::string("no ") + needed + "; add a column '" + needed + "' or --set " + needed + "=NAME"));
      }
    }
    return point;
  }

  /// What the row says of its point: group, class and checks.
  void add_notes(const CsvRow& row, const std::string& id) {
    if (!ids_.try_emplace(id, row.line).second) {
      throw InputError(file_.at(
          row, 0, "duplicate id '" + id + "', first in line " + std::to_string(ids_[id]) + "; ids must differ"));
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (row.fields[c].text.empty()) continue;
      if (columns_[c].kind == Column::Kind::kGroup) sweep_.groups[id] = row.fields[c].text;
      if (columns_[c].kind == Column::Kind::kClass) sweep_.classes[id] = row.fields[c].text;
    }
    add_checks(row, id);
  }

  void add_checks(const CsvRow& row, const std::string& id) {
    double tolerance = 0;
    std::string place_of_tolerance;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].kind == Column::Kind::kTolerance && !row.fields[c].text.empty()) {
        tolerance = number_at(file_, row, c);
        place_of_tolerance = file_.place(row, c);
        if (tolerance < 0) throw InputError(place_of_tolerance + ": a tolerance is not below 0; write for example 5%");
      }
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column::Kind kind = columns_[c].kind;
      if ((kind != Column::Kind::kExpect && kind != Column::Kind::kLow && kind != Column::Kind::kHigh) ||
          row.fields[c].text.empty()) {
        continue;
      }
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      Check check{id, columns_[c].name, -kInfinity,        kInfinity, {}, file_.place(row, c),
                  {}, tolerance,        place_of_tolerance};
      const MetricInfo* const metric = find_metric(check.metric);
      if (metric != nullptr && metric->unit.empty()) {
        check.word = row.fields[c].text;
        sweep_.checks.push_back(check);
        continue;
      }
      const double value = number_at(file_, row, c);
      if (kind == Column::Kind::kExpect) check.expected = value;
      if (kind != Column::Kind::kHigh)
        check.low = value - (kind == Column::Kind::kExpect ? std::fabs(value) * tolerance : 0);
      if (kind != Column::Kind::kLow)
        check.high = value + (kind == Column::Kind::kExpect ? std::fabs(value) * tolerance : 0);
      sweep_.checks.push_back(check);
    }
  }

  const CsvFile& file_;
  const std::vector<Setting>& common_;
  const WrongRows wrong_;
  std::vector<Column> columns_;
  std::vector<std::string> swept_;  ///< common settings, then the columns that are settings
  std::map<std::string, std::size_t> ids_;
  Sweep sweep_;
};

}  // namespace

Sweep read_sweep(const std::string& path, const std::vector<Setting>& common, WrongRows wrong) {
  const CsvFile file = read_csv(path);
  return Reader(file, common, wrong).read();
}

}  // namespace trnsim
