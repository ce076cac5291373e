// What parameter `counts` names: a model of the sizes, or a file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace trnsim {

/// How the sizes of a collective differ from rank to rank where no file says.
enum class CountsModel : std::uint8_t {
  kUniform,    ///< not at all
  kLognormal,  ///< by a popularity of each rank, exp(skew z)
  kZipf,       ///< by popularities 1, 1 / 2^skew, 1 / 3^skew, ... in random order
  kOneRank,    ///< all is rank 0's, or goes to it
};
inline constexpr std::array<std::string_view, 4> kCountsModelNames = {"uniform", "lognormal", "zipf", "one_rank"};

[[nodiscard]] bool names_counts_file(std::string_view counts);

/// The file that `counts` names: a path, seen from `folder`, if it has a '/' or ends in .csv, else
/// <data_folder>/workloads/counts/<counts>.csv. Throws InputError that begins with `place` if there is none.
[[nodiscard]] std::string counts_path(const std::string& counts, const std::string& folder,
                                      const std::string& data_folder, const std::string& place);

}  // namespace trnsim
