// CSV files as rows of strings with their places, for everything that users write.
//
// Wraps fast-cpp-csv-parser once: double quotes, CRLF, byte-order mark, '#' comments and blank lines are read;
// a line over 64 KiB, a file over 256 MiB, a directory or an empty file is refused.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trnsim {

/// A field and where it stands.
struct Field {
  std::string text;
  std::size_t column = 0;  ///< 1-based character column in the line
};

struct CsvRow {
  std::size_t line = 0;  ///< 1-based
  std::vector<Field> fields;
};

struct CsvFile {
  std::string path;
  CsvRow header;
  std::vector<CsvRow> rows;

  /// "path:line:column" of a field
  [[nodiscard]] std::string place(const CsvRow& row, std::size_t field) const;
  /// "path:line:column: message"
  [[nodiscard]] std::string at(const CsvRow& row, std::size_t field, const std::string& message) const;
};

/// Reads `path` with a header row of any names. Throws InputError.
[[nodiscard]] CsvFile read_csv(const std::string& path);

/// Reads `path`, whose header must be exactly `columns`. Throws InputError.
[[nodiscard]] CsvFile read_csv(const std::string& path, const std::vector<std::string>& columns);

/// Quotes `text` for a CSV field where needed.
[[nodiscard]] std::string csv_quote(const std::string& text);

}  // namespace trnsim
