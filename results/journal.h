// The journal of a run: one file per finished point, `<folder>/rows/<hash of the id>.row`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "results/writer.h"

namespace trnsim {

/// Writes `row` into the journal below `folder`, replacing the one with its id.
void write_journal(const std::filesystem::path& folder, std::size_t sequence, const PointRow& row);

/// Whether a journal below `folder` holds the row of any point, torn ones too.
[[nodiscard]] bool has_journal(const std::filesystem::path& folder);

/// The rows of the journal below `folder`, by sequence, then id, with those of their tables that `companions` names;
/// none if there is no journal. A row that was torn by a power failure counts as not finished.
[[nodiscard]] std::vector<PointRow> read_journal(const std::filesystem::path& folder,
                                                 const std::vector<CompanionTable>& companions);

/// The row of one point, whole, if it is there.
[[nodiscard]] std::optional<PointRow> read_journal(const std::filesystem::path& folder, const std::string& id);

/// Removes the journal below `folder`: at one moment for all who read it, and its own files alone.
void remove_journal(const std::filesystem::path& folder);

/// Something in `folder`/rows that is not of a journal, if there is any.
[[nodiscard]] std::optional<std::filesystem::path> foreign_in_journal(const std::filesystem::path& folder);

/// Removes what a killed run left half written or half removed.
void tidy_journal(const std::filesystem::path& folder);

}  // namespace trnsim
