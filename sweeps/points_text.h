// Points as a table for people, and why some have no result.
#pragma once

#include <string>
#include <vector>

#include "results/row.h"

namespace trnsim {

/// A cell for people: a number in five digits, or whole; any other text as it is.
[[nodiscard]] std::string rounded(const std::string& text);

/// A line per point, with what differs between points. Collectives have columns of the rates of their payload, other
/// points those of their FLOPs.
[[nodiscard]] std::string points_text(const std::vector<PointRow>& rows);

/// Each reason why points have no result, once, with the points: the first five, then how many more there are. Empty if
/// all have one.
[[nodiscard]] std::string reasons_text(const std::vector<PointRow>& rows);

}  // namespace trnsim
