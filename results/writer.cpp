#include "results/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "results/metrics.h"

namespace trnsim {
namespace {

// A reader of CSV refuses lines over 64 KiB; the one field without a natural bound is the error.
constexpr std::size_t kLongestField = 4096;

/// A field holds no line break; other control characters would not show in a spreadsheet either.
std::string clean(std::string_view text) {
  std::string result(text.substr(0, kLongestField));
  if (text.size() > kLongestField) {
    while ((static_cast<unsigned char>(result.back()) & 0xC0U) == 0x80U) result.pop_back();  // no half characters
    result.back() = '~';                                                                     // was cut
  }
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return result;
}

std::string line(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) text += ',';
    text += csv_quote(clean(field));
  }
  return text + '\n';
}

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

/// Lines of a companion table, cells under the columns of `header`.
class CompanionCsv {
 public:
  CompanionCsv(const std::vector<PointRow>& rows, Table PointRow::*member) {
    Columns columns;
    for (const PointRow& row : rows) {
      for (const std::string& column : (row.*member).columns) columns.add(column);
    }
    header_.insert(header_.end(), columns.names().begin(), columns.names().end());
    text_ = line(header_);
  }

  /// REQUIRES: every column of `columns` is in one of the rows given to the constructor.
  void add(const std::string& id, const std::vector<std::string>& columns, const std::vector<std::string>& cells) {
    check(cells.size() == columns.size(), "a companion table has as many cells in each row as columns");
    std::vector<std::string> fields(header_.size());
    fields[0] = id;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto at = std::find(header_.begin() + 1, header_.end(), columns[i]);
      fields[static_cast<std::size_t>(at - header_.begin())] = cells[i];
    }
    text_ += line(fields);
  }
  std::string take() { return std::move(text_); }

 private:
  std::vector<std::string> header_ = {"id"};
  std::string text_;
};

std::string companion_csv(const std::vector<PointRow>& rows, Table PointRow::*member) {
  CompanionCsv csv(rows, member);
  for (const PointRow& row : rows) {
    for (const auto& cells : (row.*member).rows) csv.add(row.id, (row.*member).columns, cells);
  }
  return csv.take();
}

/// How many rows of two tables differ; none if a row of one cannot stand for a row of the other.
std::optional<std::size_t> differences(const Table& a, const Table& b) {
  if (a.columns != b.columns || a.columns.size() < 2 || a.rows.size() != b.rows.size()) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    if (a.rows[i].front() != b.rows[i].front()) return std::nullopt;
    count += a.rows[i] == b.rows[i] ? 0 : 1;
  }
  return count;
}

/// parameters.csv: the parameters of a point are mostly those of another, so that it writes kSameAs with the id of
/// that one and what differs.
std::string parameters_csv(const std::vector<PointRow>& rows) {
  CompanionCsv csv(rows, &PointRow::parameters);
  std::vector<const PointRow*> written;  // in full
  for (const PointRow& row : rows) {
    const Table& table = row.parameters;
    std::size_t least = table.rows.size() / 2;
    const PointRow* model = nullptr;
    for (const PointRow* other : written) {
      const std::optional<std::size_t> count = differences(table, other->parameters);
      if (!count || *count >= least) continue;
      least = *count;
      model = other;
    }
    if (model == nullptr) {
      if (!table.rows.empty()) written.push_back(&row);
    } else {
      std::vector<std::string> cells(table.columns.size());
      cells[0] = kSameAs;
      cells[1] = model->id;
      csv.add(row.id, table.columns, cells);
    }
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (model == nullptr || table.rows[i] != model->parameters.rows[i]) csv.add(row.id, table.columns, table.rows[i]);
    }
  }
  return csv.take();
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw InputError(path.string() + ": cannot write: " + std::strerror(error) +
                   (error == ENOSPC || error == EDQUOT ? "; free some space, finished rows are kept"
                                                       : "; name a folder that can be written"));
}

/// Where the links at `path` lead: a renamed file would take the place of a link.
std::filesystem::path followed(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) fail(path, error.value());
    path = path.parent_path() / target;
  }
  if (std::filesystem::is_symlink(path, error)) fail(path, ELOOP);
  return path;
}

/// A renamed file would also take the place of a device or a FIFO.
void check_can_be_replaced(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  throw InputError(path.string() + ": is " +
                   (std::filesystem::is_directory(status) ? "a directory" : "no regular file") +
                   "; name a file that can be written");
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
  std::string text = line(header);
  for (const PointRow& row : rows) text += line(point_fields(row, swept));
  return text;
}

void write_file(const std::filesystem::path& link, std::string_view bytes) {
  const std::filesystem::path path = followed(link);
  check_can_be_replaced(path);
  const std::string temporary = path.string() + "." + std::to_string(getpid()) + ".tmp";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail(path, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(temporary.c_str());
  fail(path, error);
}

void write_results(const std::filesystem::path& folder, const std::vector<PointRow>& rows) {
  for (const CompanionTable& companion : companion_tables()) {
    write_file(folder / companion.file,
               companion.table == &PointRow::parameters ? parameters_csv(rows) : companion_csv(rows, companion.table));
  }
  write_file(folder / "points.csv", points_csv(rows));  // last: where it stands, its companions do
}

}  // namespace trnsim
