// The page of docs/ that sets what a keynote session claims of attention kernels beside what the model makes of it.
//
// Points are named <shape>.<machine>.<mechanism>.<schedule>, as in sweeps/claims.csv; where a mechanism has several
// schedules the fastest stands for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/row.h"

namespace trnsim {

/// The fastest good point of `shape` on `machine` with `mechanism`, or one whose time is no number. Null if there is
/// none.
[[nodiscard]] const PointRow* fastest(const std::vector<PointRow>& rows, const std::string& shape,
                                      std::string_view machine, std::string_view mechanism);
/// Shapes whose name begins with `kernel`, in order of appearance.
[[nodiscard]] std::vector<std::string> claim_shapes(const std::vector<PointRow>& rows, std::string_view kernel);
/// A cell of engines.csv or operators.csv of a point, by the name of its row and column, as a number. Throws InputError
/// if it is not there.
[[nodiscard]] double cell_of(const Table& table, std::string_view row, std::string_view column);

/// docs/claims.md, of the points in `folder`. Throws InputError if points, their times or their tables are missing.
[[nodiscard]] std::string claims_page(const std::vector<PointRow>& rows, const std::string& folder);

}  // namespace trnsim
