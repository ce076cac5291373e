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

}  // namespace

LoweredWorkload lower_scan(const SettingReader& read, const MachineSpec& machine) {
  SelectiveScan s;
  s.batch = read.count("batch");
  s.channels = read.count("channels");
  s.sequence = read.count("sequence");
  s.states = read.count("states");
  s.chunk = read.count("chunk");
  s.schedule = schedule_of(read);
  s.dtype = plain_dtype_of(read);
  const bool in_chunks = s.schedule == ScanSchedule::kChunkOuter || s.schedule == ScanSchedule::kChunkOuterBuffered;
  // delta, u and y by channel, b and c by state, a by channel and state.
  const Wide elements =
      (Wide(3) * s.channels + Wide(2) * s.states) * s.sequence * s.batch + Wide(s.channels) * s.states;
  return lower_plain(read, machine, bytes_of(elements, s.dtype), 0,
                     [&](TileWriter& w) { in_chunks ? scan_chunks(w, s) : scan(w, s); });
}

}  // namespace trnsim
