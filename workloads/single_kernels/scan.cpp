#include <array>
#include <string_view>

#include "workloads/kernels/vector_kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::array<std::string_view, 5> kSchedules = {"state_outer", "channel_outer", "channel_outer_chunked",
                                                        "chunk_outer", "chunk_outer_buffered"};

ScanSchedule schedule_of(const SettingReader& read) {
  if (read.is_auto("schedule")) return ScanSchedule::kChunkOuterBuffered;
  return read.choice<ScanSchedule, kSchedules.size()>("schedule", kSchedules);
}

/// Sums of a chunk are kept in one PSUM bank if they add up there.
std::uint64_t chunk_of(const SettingReader& read, const MachineSpec& machine, bool sums_in_psum) {
  const std::uint64_t chunk = read.count("chunk"), most = machine.core.moving_columns();
  if (!sums_in_psum || chunk <= most) return chunk;
  if (!read.need("chunk").is_override) return most;  // the workload's own, made for larger banks
  throw InputError(read.need("chunk").place + ": the sums of a chunk stay in one PSUM bank here; use at most " +
                   std::to_string(most));
}

}  // namespace

LoweredWorkload lower_scan(const SettingReader& read, const MachineSpec& machine) {
  SelectiveScan s;
  s.batch = read.count("batch");
  s.channels = read.count("channels");
  s.sequence = read.count("sequence");
  s.states = read.count("states");
  s.schedule = schedule_of(read);
  s.dtype = plain_dtype_of(read);
  const bool in_chunks = s.schedule == ScanSchedule::kChunkOuter || s.schedule == ScanSchedule::kChunkOuterBuffered;
  if (in_chunks || s.schedule == ScanSchedule::kChannelOuterChunked) s.chunk = chunk_of(read, machine, in_chunks);
  // delta, u and y by channel, b and c by state, a by channel and state.
  const bool any = s.batch > 0 && s.channels > 0 && s.sequence > 0 && s.states > 0;
  const Wide elements =
      any ? (Wide(3) * s.channels + Wide(2) * s.states) * s.sequence * s.batch + Wide(s.channels) * s.states : Wide(0);
  return lower_plain(read, machine, bytes_of(elements, s.dtype), 0,
                     [&](TileWriter& w) { in_chunks ? scan_chunks(w, s) : scan(w, s); });
}

}  // namespace trnsim
