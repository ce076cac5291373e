// Which hardware: a machine read from platform CSVs, every value with its unit, confidence and source.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/system/machine_spec.h"
#include "platforms/table/quantity.h"

namespace trnsim {

/// A resolved parameter, as `trnsim show` prints it and parameters.csv records it.
struct ResolvedParameter {
  std::string name;
  std::string value;  ///< as written
  std::string unit;
  std::string low, high;   ///< empty where not uncertain
  std::string confidence;  ///< documented, measured, derived, third-party, estimated, calibrated; "set" for an override
  std::string source;
  std::string origin;  ///< "trn3.csv:41" or "--set"
  std::string place;   ///< "platforms/parts/trn3.csv:41:1" or "--set": what an error about it starts with
};

/// Printed totals (rows `published.*`), for comparison only.
struct PublishedTotal {
  std::string name;  ///< without the prefix
  double value = 0;  ///< base units: FLOP/s, bytes, bytes per second
  ResolvedParameter parameter;
};

struct Platform {
  MachineSpec machine;
  std::vector<ResolvedParameter> parameters;  ///< sorted by name
  std::vector<PublishedTotal> published;
};

/// A name=value pair that replaces a platform value; `place` is what an error message starts with.
struct Override {
  std::string name;
  std::string value;  ///< with its unit unspaced
  std::string place;  ///< "--set" or "sweep.csv:3:14"
};

/// One row of the parameter table.
struct ParameterInfo {
  std::string name;
  Dimension dimension;
  std::string range;  ///< "1 MHz to 100 GHz" or "no|yes", for people
  std::string meaning;
};

/// Reads platform `name_or_path` (a name finds <data>/platforms/<name>.csv), resolves `inherits`, applies
/// `overrides`, checks names, units, ranges and that nothing is missing. Throws InputError.
[[nodiscard]] Platform load_platform(const std::string& name_or_path, const std::vector<Override>& overrides = {});

/// The file of platform `name_or_path`. Throws InputError, without a place, if there is none.
[[nodiscard]] std::string platform_path(const std::string& name_or_path);

/// Throws InputError at `place`: neither a platform parameter nor one of `others` is called `name`. Says what is near.
[[noreturn]] void refuse_parameter(const std::string& place, const std::string& name,
                                   const std::vector<std::string>& others = {});

/// True if `name` is a platform parameter (platform names have dots), indexed ones (`core[3].clock_scale`) included.
[[nodiscard]] bool is_platform_parameter(std::string_view name);

/// The parameter table, sorted by name.
[[nodiscard]] std::vector<ParameterInfo> platform_parameters();

/// Names of the platforms in the data folder, sorted.
[[nodiscard]] std::vector<std::string> platform_names();

/// Folder that holds platforms/ and workloads/: $TRNSIM_DATA, else the one installed with this binary, else the
/// source tree.
[[nodiscard]] std::string data_folder();

}  // namespace trnsim
