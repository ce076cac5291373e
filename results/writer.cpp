#include "results/writer.h"

#include <algorithm>
#include <set>

#include "models/mechanism/error.h"
#include "results/companion_writer.h"
#include "results/metrics.h"

namespace trnsim {
namespace {

/// Names in order of first appearance.
class Columns {
 public:
  void add(const std::string& name) {
    if (seen_.insert(name).second) names_.push_back(name);
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(std::string_view name) const { return seen_.contains(name); }

 private:
  std::vector<std::string> names_;
  std::set<std::string, std::less<>> seen_;
};

const std::string* swept_value(const PointRow& row, std::string_view name) {
  const auto found = std::find_if(row.swept.begin(), row.swept.end(), [&](const auto& p) { return p.first == name; });
  return found == row.swept.end() ? nullptr : &found->second;
}

std::string metric_text(const PointRow& row, std::string_view name) {
  const auto found = row.metrics.find(name);
  return found == row.metrics.end() ? std::string() : found->second;
}

std::vector<std::string> point_fields(const PointRow& row, const Columns& swept) {
  std::vector<std::string> fields = {row.id};
  for (const std::string& parameter : swept.names()) {
    const std::string resolved = metric_text(row, parameter);
    const std::string* const written = swept_value(row, parameter);
    fields.push_back(!resolved.empty() ? resolved : written != nullptr ? *written : std::string());
  }
  fields.emplace_back(name(row.status));
  fields.push_back(row.error);
  for (const MetricInfo& info : metrics()) {
    if (!swept.has(info.name)) fields.push_back(metric_text(row, info.name));
  }
  fields.insert(fields.end(), {row.fold, row.detail, row.version, row.input_hash});
  return fields;
}

}  // namespace

const std::vector<CompanionTable>& companion_tables() {
  static const std::vector<CompanionTable> tables = {{"engines.csv", &PointRow::engines},
                                                     {"operators.csv", &PointRow::operators},
                                                     {"links.csv", &PointRow::links},
                                                     {"parameters.csv", &PointRow::parameters},
                                                     {"run.csv", &PointRow::run}};
  return tables;
}

const std::vector<std::string>& parameter_columns() {
  static const std::vector<std::string> columns = {"parameter", "value",      "unit",   "low",
                                                   "high",      "confidence", "source", "origin"};
  return columns;
}

std::string points_csv(const std::vector<PointRow>& rows) {
  Columns swept;
  for (const PointRow& row : rows) {
    for (const auto& [parameter, value] : row.swept) swept.add(parameter);
    for (const auto& [metric, value] : row.metrics) {
      check(find_metric(metric) != nullptr, "every metric of a row is in the table of metrics");
    }
  }
  std::vector<std::string> header = {"id"};
  header.insert(header.end(), swept.names().begin(), swept.names().end());
  header.insert(header.end(), {"status", "error"});
  for (const MetricInfo& info : metrics()) {
    if (!swept.has(info.name)) header.emplace_back(info.name);
  }
  header.insert(header.end(), {"fold", "detail", "version", "input_hash"});
  std::string text = csv_line(header);
  for (const PointRow& row : rows) text += csv_line(point_fields(row, swept));
  return text;
}

ResultsWriter::ResultsWriter(std::filesystem::path folder) : folder_(std::move(folder)) {
  for (const CompanionTable& companion : companion_tables()) {
    tables_.push_back(std::make_unique<CompanionWriter>(folder_, companion));
  }
}

ResultsWriter::~ResultsWriter() = default;

void ResultsWriter::add(PointRow row) {
  for (const auto& table : tables_) table->add(row);
  row.engines = row.operators = row.links = row.run = {};
  rows_.push_back(std::move(row));
}

void ResultsWriter::commit() {
  for (const auto& table : tables_) table->commit();
  write_file(folder_ / "points.csv", points_csv(rows_));  // last: where it stands, its companions do
}

void write_results(const std::filesystem::path& folder, const std::vector<PointRow>& rows) {
  ResultsWriter writer(folder);
  for (const PointRow& row : rows) writer.add(row);
  writer.commit();
}

}  // namespace trnsim
