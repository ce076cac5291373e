#include "models/observe/timeline.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/mechanism/error.h"

namespace trnsim {

Timeline::Timeline(TimelineFilter filter) : filter_(std::move(filter)) {
  filter_.most_slices = std::min<std::uint64_t>(filter_.most_slices, std::numeric_limits<SliceId>::max());
}

Timeline::~Timeline() = default;

bool Timeline::wants(std::uint32_t rank) const {
  return filter_.ranks.empty() || std::binary_search(filter_.ranks.begin(), filter_.ranks.end(), rank);
}

CoreTimeline* Timeline::open(CoreId core, const Program& program, std::vector<CoreId> alike, std::uint64_t executions) {
  const std::uint32_t rank = rank_of(core);
  if (simulated_ranks_.empty() || simulated_ranks_.back() != rank) simulated_ranks_.push_back(rank);
  for (const CoreId other : alike) counted_ranks_.push_back({rank_of(other), rank});
  if (!wants(rank)) return nullptr;
  expected_ += executions;
  cores_.push_back(std::make_unique<CoreTimeline>(*this, static_cast<std::uint32_t>(cores_.size()), core, program,
                                                  std::move(alike)));
  return cores_.back().get();
}

void Timeline::check_open() const {
  for (const std::uint32_t rank : filter_.ranks) {
    if (std::binary_search(simulated_ranks_.begin(), simulated_ranks_.end(), rank)) continue;
    const auto counted = std::find_if(counted_ranks_.begin(), counted_ranks_.end(),
                                      [rank](const Counted& candidate) { return candidate.rank == rank; });
    if (counted != counted_ranks_.end()) {
      throw InputError("rank " + std::to_string(rank) + " is counted, not simulated: rank " +
                       std::to_string(counted->like) + " does exactly the same; trace that one, or set run.fold=none");
    }
    std::uint32_t last = simulated_ranks_.empty() ? 0 : simulated_ranks_.back();
    for (const Counted& other : counted_ranks_) last = std::max(last, other.rank);
    throw InputError("there is no rank " + std::to_string(rank) + " with work; the ranks are " +
                     (last == 0 ? "0 alone" : "0 to " + std::to_string(last)));
  }
  if (too_much_expected()) throw TimelineFull("too much is to be recorded");
}

SliceId Timeline::add(const TimelineSlice& slice) {
  if (slices_.size() >= filter_.most_slices) {
    full_ = true;
    throw TimelineFull("the timeline is full");
  }
  slices_.push_back(slice);
  return static_cast<SliceId>(slices_.size());
}

SliceId CoreTimeline::add(TimelineSlice slice) {
  if (!timeline_.filter().takes(slice.start, slice.end)) return 0;
  slice.core = index_;
  return timeline_.add(slice);
}

SliceId CoreTimeline::executed(Engine engine, const Instruction& instruction, std::uint32_t call, Time start, Time end,
                               std::uint64_t count, std::uint64_t free) {
  if (start == end && instruction.signal_count == 0) return 0;  // nothing to see
  TimelineSlice slice;
  slice.start = start;
  slice.end = end;
  slice.instruction = &instruction;
  slice.count = count;
  slice.free = free;
  slice.call = call;
  slice.track = static_cast<std::uint16_t>(engine);
  return add(slice);
}

void CoreTimeline::stalled(Engine engine, const Instruction& instruction, std::uint32_t call, Time start, Time end,
                           WaitReason reason, SemaphoreId semaphore, std::uint8_t queue) {
  if (start == end) return;
  TimelineSlice slice;
  slice.kind = TimelineSlice::Kind::kStall;
  slice.start = start;
  slice.end = end;
  slice.instruction = &instruction;
  slice.call = call;
  slice.track = static_cast<std::uint16_t>(engine);
  slice.reason = reason;
  if (reason != WaitReason::kDmaRing) {
    slice.cause = signalled_[semaphore];
  } else if (queue < left_ring_.size()) {
    slice.cause = left_ring_[queue];
  }
  add(slice);
}

SliceId CoreTimeline::transferred(const Instruction& instruction, const Transfer& transfer, std::uint64_t count,
                                  CoreId destination, Time start, Time end) {
  TimelineSlice slice;
  slice.kind = TimelineSlice::Kind::kTransfer;
  slice.start = start;
  slice.end = end;
  slice.instruction = &instruction;
  slice.transfer = &transfer;
  slice.count = count;
  slice.peer = destination;
  slice.track = static_cast<std::uint16_t>(kEngineCount + transfer.queue);
  return add(slice);
}

void CoreTimeline::left_ring(std::uint8_t queue, SliceId cause) {
  if (queue >= left_ring_.size()) left_ring_.resize(std::size_t{queue} + 1);
  left_ring_[queue] = cause;
}

}  // namespace trnsim
