// Scores as rows of text, header first: for the terminal, for CSV and for the page.
#pragma once

#include <string>
#include <vector>

#include "results/validation/score.h"

namespace trnsim {

using TextRows = std::vector<std::vector<std::string>>;

/// "12.3 %", "+12.3 %" where `sign` is wanted, "miss" where infinite, "–" for nothing.
[[nodiscard]] std::string percent(std::optional<double> fraction, bool sign = false);

/// Five significant digits.
[[nodiscard]] std::string short_number(double value);

/// id, metric, expected, predicted, error; a miss has its status in place of a prediction.
[[nodiscard]] TextRows point_rows(const std::vector<Measurement>& measurements);

[[nodiscard]] TextRows group_rows(const std::vector<GroupScore>& groups);

/// A row per class and one for all.
[[nodiscard]] TextRows class_rows(const Scores& scores);

/// One CSV row per measurement, every field in full.
[[nodiscard]] std::string measurements_csv(const std::vector<Measurement>& measurements);

}  // namespace trnsim
