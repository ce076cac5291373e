// The journal of a run: one file per finished point.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "results/row.h"

namespace trnsim {

/// Writes `row` into the journal below `folder`, replacing the one with its id.
void write_journal(const std::filesystem::path& folder, std::size_t sequence, const PointRow& row);

/// The rows of the journal below `folder`, by sequence, then id; none if there is no journal. A row that was torn by
/// a power failure counts as not finished.
[[nodiscard]] std::vector<PointRow> read_journal(const std::filesystem::path& folder);

/// Removes the journal below `folder`.
void remove_journal(const std::filesystem::path& folder);

}  // namespace trnsim
