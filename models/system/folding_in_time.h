// Folding in time: of blocks of equal work that follow each other, those after the first few are not simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "models/neuroncore/call_gate.h"
#include "models/neuroncore/core_spec.h"
#include "models/observe/run_record.h"
#include "models/program/program.h"

namespace trnsim {

/// Calls `first` to `first + period * blocks - 1` of each core: blocks that are equal, segments and registers.
struct RepeatedCalls {
  std::uint32_t first = 0;
  std::uint32_t period = 0;  ///< calls of a block
  std::uint32_t blocks = 0;

  [[nodiscard]] std::uint32_t end() const { return first + period * blocks; }
};

/// The blocks that the calls of all `cores` have in common: shortest period first, then most blocks, then the earliest.
/// None if no block repeats kFewestBlocks times, if the cores' programs have not equally many calls, or if one of the
/// calls is a launch.
[[nodiscard]] std::optional<RepeatedCalls> repeated_calls(const Job& job, const std::vector<CoreId>& cores);

/// Fewer are simulated: the first blocks are unlike the rest, and it takes some to see that they have become alike.
inline constexpr std::uint32_t kFewestBlocks = 8;

/// Share of the elapsed time by which a run that is folded in time may differ from the same with every block simulated.
/// Choice: as near as tile and instruction detail are to each other.
inline constexpr double kMostFoldError = 0.01;

/// Watches a run from block to block. Once it is in steady state, the first block that no engine has come to counts for
/// all behind it, and every engine goes past these: head and tail of the program are simulated as they are. Counts are
/// exact whatever happens in time, as blocks do equal work.
///
/// A boundary is the moment at which the last engine comes to the end of a block. Times are exact where between three
/// boundaries all of them have grown by the same twice, to the picosecond, nothing piles up, no engine gets ahead, and
/// the clock limiter, if there is one, meets each block at the same phase of its windows, which follow the clock.
/// Else, if bounds are allowed, the mean over the later half of the blocks seen, three at least, stands for those left
/// out, if nothing piles up and no engine gets ahead by more than block times differ. Bound of the error of the elapsed
/// time: blocks left out, times the largest difference between block times in that half; where there is a limiter,
/// times two of its windows if those are longer: it opens at the ends of windows alone, so that another phase moves
/// either end of a block by one. The bound must be within kMostFoldError of the elapsed time, as it is after some more
/// blocks, when fewer are left.
class FoldInTime final : public CallGate {
 public:
  /// `engines` report to it. `at_boundary` is called at each boundary that is to be seen.
  /// `bounded`: also where times are not exact but within a bound.
  FoldInTime(const RepeatedCalls& calls, std::uint64_t engines, const TensorSpec& tensor, bool bounded,
             std::function<void()> at_boundary);

  Pass enter(std::uint32_t call, bool works) override;

  /// Whether a boundary has been reached that see() was not told of.
  [[nodiscard]] bool due() const { return due_; }
  /// `record` is that of the run so far. REQUIRES: due().
  void see(RunRecord record);
  /// Completes the record of the finished run by what was left out.
  void complete(RunRecord& record) const;

 private:
  struct Boundary {
    std::uint32_t block = 0;  ///< blocks that have ended
    RunRecord record;
  };

  void decide();
  [[nodiscard]] bool exact() const;
  [[nodiscard]] bool steady(std::size_t from, Time tolerance) const;
  [[nodiscard]] Time spread(std::size_t from) const;
  [[nodiscard]] std::uint32_t left_out() const;
  void skip(std::size_t from, Time error);

  RepeatedCalls calls_;
  std::uint64_t engines_;
  bool limiter_;
  bool bounded_;
  Time window_;
  std::function<void()> at_boundary_;
  std::vector<std::uint64_t> arrived_;  ///< by block: engines that have come to its end
  std::uint32_t furthest_ = 0;          ///< last block that any engine works in
  std::uint32_t passed_ = 0;            ///< blocks that all engines have ended
  bool due_ = false;
  std::vector<Boundary> seen_;
  std::size_t from_ = 0;            ///< of seen_: where the mean over blocks begins
  std::uint32_t counted_from_ = 0;  ///< first call of the block that counts for those left out
  std::uint32_t skipped_ = 0;       ///< blocks; 0 = none yet
  Time error_;
};

}  // namespace trnsim
