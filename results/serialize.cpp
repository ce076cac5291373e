// One row as text and back: a header, then netstrings ("5:hello,"), so that any byte may stand in any field.
#include <charconv>
#include <cstdint>
#include <string>

#include "models/mechanism/error.h"
#include "results/writer.h"

namespace trnsim {
namespace {

constexpr std::string_view kMark = "trnsim row 1\n";

class Writer {
 public:
  void put(std::string_view text) {
    text_ += std::to_string(text.size());
    text_ += ':';
    text_ += text;
    text_ += ',';
  }
  void put(std::size_t number) { put(std::to_string(number)); }
  void put(const Table& table) {
    put(table.columns);
    put(table.rows.size());
    for (const auto& row : table.rows) put(row);
  }
  void put(const std::vector<std::string>& list) {
    put(list.size());
    for (const std::string& text : list) put(std::string_view(text));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_{kMark};
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (!text_.starts_with(kMark)) fail();
    text_.remove_prefix(kMark.size());
  }
  std::string string() {
    const std::size_t size = number(':');
    if (size >= text_.size() || text_[size] != ',') fail();
    std::string result(text_.substr(0, size));
    text_.remove_prefix(size + 1);
    return result;
  }
  /// A count of things that follow; each takes at least a byte, which bounds it.
  std::size_t count() {
    const std::string digits = string();
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) fail();
    return value;
  }
  std::size_t items() {
    const std::size_t value = count();
    if (value > text_.size()) fail();
    return value;
  }
  std::vector<std::string> list() {
    std::vector<std::string> result(items());
    for (std::string& text : result) text = string();
    return result;
  }
  Table table() {
    Table result;
    result.columns = list();
    result.rows.resize(items());
    for (auto& row : result.rows) row = list();
    return result;
  }
  void end() const {
    if (!text_.empty()) fail();
  }

 private:
  std::size_t number(char stop) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || end == text_.data() + text_.size() || *end != stop) fail();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()) + 1);
    return value;
  }
  [[noreturn]] static void fail() { throw InputError("not a whole row of results; the run that wrote it was cut off"); }

  std::string_view text_;
};

}  // namespace

std::string serialize(const PointRow& row) {
  Writer out;
  out.put(row.id);
  out.put(row.swept.size());
  for (const auto& [name, value] : row.swept) out.put(name), out.put(value);
  out.put(static_cast<std::size_t>(row.status));
  out.put(row.error);
  out.put(row.metrics.size());
  for (const auto& [name, value] : row.metrics) out.put(name), out.put(value);
  for (const std::string* text : {&row.fold, &row.detail, &row.version, &row.input_hash}) out.put(*text);
  for (const CompanionTable& companion : companion_tables()) out.put(row.*companion.table);
  return out.take();
}

PointRow deserialize(std::string_view text) {
  Reader in(text);
  PointRow row;
  row.id = in.string();
  row.swept.resize(in.items());
  for (auto& [name, value] : row.swept) name = in.string(), value = in.string();
  const std::size_t status = in.count();
  if (status > static_cast<std::size_t>(Status::kHostMemory)) throw InputError("unknown status in a row of results");
  row.status = static_cast<Status>(status);
  row.error = in.string();
  for (std::size_t n = in.items(); n > 0; --n) {
    std::string key = in.string();
    row.metrics[std::move(key)] = in.string();
  }
  for (std::string* field : {&row.fold, &row.detail, &row.version, &row.input_hash}) *field = in.string();
  for (const CompanionTable& companion : companion_tables()) row.*companion.table = in.table();
  in.end();
  return row;
}

}  // namespace trnsim
