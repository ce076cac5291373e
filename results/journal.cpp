#include "results/journal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "models/mechanism/error.h"

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

/// "1f3a.row": what file_name() makes.
bool is_row(std::string_view file) {
  if (!file.ends_with(".row")) return false;
  file.remove_suffix(4);
  return !file.empty() && file.size() <= 16 && file.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "1f3a.row.1234.tmp": what write_file() leaves when it is killed.
bool is_half_row(std::string_view file) {
  const std::size_t end = file.find(".row.");
  return file.ends_with(".tmp") && end != std::string_view::npos && is_row(file.substr(0, end + 4));
}

/// The regular files of a folder, none if it is not there; anything else is not read: a FIFO would wait for ever.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error) && !it->is_symlink(error)) files.push_back(it->path());
  }
  return files;
}

/// Removes the files of a journal in `folder`, and the folder if nothing else is in it.
void remove_rows(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& file : files_of(folder)) {
    const std::string name = file.filename().string();
    if (!is_row(name) && !is_half_row(name)) continue;
    std::filesystem::remove(file, error);
    if (error) throw InputError(file.string() + ": cannot remove: " + error.message());
  }
  std::filesystem::remove(folder, error);  // stays if a user put something there
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

bool has_journal(const std::filesystem::path& folder) {
  const std::vector<std::filesystem::path> files = files_of(folder / "rows");
  return std::any_of(files.begin(), files.end(), [](const auto& file) { return is_row(file.filename().string()); });
}

std::optional<PointRow> read_journal(const std::filesystem::path& folder, const std::string& id) {
  const std::filesystem::path path = folder / "rows" / file_name(id);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  try {
    PointRow row = read_row(path).second;
    if (row.id == id) return row;
  } catch (const InputError&) {  // torn: not finished
  }
  return std::nullopt;
}

std::vector<PointRow> read_journal(const std::filesystem::path& folder, const std::vector<CompanionTable>& companions) {
  std::vector<std::pair<std::size_t, PointRow>> found;
  for (const auto& file : files_of(folder / "rows")) {
    if (!is_row(file.filename().string())) continue;
    try {
      found.push_back(read_row(file));
      for (const CompanionTable& companion : companion_tables()) {
        const auto same = [&](const CompanionTable& other) { return other.table == companion.table; };
        if (std::none_of(companions.begin(), companions.end(), same)) found.back().second.*companion.table = {};
      }
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
  const std::filesystem::path gone = folder / "rows.tmp";
  remove_rows(gone);
  std::error_code error;
  std::filesystem::rename(folder / "rows", gone, error);
  if (error == std::errc::no_such_file_or_directory) return;
  if (error) throw InputError((folder / "rows").string() + ": cannot remove the journal: " + error.message());
  remove_rows(gone);
}

std::optional<std::filesystem::path> foreign_in_journal(const std::filesystem::path& folder) {
  const std::filesystem::path journal = folder / "rows";
  std::error_code error;
  for (std::filesystem::directory_iterator it(journal, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool ours = is_row(name) || is_half_row(name);
    if (!ours || it->symlink_status(error).type() != std::filesystem::file_type::regular) return it->path();
  }
  if (error && error != std::errc::no_such_file_or_directory) return journal;
  return std::nullopt;
}

void tidy_journal(const std::filesystem::path& folder) {
  remove_rows(folder / "rows.tmp");
  if (!has_journal(folder)) remove_rows(folder / "rows");
}

}  // namespace trnsim
