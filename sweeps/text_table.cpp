#include "sweeps/text_table.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// Characters, not bytes: UTF-8 continuation bytes take no room.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// `cell` cut behind blanks, bars and commas, which stay with what stands before them.
std::vector<std::string> pieces(const std::string& cell) {
  std::vector<std::string> list(1);
  for (const char c : cell) {
    list.back() += c;
    if (c == ' ' || c == '|' || c == ',') list.emplace_back();
  }
  return list;
}

/// Without the blanks at its end, which take no room at the end of a line.
std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// `cell` in lines of at most `most` characters, where its pieces allow that.
std::vector<std::string> broken(const std::string& cell, std::size_t most) {
  std::vector<std::string> lines(1);
  for (const std::string& piece : pieces(cell)) {
    if (!lines.back().empty() && width(lines.back()) + width(trimmed(piece)) > most) lines.emplace_back();
    lines.back() += piece;
  }
  for (std::string& line : lines) line = trimmed(line);
  return lines;
}

std::vector<std::size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
  return widths;
}

/// What each column may take of `total`: the widest ones give way, down to their longest piece.
std::vector<std::size_t> narrowed(const std::vector<std::vector<std::string>>& rows, std::size_t total) {
  std::vector<std::size_t> widths = widths_of(rows);
  std::vector<std::size_t> least(widths.size(), 1);
  std::size_t sum = 2 * (widths.size() - 1);
  for (const std::size_t w : widths) sum += w;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      for (const std::string& piece : pieces(row[c])) least[c] = std::max(least[c], width(trimmed(piece)));
    }
  }
  for (; sum > total; --sum) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (widths[c] > least[c] && (widest == widths.size() || widths[c] > widths[widest])) widest = c;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& rows, bool header) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      line += rows[r][c] + std::string(widths[c] - width(rows[r][c]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r != 0 || !header) continue;
    std::string rule;
    for (const std::size_t w : widths) rule += std::string(w, '-') + "  ";
    rule.erase(rule.find_last_not_of(' ') + 1);
    text += rule + "\n";
  }
  return text;
}

std::string wrapped(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  const std::vector<std::size_t> widths = narrowed(rows, width);
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : rows) {
    const std::size_t first = lines.size();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::vector<std::string> cell = broken(row[c], widths[c]);
      while (lines.size() < first + cell.size()) lines.emplace_back(row.size());
      for (std::size_t i = 0; i < cell.size(); ++i) lines[first + i][c] = cell[i];
    }
  }
  return aligned(lines, true);
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw InputError(std::string("standard output: cannot be written (") + std::strerror(errno) +
                   "); make room or choose another destination");
}

}  // namespace trnsim
