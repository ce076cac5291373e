// How much each rank gives and gets in a collective alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/collectives/metadata.h"
#include "workloads/collectives/schedule.h"
#include "workloads/routing/counts_file.h"
#include "workloads/setting_reader.h"

namespace trnsim {

struct Sizes {
  std::uint64_t elements = 0;         ///< of the vector; of the largest one where they differ
  std::uint64_t shard = 0;            ///< elements of the largest shard of an all-gather or a reduce-scatter
  std::vector<std::uint64_t> counts;  ///< as Task::counts; empty: equal
  /// Bytes that a rank must send per byte of its vector; where ranks differ the most that one must send or get, per
  /// byte of the largest vector.
  double bus_factor = 0;
};

/// The counts file that a workload names, if any. Throws InputError.
[[nodiscard]] std::optional<CountsFile> counts_file(const SettingReader& read, Collective collective);

/// From `bytes` and `counts`, or from the file. Throws InputError.
[[nodiscard]] Sizes sizes_of(const SettingReader& read, Collective collective, std::uint32_t ranks,
                             std::uint64_t element_bytes, const std::optional<CountsFile>& file);

/// What ranks exchange before `counts`: parameter `metadata`.
[[nodiscard]] collective::Metadata metadata_of(const SettingReader& read, Collective collective, bool switched);

}  // namespace trnsim
