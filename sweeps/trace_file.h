// The file that `--trace` names: the timeline of one run, for Perfetto.
#pragma once

#include <cstdint>
#include <string>

#include "models/observe/timeline.h"
#include "results/file_writer.h"
#include "results/trace_writer.h"
#include "sweeps/trace_request.h"

namespace trnsim {

/// Made before the run, so that a path that cannot be written is refused before anything is simulated. The child that
/// simulates writes; the parent commits when it has a result, and leaves nothing otherwise.
class TraceFile {
 public:
  /// Throws InputError if the file cannot be written.
  explicit TraceFile(TraceRequest request);

  /// What to record of a run whose ranks have `cores_per_rank` cores.
  [[nodiscard]] TimelineFilter filter(std::uint32_t cores_per_rank) const;
  /// Why a run whose timeline threw TimelineFull is refused, and what to do.
  [[nodiscard]] std::string too_large(const Timeline& timeline) const;
  /// `facts` are shown with the trace. Throws InputError if nothing was recorded or the disk is full.
  void write(const Timeline& timeline, std::uint32_t cores_per_chip, Time elapsed, const TraceArguments& facts);
  void commit() { file_.commit(); }

 private:
  TraceRequest request_;
  FileWriter file_;
};

}  // namespace trnsim
