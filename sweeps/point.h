// One point: what to run on what, with every value that the user set and where it was set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/system/simulation.h"
#include "platforms/platform.h"
#include "workloads/workload.h"

namespace trnsim {

/// A name=value pair and what an error message about it starts with ("--set", "sweep.csv:3:14").
struct Setting {
  std::string name, value, place;
};

struct RunSettings {
  SimulationOptions options;
  std::uint64_t seed = 1;
};

struct Point {
  std::string id;
  std::string platform, workload;  ///< name or path
  std::vector<Override> platform_overrides;
  std::vector<WorkloadOverride> workload_overrides;
  RunSettings run;
  std::vector<std::pair<std::string, std::string>> swept;  ///< name and value, for points.csv
};

/// Sorts `setting` into the point by its name: `platform`, `workload`, run.*, a platform or a workload parameter.
/// Throws InputError for an unknown name, a bad run option or a platform or workload that is not there, naming the
/// nearest valid one.
void add_setting(Point& point, const Setting& setting);

}  // namespace trnsim
