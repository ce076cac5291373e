// The companion tables of points as CSV files, row by row.
#pragma once

#include <filesystem>
#include <list>
#include <string>
#include <vector>

#include "results/file_writer.h"
#include "results/writer.h"

namespace trnsim {

/// Fields as a line of CSV: without control characters, no field longer than a reader takes.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

class CompanionWriter {
 public:
  CompanionWriter(const std::filesystem::path& folder, const CompanionTable& companion);

  /// REQUIRES: the table of `row` has the columns of those before, or none.
  void add(const PointRow& row);
  void commit();

 private:
  struct Model {
    std::string id;
    Table table;
  };
  void begin(const std::vector<std::string>& columns);
  void put(const std::string& id, const std::vector<std::string>& cells);
  [[nodiscard]] const Model* like(const Table& table) const;

  Table PointRow::*member_;
  FileWriter file_;
  bool begun_ = false;
  std::vector<std::string> columns_;
  std::list<Model> models_;  ///< of parameters.csv: those written in full
};

}  // namespace trnsim
