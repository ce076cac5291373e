#include "workloads/routing/counts_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "models/mechanism/error.h"
#include "platforms/table/nearest.h"
#include "workloads/collectives/schedule.h"
#include "workloads/parameters.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kMostCount = 100'000'000'000;  // all cells of the largest file then add up in 64 bits
constexpr std::uint32_t kMostRanks = 1'000'000;
constexpr std::array<std::string_view, 3> kCountNames = {"tokens", "copies", "count"};  // the first is taken
constexpr std::string_view kKnownColumns = "layer|src|dst|rank|sequence|position|tokens|copies|count|e0|expert0";

/// The number of an expert's column: 12 of "e12" and "expert12".
bool is_expert(std::string_view name, std::size_t number) {
  const std::string digits = std::to_string(number);
  return name == "e" + digits || name == "expert" + digits;
}

std::string list_of(const std::set<std::uint64_t>& numbers) {
  std::string list;
  for (const std::uint64_t number : numbers) list += (list.empty() ? "" : ", ") + std::to_string(number);
  return list;
}

}  // namespace

CountsFile::CountsFile(const SettingReader& read) : file_(read_csv(read.need("counts").file)) {
  name_columns();
  choose_column(read);
  if (file_.rows.empty()) throw InputError(file_.path + ":1:1: no rows; write one for every rank or pair of ranks");
  choose_layer(read);
  find_ranks();
}

// --- Columns ---

void CountsFile::refuse_header(const std::string& wrong, std::size_t column) const {
  throw InputError(file_.at(file_.header, column,
                            wrong + "; a counts file has columns src,dst,count or rank,count or e0,e1,... (count may "
                                    "be copies or tokens), and layer if it holds several"));
}

void CountsFile::name_column(std::size_t column) {
  const std::string& name = file_.header.fields[column].text;
  const auto is = [&](const Field& other) { return other.text == name; };
  const auto first = std::ranges::find_if(file_.header.fields, is) - file_.header.fields.begin();
  if (static_cast<std::size_t>(first) != column) refuse_header("a second column '" + name + "'", column);
  for (const auto& [known, place] :
       {std::pair{"layer", &layer_}, std::pair{"src", &source_}, std::pair{"dst", &destination_},
        std::pair{"rank", &rank_}, std::pair{"sequence", &sequence_}}) {
    if (name == known) {
      *place = column;
      return;
    }
  }
  if (is_expert(name, experts_.size())) {
    experts_.push_back(column);
    return;
  }
  const bool is_count = std::ranges::find(kCountNames, name) != kCountNames.end();
  if (is_count || name == "position") return;
  const std::string near = nearest(name, split_words(kKnownColumns));
  refuse_header("unknown column '" + name + "'" + (near.empty() ? "" : " (did you mean " + near + "?)"), column);
}

void CountsFile::name_columns() {
  for (std::size_t column = 0; column < file_.header.fields.size(); ++column) name_column(column);
  const bool pairs = source_ != kNoColumn && destination_ != kNoColumn;
  const bool kinds[] = {pairs, rank_ != kNoColumn, is_experts()};
  if (std::ranges::count(kinds, true) != 1) refuse_header("neither ranks nor experts, or both", 0);
  if (!pairs && source_ != kNoColumn) refuse_header("src without dst", source_);
  if (!pairs && destination_ != kNoColumn) refuse_header("dst without src", destination_);
  if (!is_experts() && sequence_ != kNoColumn) refuse_header("sequence without experts", sequence_);
}

void CountsFile::choose_column(const SettingReader& read) {
  if (is_experts()) return;
  std::vector<std::string_view> wanted(kCountNames.begin(), kCountNames.end());
  if (!read.is_auto("counts_column")) wanted = {read.word("counts_column")};
  for (const std::string_view name : wanted) {
    for (std::size_t column = 0; column < file_.header.fields.size() && count_ == kNoColumn; ++column) {
      if (file_.header.fields[column].text == name) count_ = column;
    }
  }
  if (count_ == kNoColumn) refuse_header("no column '" + std::string(wanted.back()) + "'", 0);
}

// --- Rows ---

void CountsFile::choose_layer(const SettingReader& read) {
  std::set<std::uint64_t> layers;
  for (const CsvRow& row : file_.rows) {
    if (layer_ != kNoColumn) layers.insert(number(row, layer_, kMostCount));
  }
  std::uint64_t chosen = layers.empty() ? 0 : *layers.begin();
  if (layer_ != kNoColumn && !read.is_auto("counts_layer")) {
    chosen = read.count("counts_layer");
    if (!layers.contains(chosen)) {
      throw InputError(read.need("counts_layer").place + ": " + file_.path + " has no layer " + std::to_string(chosen) +
                       "; it has " + list_of(layers));
    }
  } else if (layers.size() > 1) {
    throw InputError(
        file_.at(file_.header, layer_, "the file holds layers " + list_of(layers) + "; choose one with counts_layer"));
  }
  for (const CsvRow& row : file_.rows) {
    if (layer_ == kNoColumn || number(row, layer_, kMostCount) == chosen) rows_.push_back(&row);
  }
}

void CountsFile::find_ranks() {
  if (is_experts()) return;
  for (const CsvRow* row : rows_) {
    const std::uint32_t first = rank(*row, is_matrix() ? source_ : rank_, kMostRanks);
    const std::uint32_t second = is_matrix() ? rank(*row, destination_, kMostRanks) : first;
    ranks_ = std::max({ranks_, first + 1, second + 1});
  }
}

std::uint64_t CountsFile::number(const CsvRow& row, std::size_t column, std::uint64_t most) const {
  const std::string& text = row.fields[column].text;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (text.empty()) {
    throw InputError(file_.at(row, column, "an empty cell; write a whole number, 0 for nothing"));
  }
  if (!digits) throw InputError(file_.at(row, column, "'" + text + "' is no count; write a whole number from 0 on"));
  if (error != std::errc() || stop != end || value > most) {
    throw InputError(
        file_.at(row, column, "'" + text + "' is out of range; 0 to " + std::to_string(most) + " is accepted"));
  }
  return value;
}

std::uint32_t CountsFile::rank(const CsvRow& row, std::size_t column, std::uint32_t ranks) const {
  return static_cast<std::uint32_t>(number(row, column, ranks - 1));
}

std::string CountsFile::key_name(std::uint64_t key, std::uint32_t ranks) const {
  if (!is_matrix()) return "rank " + std::to_string(key);
  return "src " + std::to_string(key / ranks) + ", dst " + std::to_string(key % ranks);
}

/// The counts in order of their keys: ranks, or pairs of ranks.
std::vector<std::uint64_t> CountsFile::by_key(std::uint32_t ranks, std::size_t keys) const {
  std::vector<std::pair<std::uint64_t, const CsvRow*>> found;
  for (const CsvRow* row : rows_) {
    std::uint64_t key = rank(*row, is_matrix() ? source_ : rank_, ranks);
    if (is_matrix()) key = key * ranks + rank(*row, destination_, ranks);
    found.emplace_back(key, row);
  }
  std::ranges::stable_sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::uint64_t> counts;
  for (const auto& [key, row] : found) {
    if (key < counts.size()) {
      throw InputError(
          file_.at(*row, is_matrix() ? source_ : rank_, "a second row for " + key_name(key, ranks) + "; keep one"));
    }
    if (key > counts.size()) break;
    counts.push_back(number(*row, count_, kMostCount));
  }
  if (counts.size() < keys) {
    throw InputError(file_.at(*rows_.back(), 0,
                              "no row for " + key_name(counts.size(), ranks) + " in the file; " +
                                  std::to_string(ranks) + " ranks need " + std::to_string(keys) + " rows, zeros too"));
  }
  return counts;
}

std::vector<std::uint64_t> CountsFile::shards(std::uint32_t ranks) const {
  if (rank_ == kNoColumn) refuse_header("no column 'rank', and this collective takes one count per rank", 0);
  return by_key(ranks, ranks);
}

std::vector<std::uint64_t> CountsFile::matrix(std::uint32_t ranks) const {
  if (is_experts()) return sequence_ == kNoColumn ? expert_matrix(ranks) : of_sequences(ranks);
  if (!is_matrix()) refuse_header("no columns 'src' and 'dst', and an all-to-all takes one count per pair of ranks", 0);
  return by_key(ranks, std::size_t{ranks} * ranks);
}

// --- Experts ---

std::vector<std::uint64_t> CountsFile::by_destination(const CsvRow& row, std::uint32_t ranks) const {
  if (experts_.size() % ranks != 0) {
    throw InputError(file_.at(file_.header, experts_.front(),
                              std::to_string(experts_.size()) + " experts cannot be dealt to " + std::to_string(ranks) +
                                  " ranks alike; use a number of ranks that divides them"));
  }
  std::vector<std::uint64_t> counts(ranks);
  for (std::size_t expert = 0; expert < experts_.size(); ++expert) {
    counts[expert / (experts_.size() / ranks)] += number(row, experts_[expert], kMostCount);
  }
  return counts;
}

std::vector<std::uint64_t> CountsFile::expert_matrix(std::uint32_t ranks) const {
  std::vector<std::uint64_t> sums(ranks);
  for (const CsvRow* row : rows_) {
    const std::vector<std::uint64_t> counts = by_destination(*row, ranks);
    for (std::uint32_t to = 0; to < ranks; ++to) sums[to] += counts[to];
  }
  std::vector<std::uint64_t> matrix;
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (const std::uint64_t sum : sums) matrix.push_back(collective::part_of({0, sum}, ranks, from).count);
  }
  return matrix;
}

std::vector<std::uint64_t> CountsFile::of_sequences(std::uint32_t ranks) const {
  if (rows_.size() % ranks != 0) {
    throw InputError(file_.at(*rows_.back(), sequence_,
                              std::to_string(rows_.size()) + " sequences cannot be dealt to " + std::to_string(ranks) +
                                  " ranks alike; use a number of ranks that divides them"));
  }
  const std::size_t each = rows_.size() / ranks;
  std::vector<std::uint64_t> matrix(std::size_t{ranks} * ranks);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (number(*rows_[i], sequence_, kMostCount) != i) {
      throw InputError(file_.at(*rows_[i], sequence_,
                                "sequence " + rows_[i]->fields[sequence_].text + " where " + std::to_string(i) +
                                    " belongs; write them in order from 0"));
    }
    const std::vector<std::uint64_t> counts = by_destination(*rows_[i], ranks);
    for (std::uint32_t to = 0; to < ranks; ++to) matrix[i / each * ranks + to] += counts[to];
  }
  return matrix;
}

}  // namespace trnsim
