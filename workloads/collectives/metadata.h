// What ranks must tell each other before a collective whose sizes differ and are known to one side alone.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/collectives/algorithms/algorithm.h"
#include "workloads/collectives/algorithms/phases.h"

namespace trnsim::collective {

enum class Metadata : std::uint8_t {
  kKnown,             ///< nothing
  kCounts,            ///< givers tell how much comes; it lands in the giver's own place at the receiver
  kCountsAndOffsets,  ///< and receivers answer where it is to go
};

/// Exchanges of unsigned 32-bit numbers, one for each pair of ranks (all-gather, reduce-scatter: one of each rank to
/// all), each a collective of its own that is finished before the next begins; then the task.
/// Source: NKI collectives, all_gather_v and all_to_all_v (rows of unsigned 32-bit counts and offsets, read at run
/// time). That they are exchanged like this is an assumption: nothing says how.
class WithMetadata {
 public:
  /// `algorithm` carries out the task, `exchange` what exchange_task() says. Needs: metadata to tell.
  WithMetadata(const Place& place, const Task& task, Metadata metadata, std::uint64_t element_bytes,
               const Algorithm& algorithm, const Algorithm& exchange);

  /// The numbers as a collective of their own.
  [[nodiscard]] static Task exchange_task(const Place& place, const Task& task, std::uint64_t element_bytes);
  /// Elements of Buffer::kMetadata that every rank has.
  [[nodiscard]] static std::uint64_t metadata_size(const Place& place, std::uint64_t element_bytes);
  /// What member `script.member()` does.
  void write(Script& script) const;

 private:
  const Place& place_;
  std::vector<Phase> phases_;
};

}  // namespace trnsim::collective
