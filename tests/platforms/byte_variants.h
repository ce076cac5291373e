// One table written in the ways in which spreadsheets and editors write it.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace trnsim::sample {

/// `text` with LF and a final newline, no empty, quoted or comment lines: what it is called and its bytes.
inline std::vector<std::pair<std::string, std::string>> byte_variants(const std::string& text) {
  std::string crlf, trailing, spaced, quoted;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    crlf += line + "\r\n";
    trailing += line + ",\n";
    spaced += ' ';
    quoted += '"';
    for (const char c : line) {
      spaced += c == ',' ? std::string(" ,\t") : std::string(1, c);
      quoted += c == ',' ? std::string("\",\"") : std::string(1, c);
    }
    spaced += " \n";
    quoted += "\"\n";
  }
  return {{"CRLF", crlf},
          {"byte-order mark", "\xEF\xBB\xBF" + text},
          {"no final newline", text.substr(0, text.size() - 1)},
          {"trailing commas", trailing},
          {"spaces around fields", spaced},
          {"quoted fields", quoted},
          {"comments and empty lines", "# a comment\n\n" + text + "\n  # the end\n"}};
}

}  // namespace trnsim::sample
