#include "platforms/table/csv.h"

#include <csv.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>  // csv.h uses it without including it
#include <memory>
#include <string_view>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

using Quotes = io::double_quote_escape<',', '"'>;

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{256} << 20;
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;

[[noreturn]] void refuse(const std::string& place, const std::string& wrong, const std::string& right) {
  throw InputError(place + ": " + wrong + "; " + right);
}

void check_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) refuse(path, "no such file", "check the path");
  if (fs::is_directory(status)) refuse(path, "is a directory", "name a CSV file");
  if (!fs::is_regular_file(status)) refuse(path, "is no regular file", "name a CSV file");  // it is read twice
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMaxFileBytes) refuse(path, "is larger than 256 MiB", "split it");
}

std::string place(const std::string& path, std::size_t line, std::size_t column) {
  return path + ":" + std::to_string(line) + ":" + std::to_string(column);
}

/// 1-based column of `position` in characters, not bytes: UTF-8 continuation bytes do not count.
std::size_t column_of(const char* line, const char* position) {
  return 1 + static_cast<std::size_t>(std::count_if(
                 line, position, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Cuts a line into fields by the library's quote policy.
std::vector<Field> split(const std::string& path, std::size_t line, char* text) {
  std::vector<Field> fields;
  char* const start = text;
  char* rest = text;
  while (rest != nullptr) {
    char* begin = rest;
    const char* end = nullptr;
    try {
      end = Quotes::find_next_column_end(rest);
    } catch (const io::error::escaped_string_not_closed&) {
      refuse(place(path, line, column_of(start, begin)), "the quote is not closed",
             "end the field with \", or double a \" that belongs to the text");
    }
    char* stop = begin + (end - begin);
    rest = *stop == '\0' ? nullptr : stop + 1;
    *stop = '\0';
    Field field;
    while (*begin == ' ' || *begin == '\t') ++begin;
    field.column = column_of(start, begin);
    char* last = stop;
    while (last > begin && (last[-1] == ' ' || last[-1] == '\t')) --last;
    char* unescaped_begin = begin;
    char* unescaped_end = last;
    if (last - begin >= 2) Quotes::unescape(unescaped_begin, unescaped_end);
    if (begin != last && *begin == '"' && unescaped_begin == begin) {
      refuse(place(path, line, field.column), "text follows the closing quote", "quote the whole field or none of it");
    }
    field.text.assign(unescaped_begin, static_cast<std::size_t>(unescaped_end - unescaped_begin));
    fields.push_back(field);
  }
  return fields;
}

bool is_blank_or_comment(const char* line) {
  while (*line == ' ' || *line == '\t') ++line;
  return *line == '\0' || *line == '#';
}

/// What the library would not see: it hands out lines without their length, so that a NUL byte would hide the rest
/// of one, and takes a lone carriage return for text.
void check_bytes(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr)
    refuse(path, std::string("cannot be read (") + std::strerror(errno) + ")", "check its permissions");
  std::vector<char> buffer(1 << 16);
  std::size_t line = 1;
  std::size_t column = 0;
  bool carriage_return = false;
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    for (const char c : std::string_view(buffer.data(), count)) {
      if (carriage_return && c != '\n') {
        refuse(place(path, line, column), "a carriage return inside the line", "end lines with LF or CRLF");
      }
      carriage_return = c == '\r';
      ++column;
      if (c == '\0') refuse(place(path, line, column), "a NUL byte", "save the file as plain text");
      if (c == '\n') {
        if (column > kMaxLineBytes) refuse(place(path, line, 1), "the line is longer than 64 KiB", "shorten it");
        ++line;
        column = 0;
      }
    }
  }
  if (column > kMaxLineBytes) refuse(place(path, line, 1), "the line is longer than 64 KiB", "shorten it");
}

void fit_to_header(const CsvFile& file, CsvRow& row) {
  const std::size_t width = file.header.fields.size();
  while (row.fields.size() > width && row.fields.back().text.empty()) row.fields.pop_back();  // trailing commas
  if (row.fields.size() > width) {
    throw InputError(file.at(row, width,
                             "the row has " + std::to_string(row.fields.size()) + " fields, the header " +
                                 std::to_string(width) + "; quote a field that holds a comma"));
  }
  if (row.fields.size() < width) {
    const std::size_t last = row.fields.size() - 1;
    throw InputError(file.at(row, last,
                             "the row ends before column '" + file.header.fields[row.fields.size()].text + "'; write " +
                                 std::to_string(width) + " fields"));
  }
}

}  // namespace

std::string CsvFile::place(const CsvRow& row, std::size_t field) const {
  return trnsim::place(path, row.line, field < row.fields.size() ? row.fields[field].column : 1);
}

std::string CsvFile::at(const CsvRow& row, std::size_t field, const std::string& message) const {
  return place(row, field) + ": " + message;
}

CsvFile read_csv(const std::string& path) {
  check_file(path);
  check_bytes(path);
  CsvFile file;
  file.path = path;
  try {
    io::LineReader reader(path);
    while (char* line = reader.next_line()) {
      if (is_blank_or_comment(line)) continue;
      CsvRow row;
      row.line = reader.get_file_line();
      row.fields = split(path, row.line, line);
      if (file.header.fields.empty()) {
        while (row.fields.size() > 1 && row.fields.back().text.empty()) row.fields.pop_back();
        file.header = row;
        continue;
      }
      fit_to_header(file, row);
      file.rows.push_back(row);
    }
  } catch (const io::error::base& error) {
    throw InputError(path + ": " + error.what() + "; write a CSV file");
  }
  if (file.header.fields.empty()) refuse(path + ":1:1", "the file is empty", "begin with a header row");
  return file;
}

CsvFile read_csv(const std::string& path, const std::vector<std::string>& columns) {
  CsvFile file = read_csv(path);
  for (std::size_t i = 0; i < std::max(columns.size(), file.header.fields.size()); ++i) {
    const std::string found = i < file.header.fields.size() ? file.header.fields[i].text : "";
    const std::string wanted = i < columns.size() ? columns[i] : "";
    if (found == wanted) continue;
    std::string list;
    for (const std::string& column : columns) {
      if (!list.empty()) list += ',';
      list += column;
    }
    throw InputError(file.at(
        file.header, i, "the header has '" + found + "' where '" + wanted + "' belongs; the header must be " + list));
  }
  return file;
}

std::string csv_quote(const std::string& text) {
  if (text.find_first_of(",\"\r\n#") == std::string::npos &&
      (text.empty() || (text.front() != ' ' && text.back() != ' '))) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return quoted + "\"";
}

}  // namespace trnsim
