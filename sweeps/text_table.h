// Aligned columns for people.
#pragma once

#include <string>
#include <vector>

namespace trnsim {

/// `rows` with columns padded to their widest cell, two spaces between; the first row is underlined if `header`.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows, bool header);

/// Writes `text` to standard output; throws InputError if that fails (closed, disk full).
void print(const std::string& text);

}  // namespace trnsim
