// Aligned columns for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trnsim {

/// `rows` with columns padded to their widest cell, two spaces between; the first row is underlined if `header`.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows, bool header);

/// `rows` as aligned() with a header, in lines of at most `width` characters: the widest columns are narrowed and their
/// cells continue in the next lines, broken behind blanks, bars and commas. A piece without these stays whole.
[[nodiscard]] std::string wrapped(const std::vector<std::vector<std::string>>& rows, std::size_t width);

/// Writes `text` to standard output; throws InputError if that fails (closed, disk full).
void print(const std::string& text);

}  // namespace trnsim
