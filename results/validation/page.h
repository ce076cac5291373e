// The page about the published measurements and its plot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/validation/notes.h"
#include "results/validation/score.h"

namespace trnsim {

struct ValidationPage {
  std::vector<Measurement> measurements;
  Scores scores;
  std::vector<Calibration> calibrations;
  std::vector<Exclusion> exclusions;
  std::vector<KnownMiss> known_misses;
  std::vector<LeftOut> left_out;
};

/// Markdown; names nothing of this computer. Equal input gives equal bytes.
[[nodiscard]] std::string validation_markdown(const ValidationPage& page);

/// Writes validation.md and validation.svg into the existing `folder`. Throws InputError.
void write_validation_page(const std::filesystem::path& folder, const ValidationPage& page);

}  // namespace trnsim
