#include "platforms/table/nearest.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <vector>

namespace trnsim {
namespace {

constexpr std::size_t kMostNamed = 4;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// The letters and digits of a name in lower case, cut at everything else.
std::set<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : lower(name) + ".") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += c;
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

/// Letters added, left out, replaced, or exchanged with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// Edits that a word of so many letters may be away: of a single letter none is left to go by.
std::size_t most_edits(std::size_t letters) {
  if (letters < 2) return 0;
  return letters < 4 ? 1 : std::max<std::size_t>(2, letters / 3);
}

/// How far `candidate` is from `word`: kinds of nearness one after another, the nearest of the first kind wins.
std::size_t rank(std::string_view word, std::string_view candidate) {
  constexpr std::size_t kKind = 1000;  // more than any edit distance that counts
  const std::string own = lower(word), other = lower(candidate);
  if (own == other) return 0;
  const std::size_t edits = distance(own, other);
  if (edits <= most_edits(own.size())) return edits;
  const std::set<std::string> words = words_of(word), others = words_of(candidate);
  const bool begins = own.size() > 2 && other.starts_with(own);
  if (begins || (!words.empty() && std::includes(others.begin(), others.end(), words.begin(), words.end())))
    return kKind;
  const bool part = other.size() > 1 && std::includes(words.begin(), words.end(), others.begin(), others.end());
  return part ? 2 * kKind - others.size() : std::numeric_limits<std::size_t>::max();
}

}  // namespace

std::string either(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongest = 100;  // a longer word is no mistyped name
  if (word.size() > kLongest) return "";
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::vector<std::string_view> near;
  for (const std::string_view candidate : candidates) {
    const std::size_t here = rank(word, candidate);
    if (here < best) near.clear();
    best = std::min(best, here);
    if (here == best && here != std::numeric_limits<std::size_t>::max()) near.push_back(candidate);
  }
  return near.size() > kMostNamed ? "" : either(near);
}

}  // namespace trnsim
