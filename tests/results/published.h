// Committed results by the ids of their points.
#pragma once

#include <map>
#include <string>

#include "results/writer.h"

namespace trnsim::test {

/// The rows of results/published/<folder>.
inline std::map<std::string, PointRow> published(const std::string& folder) {
  std::map<std::string, PointRow> by_id;
  for (PointRow& row : read_results(TRNSIM_ROOT "/results/published/" + folder, {})) by_id[row.id] = row;
  return by_id;
}

}  // namespace trnsim::test
