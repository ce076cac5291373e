// What happened when: every instruction, stall and transfer of the cores that somebody wants to look at.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "models/mechanism/ids.h"
#include "models/mechanism/units.h"
#include "models/program/instruction.h"
#include "models/program/program.h"

namespace trnsim {

/// Number of a recorded slice, from 1. 0: none, or not recorded.
using SliceId = std::uint32_t;

/// A stretch of time of one engine or DMA queue. The slices of one track follow each other and never overlap.
struct TimelineSlice {
  enum class Kind : std::uint8_t { kInstruction, kStall, kTransfer };
  Time start, end;
  const Instruction* instruction = nullptr;  ///< that ran, that was held up, or that started the transfer
  const Transfer* transfer = nullptr;        ///< kTransfer
  std::uint64_t count = 0;                   ///< kInstruction, kTransfer: repeats that the slice stands for
  std::uint64_t free = 0;                    ///< kInstruction: elements per partition of each
  CoreId peer;                               ///< kTransfer: where the data goes
  std::uint32_t core = 0;                    ///< index into Timeline::cores()
  std::uint32_t call = 0;                    ///< kInstruction, kStall: index into Program::calls
  SliceId cause = 0;                         ///< kStall: the slice whose signal ended it
  std::uint16_t track = 0;                   ///< Engine, or kEngineCount + DMA queue
  Kind kind = Kind::kInstruction;
  WaitReason reason = WaitReason::kEngine;  ///< kStall
};

/// What to record.
struct TimelineFilter {
  std::vector<std::uint32_t> ranks{};  ///< ascending; empty: all that are simulated
  std::uint32_t cores_per_rank = 1;
  Time from{};  ///< slices that overlap [from, to) are recorded, whole
  Time to = Time(std::numeric_limits<std::int64_t>::max());
  std::uint64_t most_slices = std::numeric_limits<SliceId>::max();

  [[nodiscard]] bool takes(Time start, Time end) const { return start < to && (end > from || start >= from); }
  [[nodiscard]] bool takes_all_time() const { return takes(Time(), Time()) && to == TimelineFilter().to; }
};

/// More slices than the filter allows: the run is given up.
class TimelineFull : public std::length_error {
  using std::length_error::length_error;
};

class CoreTimeline;

/// The record of one run. Memory: about 80 bytes a slice, at most `most_slices` of them.
class Timeline {
 public:
  explicit Timeline(TimelineFilter filter);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// A core that is simulated; null if the filter leaves it out. `alike`: cores that do the same and are counted only.
  /// `executions` is what the core is going to execute, at least. `program` must outlive the timeline.
  CoreTimeline* open(CoreId core, const Program& program, std::vector<CoreId> alike, std::uint64_t executions);
  /// After the last open(). Throws InputError if a wanted rank is not simulated, TimelineFull if what is to be executed
  /// is known to be too much.
  void check_open() const;

  /// Throws TimelineFull.
  SliceId add(const TimelineSlice& slice);

  [[nodiscard]] const TimelineFilter& filter() const { return filter_; }
  [[nodiscard]] const std::vector<TimelineSlice>& slices() const { return slices_; }
  [[nodiscard]] const std::vector<std::unique_ptr<CoreTimeline>>& cores() const { return cores_; }
  /// Slices that the wanted cores will have at least, time window apart.
  [[nodiscard]] std::uint64_t expected() const { return expected_; }
  [[nodiscard]] bool too_much_expected() const { return filter_.takes_all_time() && expected_ > filter_.most_slices; }
  /// Whether add() has refused a slice.
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] std::uint32_t rank_of(CoreId core) const { return core.value() / filter_.cores_per_rank; }

 private:
  [[nodiscard]] bool wants(std::uint32_t rank) const;

  TimelineFilter filter_;
  std::vector<TimelineSlice> slices_;
  std::vector<std::unique_ptr<CoreTimeline>> cores_;
  std::vector<std::uint32_t> simulated_ranks_;  ///< ascending
  struct Counted {
    std::uint32_t rank = 0, like = 0;
  };
  std::vector<Counted> counted_ranks_;
  std::uint64_t expected_ = 0;
  bool full_ = false;
};

/// The pen of one core: its engines and DMA queues write here.
class CoreTimeline {
 public:
  CoreTimeline(Timeline& timeline, std::uint32_t index, CoreId core, const Program& program, std::vector<CoreId> alike)
      : timeline_(timeline),
        index_(index),
        core_(core),
        program_(program),
        alike_(std::move(alike)),
        signalled_(program.semaphores.size()) {}

  /// `instruction` of `call` keeps `engine` busy from `start` to `end`, `count` times `free` elements per partition.
  SliceId executed(Engine engine, const Instruction& instruction, std::uint32_t call, Time start, Time end,
                   std::uint64_t count, std::uint64_t free);
  /// `engine` stood still before `instruction`, for `semaphore` or (kDmaRing) for room in the ring of `queue`.
  void stalled(Engine engine, const Instruction& instruction, std::uint32_t call, Time start, Time end,
               WaitReason reason, SemaphoreId semaphore, std::uint8_t queue);
  SliceId transferred(const Instruction& instruction, const Transfer& transfer, std::uint64_t count, CoreId destination,
                      Time start, Time end);
  /// `cause` is what adds to `semaphore` now.
  void signalled(SemaphoreId semaphore, SliceId cause) { signalled_[semaphore] = cause; }
  /// `cause` is the transfer that leaves the ring of `queue` now.
  void left_ring(std::uint8_t queue, SliceId cause);

  [[nodiscard]] CoreId core() const { return core_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const std::vector<CoreId>& alike() const { return alike_; }

 private:
  SliceId add(TimelineSlice slice);

  Timeline& timeline_;
  std::uint32_t index_;
  CoreId core_;
  const Program& program_;
  std::vector<CoreId> alike_;
  std::vector<SliceId> signalled_;  ///< by semaphore: what added to it last
  std::vector<SliceId> left_ring_;  ///< by queue
};

}  // namespace trnsim
