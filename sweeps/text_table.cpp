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

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& rows, bool header) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
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

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw InputError(std::string("standard output: cannot be written (") + std::strerror(errno) +
                   "); make room or choose another destination");
}

}  // namespace trnsim
