// Results folders: written row by row so that nothing finished is lost, assembled into CSV files, read back.
//
//   <out>/points.csv                                   one row per point
//   <out>/{engines,operators,links,parameters,run}.csv companion tables, `id` first
//   <out>/rows/                                        journal of finished points, until finish() has every one;
//                                                      where there is one, it is what the folder holds
//   <out>/.lock                                        held while a run writes here
//
// Equal rows give equal bytes, whatever the order in which they finished; run.csv alone may differ between runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/row.h"

namespace trnsim {

class CompanionWriter;

/// The companion tables of PointRow, in the order in which they are written.
struct CompanionTable {
  std::string_view file;  ///< "engines.csv"
  Table PointRow::*table;
};
[[nodiscard]] const std::vector<CompanionTable>& companion_tables();

/// Columns of PointRow::parameters: parameter, value, unit, low, high, confidence, source, origin.
[[nodiscard]] const std::vector<std::string>& parameter_columns();

/// In parameters.csv, the parameter whose value is the id of an earlier point: this one has the parameters of that one
/// except for those that follow.
inline constexpr std::string_view kSameAs = "same as point";

/// The results folder of one run. Holds the folder's lock from construction to destruction: a second run into the
/// same folder gets an InputError. Children forked meanwhile may append(); each row is one file, written beside its
/// place and renamed into it, so a reader sees all of it or nothing.
///
/// Every failure to write (no such folder, no permission, disk full) is an InputError that names the file; rows
/// appended before stay readable.
class PointStore {
 public:
  /// Makes `folder` where missing and locks it. Refuses a folder with files that are not of trnsim, and one with the
  /// journal of a run that was stopped. Finished results stay until finish() replaces them.
  explicit PointStore(std::filesystem::path folder);
  ~PointStore();
  PointStore(const PointStore&) = delete;
  PointStore& operator=(const PointStore&) = delete;

  /// Keeps a finished row; the same id replaces its row. `sequence` is the point's place in the sweep.
  /// Safe to call from a forked child.
  void append(std::size_t sequence, const PointRow& row);

  /// Writes the CSV files with the finished rows among `order` (ids in sweep order), and returns those rows
  /// with their parameters alone. Removes
  /// the journal when every one of `order` is there; else keeps it, and the files of an earlier finished run.
  std::vector<PointRow> finish(const std::vector<std::string>& order);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  void unlock();

  std::filesystem::path folder_;
  int owner_;  ///< process that made the store
  int lock_ = -1;
  bool replaces_ = false;  ///< an earlier run finished here
};

/// Writes points.csv and its companions into the existing `folder`, point by point, and lets go of the tables: those of
/// a large sweep do not fit into memory together. Nothing is there before commit(). Throws InputError.
class ResultsWriter {
 public:
  explicit ResultsWriter(std::filesystem::path folder);
  ~ResultsWriter();
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  void add(PointRow row);
  void commit();
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// The rows added, with their parameters alone.
  [[nodiscard]] std::vector<PointRow> take() { return std::move(rows_); }

 private:
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<CompanionWriter>> tables_;
  std::vector<PointRow> rows_;
};

/// Writes `rows`, in their order, as points.csv and its companions into the existing `folder`. Throws InputError.
void write_results(const std::filesystem::path& folder, const std::vector<PointRow>& rows);

/// Reads a results folder back: the journal of an unfinished run (in sweep order), else points.csv and those of
/// `companions` that are there. Throws InputError with file, line and column.
[[nodiscard]] std::vector<PointRow> read_results(const std::filesystem::path& folder,
                                                 const std::vector<CompanionTable>& companions = companion_tables());

/// Whether `folder` has a points.csv as trnsim writes it.
[[nodiscard]] bool holds_results(const std::filesystem::path& folder);

/// points.csv as text: id, swept parameters (union over `rows`, in order of appearance), status, error, every metric,
/// fold, detail, version, input_hash. A parameter that is also a metric (`batch`, `tp`) has one column, with the
/// resolved value where the point has one.
[[nodiscard]] std::string points_csv(const std::vector<PointRow>& rows);

/// One row as text and back, for the journal and for pipes between a forked child and its parent.
[[nodiscard]] std::string serialize(const PointRow& row);
[[nodiscard]] PointRow deserialize(std::string_view text);

/// Writes `bytes` to `path` under a temporary name and renames it; a symbolic link stays and leads to the new bytes.
/// Throws InputError, also if `path` is there and no regular file.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace trnsim
