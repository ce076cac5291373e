// Files that say how much goes from which rank to which, for collectives of different sizes.
//
//   src,dst,count        a matrix: one row for every pair of ranks
//   rank,count           one row for every rank
//   e0,e1,...            tokens that chose each expert of a layer, the experts dealt to the ranks in order
//
// `count` may be called copies (one for each token and expert) or tokens (one for each token and destination), and both
// may stand there. A column `layer` makes a file hold several of these. In a row of experts `sequence` names the
// tokens' sequence, and the sequences are dealt to the sources in order; rows without, of any `position`, are added up
// and come from all sources alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platforms/table/csv.h"
#include "workloads/setting_reader.h"

namespace trnsim {

class CountsFile {
 public:
  /// Reads the file that parameter `counts` names, as `counts_layer` and `counts_column` say. Throws InputError.
  explicit CountsFile(const SettingReader& read);

  /// Ranks that the file has rows for; 0 for counts of experts, which say nothing about it.
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  /// Counts by source, then destination, of so many ranks. Throws InputError if it is none of them.
  [[nodiscard]] std::vector<std::uint64_t> matrix(std::uint32_t ranks) const;
  /// Counts by rank, of so many ranks. Throws InputError if it is none of them.
  [[nodiscard]] std::vector<std::uint64_t> shards(std::uint32_t ranks) const;

 private:
  static constexpr std::size_t kNoColumn = ~std::size_t{};

  void name_columns();
  void name_column(std::size_t column);
  void choose_layer(const SettingReader& read);
  void choose_column(const SettingReader& read);
  void find_ranks();
  [[nodiscard]] bool is_matrix() const { return source_ != kNoColumn; }
  [[nodiscard]] bool is_experts() const { return !experts_.empty(); }
  [[nodiscard]] std::uint64_t number(const CsvRow& row, std::size_t column, std::uint64_t most) const;
  [[nodiscard]] std::uint32_t rank(const CsvRow& row, std::size_t column, std::uint32_t ranks) const;
  [[nodiscard]] std::vector<std::uint64_t> by_key(std::uint32_t ranks, std::size_t keys) const;
  [[nodiscard]] std::vector<std::uint64_t> expert_matrix(std::uint32_t ranks) const;
  [[nodiscard]] std::vector<std::uint64_t> by_destination(const CsvRow& row, std::uint32_t ranks) const;
  [[nodiscard]] std::vector<std::uint64_t> of_sequences(std::uint32_t ranks) const;
  [[nodiscard]] std::string key_name(std::uint64_t key, std::uint32_t ranks) const;
  [[noreturn]] void refuse_header(const std::string& wrong, std::size_t column) const;

  CsvFile file_;
  std::vector<const CsvRow*> rows_;  ///< of the layer
  std::size_t layer_ = kNoColumn, source_ = kNoColumn, destination_ = kNoColumn, rank_ = kNoColumn,
              sequence_ = kNoColumn, count_ = kNoColumn;
  std::vector<std::size_t> experts_;  ///< columns
  std::uint32_t ranks_ = 0;
};

}  // namespace trnsim
