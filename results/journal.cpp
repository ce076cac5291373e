#include "results/journal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <tuple>
#include <utility>

#include "models/mechanism/error.h"
#include "results/writer.h"

namespace trnsim {
namespace {

/// An id may hold any character and be of any length, a file name may not: FNV-1a, 64 bit.
std::string file_name(std::string_view id) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return std::string(digits.data(), end) + ".row";
}

/// "<sequence>\n" and the row.
std::pair<std::size_t, PointRow> read_row(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::size_t sequence = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sequence);
  if (error != std::errc() || end == text.data() + text.size()) throw InputError(path.string() + ": not a row");
  return {sequence, deserialize(std::string_view(text).substr(static_cast<std::size_t>(end - text.data()) + 1))};
}

}  // namespace

void write_journal(const std::filesystem::path& folder, std::size_t sequence, const PointRow& row) {
  const std::filesystem::path journal = folder / "rows";
  std::error_code error;
  std::filesystem::create_directories(journal, error);
  if (error) throw InputError(journal.string() + ": cannot make the folder: " + error.message());
  write_file(journal / file_name(row.id), std::to_string(sequence) + '\n' + serialize(row));
}

std::vector<PointRow> read_journal(const std::filesystem::path& folder) {
  std::vector<std::pair<std::size_t, PointRow>> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "rows", error)) {
    if (entry.path().extension() != ".row") continue;
    try {
      found.push_back(read_row(entry.path()));
    } catch (const InputError&) {  // torn: not finished
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.id) < std::tie(b.first, b.second.id);
  });
  std::vector<PointRow> rows;
  rows.reserve(found.size());
  for (auto& [sequence, row] : found) rows.push_back(std::move(row));
  return rows;
}

void remove_journal(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder / "rows", error);
  if (error) throw InputError((folder / "rows").string() + ": cannot remove the journal: " + error.message());
}

}  // namespace trnsim
