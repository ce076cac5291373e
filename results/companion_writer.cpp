#include "results/companion_writer.h"

#include <algorithm>
#include <optional>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"

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

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) text += ',';
    text += csv_quote(clean(field));
  }
  return text + '\n';
}

CompanionWriter::CompanionWriter(const std::filesystem::path& folder, const CompanionTable& companion)
    : member_(companion.table), file_(folder / companion.file) {}

void CompanionWriter::begin(const std::vector<std::string>& columns) {
  begun_ = true;
  columns_ = columns;
  std::vector<std::string> header = {"id"};
  header.insert(header.end(), columns.begin(), columns.end());
  file_.add(csv_line(header));
}

void CompanionWriter::put(const std::string& id, const std::vector<std::string>& cells) {
  check(cells.size() == columns_.size(), "a companion table has as many cells in each row as columns");
  std::vector<std::string> fields = {id};
  fields.insert(fields.end(), cells.begin(), cells.end());
  file_.add(csv_line(fields));
}

/// The parameters of a point are mostly those of another: the one with the fewest differences, if most are equal.
const CompanionWriter::Model* CompanionWriter::like(const Table& table) const {
  std::size_t least = table.rows.size() / 2;
  const Model* best = nullptr;
  for (const Model& model : models_) {
    const std::optional<std::size_t> count = differences(table, model.table);
    if (!count || *count >= least) continue;
    least = *count;
    best = &model;
  }
  return best;
}

void CompanionWriter::add(const PointRow& row) {
  const Table& table = row.*member_;
  if (table.columns.empty()) return;
  if (!begun_) begin(table.columns);
  check(table.columns == columns_, "a companion table has the same columns at every point");
  const Model* model = nullptr;
  if (member_ == &PointRow::parameters) {
    model = like(table);
    if (model == nullptr) models_.push_back({row.id, table});
  }
  if (model != nullptr) {
    std::vector<std::string> cells(columns_.size());
    cells[0] = kSameAs;
    cells[1] = model->id;
    put(row.id, cells);
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (model == nullptr || table.rows[i] != model->table.rows[i]) put(row.id, table.rows[i]);
  }
}

void CompanionWriter::commit() {
  if (!begun_) begin({});
  file_.commit();
}

}  // namespace trnsim
