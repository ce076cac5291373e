// Results read back from their CSV files.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "platforms/table/nearest.h"
#include "results/journal.h"
#include "results/metrics.h"
#include "results/writer.h"

namespace trnsim {
namespace {

std::optional<Status> status_named(std::string_view text) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Status::kHostMemory); ++i) {
    if (name(static_cast<Status>(i)) == text) return static_cast<Status>(i);
  }
  return std::nullopt;
}

std::size_t column(const CsvFile& file, std::string_view name) {
  const auto& fields = file.header.fields;
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.text == name; });
  if (found == fields.end()) {
    throw InputError(file.at(file.header, 0, "no column '" + std::string(name) + "'; points.csv of a run has it"));
  }
  return static_cast<std::size_t>(found - fields.begin());
}

/// Where things stand in points.csv.
struct Layout {
  explicit Layout(const CsvFile& file)
      : status(column(file, "status")),
        error(column(file, "error")),
        fold(column(file, "fold")),
        detail(column(file, "detail")),
        version(column(file, "version")),
        input_hash(column(file, "input_hash")) {
    if (column(file, "id") != 0) throw InputError(file.at(file.header, 0, "the first column is not 'id'"));
  }
  std::size_t status, error, fold, detail, version, input_hash;
};

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// Every column once, and those of results metrics.
void check_header(const CsvFile& file, const Layout& layout) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < file.header.fields.size(); ++i) {
    const std::string& heading = file.header.fields[i].text;
    if (!seen.insert(heading).second) {
      throw InputError(file.at(file.header, i, "duplicate column '" + heading + "'; keep one"));
    }
    if (i <= layout.error || i >= layout.fold || find_metric(heading) != nullptr) continue;
    std::vector<std::string_view> names;
    for (const MetricInfo& info : metrics()) names.push_back(info.name);
    const std::string near = nearest(heading, names);
    throw InputError(file.at(file.header, i,
                             "unknown metric '" + heading + "'; " +
                                 (near.empty() ? "see `trnsim list metrics`" : "did you mean " + near + "?")));
  }
}

PointRow read_point(const CsvFile& file, const Layout& layout, const CsvRow& line) {
  const auto text = [&](std::size_t i) -> const std::string& { return line.fields.at(i).text; };
  PointRow row;
  row.id = text(0);
  const std::optional<Status> status = status_named(text(layout.status));
  if (!status) throw InputError(file.at(line, layout.status, "unknown status '" + text(layout.status) + "'"));
  row.status = *status;
  row.error = text(layout.error);
  row.fold = text(layout.fold);
  row.detail = text(layout.detail);
  row.version = text(layout.version);
  row.input_hash = text(layout.input_hash);
  const bool has_metrics = row.status == Status::kOk || row.status == Status::kSaturated;
  for (std::size_t i = 1; i < file.header.fields.size(); ++i) {
    const std::string& heading = file.header.fields[i].text;
    const bool swept = i < layout.status;
    if (swept) row.swept.emplace_back(heading, text(i));
    const MetricInfo* const info = find_metric(heading);
    if (info == nullptr || text(i).empty() || (swept && !has_metrics)) continue;
    const bool sound = info->unit.empty() || is_number(text(i));
    if (sound) row.metrics[heading] = text(i);
    if (!sound && !swept) throw InputError(file.at(line, i, "'" + text(i) + "' is no number; " + heading + " is one"));
  }
  return row;
}

std::vector<PointRow> read_points(const std::filesystem::path& path) {
  const CsvFile file = read_csv(path.string());
  const Layout layout(file);
  check_header(file, layout);
  std::map<std::string_view, std::size_t> lines;
  std::vector<PointRow> rows;
  rows.reserve(file.rows.size());
  for (const CsvRow& line : file.rows) {
    const auto [first, fresh] = lines.try_emplace(line.fields.at(0).text, line.line);
    if (!fresh) {
      throw InputError(file.at(line, 0,
                               "duplicate point '" + line.fields[0].text + "', first in line " +
                                   std::to_string(first->second) + "; keep one"));
    }
    rows.push_back(read_point(file, layout, line));
  }
  return rows;
}

/// The rows of one point in a companion table: its own, or for "same as point" those of another with its own instead.
class CompanionReader {
 public:
  CompanionReader(const CsvFile& file, Table PointRow::*member, std::vector<PointRow>& rows) : file_(file) {
    std::vector<std::string> columns;
    for (std::size_t i = 1; i < file.header.fields.size(); ++i) columns.push_back(file.header.fields[i].text);
    for (PointRow& row : rows) {
      by_id_[row.id] = &(row.*member);
      (row.*member).columns = columns;
    }
  }

  void read() {
    for (const CsvRow& line : file_.rows) {
      Table& table = table_of(line, 0);
      std::vector<std::string> cells;
      for (std::size_t i = 1; i < line.fields.size(); ++i) cells.push_back(line.fields[i].text);
      if (cells.size() >= 2 && cells[0] == kSameAs) {
        table.rows = table_of(line, 2).rows;
        copies_.insert(&table);
      } else if (copies_.contains(&table)) {
        replace(table, line, std::move(cells));
      } else {
        table.rows.push_back(std::move(cells));
      }
    }
  }

 private:
  Table& table_of(const CsvRow& line, std::size_t field) {
    const std::string& id = line.fields.at(field).text;
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) throw InputError(file_.at(line, field, "no point '" + id + "' in points.csv"));
    return *found->second;
  }
  void replace(Table& table, const CsvRow& line, std::vector<std::string> cells) {
    const auto same = std::find_if(table.rows.begin(), table.rows.end(),
                                   [&](const auto& row) { return row.front() == cells.front(); });
    if (same == table.rows.end()) {
      throw InputError(file_.at(line, 1, "the point that this one is like has no '" + cells.front() + "'"));
    }
    *same = std::move(cells);
  }

  const CsvFile& file_;
  std::map<std::string_view, Table*> by_id_;
  std::set<const Table*> copies_;
};

bool ends_with_a_line_break(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(-1, std::ios::end);
  return file.get() == '\n';
}

/// Every finished point has engines, parameters and a line of run.csv, so that a file without is not whole.
void check_whole(const CsvFile& file, Table PointRow::*member, const std::vector<PointRow>& rows) {
  const CsvRow& last = file.rows.empty() ? file.header : file.rows.back();
  if (!ends_with_a_line_break(file.path)) {
    throw InputError(file.at(last, last.fields.size() - 1, "the line has no end, the file was cut off; run it again"));
  }
  const bool may_lack = member == &PointRow::operators || member == &PointRow::links || file.header.fields.size() == 1;
  for (const PointRow& row : rows) {
    if (may_lack || row.status != Status::kOk || !(row.*member).rows.empty()) continue;
    throw InputError(
        file.at(last, 0, "the file ends without point '" + row.id + "' of points.csv, it was cut off; run it again"));
  }
}

void read_companion(const std::filesystem::path& path, Table PointRow::*member, std::vector<PointRow>& rows) {
  const CsvFile file = read_csv(path.string());
  if (column(file, "id") != 0) throw InputError(file.at(file.header, 0, "the first column is not 'id'"));
  CompanionReader(file, member, rows).read();
  check_whole(file, member, rows);
}

}  // namespace

std::vector<PointRow> read_results(const std::filesystem::path& folder, const std::vector<CompanionTable>& companions) {
  std::vector<PointRow> rows = read_journal(folder, companions);
  if (!rows.empty()) return rows;
  std::error_code error;
  if (!std::filesystem::exists(folder / "points.csv", error)) {
    throw InputError(folder.string() + ": holds no results (no points.csv); name a folder that a run has written");
  }
  rows = read_points(folder / "points.csv");
  for (const CompanionTable& companion : companions) {
    const std::filesystem::path path = folder / companion.file;
    if (std::filesystem::exists(path, error)) read_companion(path, companion.table, rows);
  }
  return rows;
}

bool holds_results(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "points.csv";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string header;
  std::getline(file, header);
  return header.starts_with("id,") && header.find(",status,error,") != std::string::npos &&
         header.ends_with(",fold,detail,version,input_hash");
}

}  // namespace trnsim
