// The report of a results folder: one HTML page that holds its data, style, script and chart library, opens offline
// and says the same whenever it is written (no dates).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/row.h"

namespace trnsim {

/// Reads the results in `folder` and writes their page to `out_file` (default: `folder`/report.html).
/// Returns the path written. Throws InputError.
std::filesystem::path write_report(const std::filesystem::path& folder, std::filesystem::path out_file = {});

/// The page for `rows`, titled `title`.
[[nodiscard]] std::string report_html(const std::string& title, const std::vector<PointRow>& rows);

}  // namespace trnsim
