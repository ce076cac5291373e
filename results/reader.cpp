// Results read back from their CSV files.
#include <algorithm>
#include <map>
#include <optional>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
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
    if (!text(i).empty() && find_metric(heading) != nullptr && (has_metrics || !swept)) row.metrics[heading] = text(i);
  }
  return row;
}

void read_companion(const std::filesystem::path& path, Table PointRow::*member, std::vector<PointRow>& rows) {
  const CsvFile file = read_csv(path.string());
  if (column(file, "id") != 0) throw InputError(file.at(file.header, 0, "the first column is not 'id'"));
  std::map<std::string_view, Table*> by_id;
  for (PointRow& row : rows) {
    by_id[row.id] = &(row.*member);
    for (std::size_t i = 1; i < file.header.fields.size(); ++i) {
      (row.*member).columns.push_back(file.header.fields[i].text);
    }
  }
  for (const CsvRow& line : file.rows) {
    const auto found = by_id.find(line.fields.at(0).text);
    if (found == by_id.end()) {
      throw InputError(file.at(line, 0, "no point '" + line.fields[0].text + "' in points.csv"));
    }
    auto& cells = found->second->rows.emplace_back();
    for (std::size_t i = 1; i < line.fields.size(); ++i) cells.push_back(line.fields[i].text);
  }
}

}  // namespace

std::vector<PointRow> read_results(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "points.csv")) {
    std::vector<PointRow> rows = read_journal(folder);
    if (rows.empty()) {
      throw InputError(folder.string() + ": holds no results (no points.csv); name a folder that a run has written");
    }
    return rows;
  }
  const CsvFile file = read_csv((folder / "points.csv").string());
  const Layout layout(file);
  std::vector<PointRow> rows;
  rows.reserve(file.rows.size());
  for (const CsvRow& line : file.rows) rows.push_back(read_point(file, layout, line));
  for (const CompanionTable& companion : companion_tables()) {
    const std::filesystem::path path = folder / companion.file;
    if (std::filesystem::exists(path)) read_companion(path, companion.table, rows);
  }
  return rows;
}

}  // namespace trnsim
