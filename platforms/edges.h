// Fabrics that users give link by link.
#pragma once

#include <string>

#include "models/interconnect/fabric_spec.h"

namespace trnsim {

/// Reads `path`, a CSV file `from,to,bandwidth,latency`, one row for each direction of a link, into the edges of
/// `fabric`. chip0, chip1, ... are chips, any other name is a switch; values carry their units (`128GB/s`, `400ns`).
/// Throws InputError with its place for a name that is missing or no node, a link to itself, a link given twice, a
/// value or unit that is wrong, a chip number that is left out, and where a chip has no way to another.
void read_edges(const std::string& path, FabricSpec& fabric);

}  // namespace trnsim
