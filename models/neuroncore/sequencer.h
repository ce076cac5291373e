// The sequencer of one engine: where it is in its instruction list, and what it has done.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/mechanism/units.h"
#include "models/neuroncore/call_gate.h"
#include "models/observe/run_record.h"
#include "models/program/program.h"

namespace trnsim {

/// What executing one instruction of the list has added up to. Activity is linear in both sums.
struct Executed {
  std::uint64_t count = 0;     ///< executions, repeats counted
  std::uint64_t elements = 0;  ///< sum of the free size over them
  Time busy;
  Span span;
};

/// Walks the calls of a program for one engine: segments in order of call, loops with a trip count that may be a
/// register.
class Sequencer {
 public:
  Sequencer() = default;
  Sequencer(Engine engine, const CoreJob& job);

  [[nodiscard]] Engine engine() const { return engine_; }
  /// From now on `gate`, which must outlive it, sees the calls; those so far are reported at once.
  void report_to(CallGate& gate);
  /// The instruction to execute next, or null at the end of the program and before a launch.
  [[nodiscard]] const Instruction* current() const;
  [[nodiscard]] const Segment& segment() const { return program_->segments[program_->calls[call_].segment]; }
  /// Index of the running call. REQUIRES: current() != null.
  [[nodiscard]] std::uint32_t call() const { return call_; }
  /// How often what it does in the running call counts.
  [[nodiscard]] std::uint32_t times() const { return times_; }
  /// The value of `count` in the running call and loop.
  [[nodiscard]] std::uint64_t value(const Count& count) const;
  /// Whether it has come to a launch and waits for the other engines.
  [[nodiscard]] bool parked() const { return parked_; }
  /// Goes on behind the launch.
  void resume();
  /// Goes past a plain instruction.
  void advance();
  /// Enters a loop of `trips`, or skips it.
  void enter_loop(const Instruction& begin, std::uint64_t trips);
  /// Goes back to the start of the loop or leaves it.
  void end_loop();

  /// Sums for the current instruction. REQUIRES: current() != null.
  [[nodiscard]] Executed& executed() { return executed_[call_segment()][position_]; }
  /// Calls visit(instruction, its segment, executed) for every instruction that ran.
  template <class Visit>
  void for_each_executed(Visit visit) const {
    for (std::size_t s = 0; s < executed_.size(); ++s) {
      const Segment& segment = program_->segments[s];
      for (std::size_t i = 0; i < executed_[s].size(); ++i) {
        if (executed_[s][i].count == 0) continue;
        visit(segment.instructions[static_cast<std::size_t>(engine_)][i], segment, executed_[s][i]);
      }
    }
  }

  // State that the core keeps per engine.
  bool busy = false;
  bool waiting = false;
  WaitReason reason = WaitReason::kEngine;  ///< of the wait that held the head last
  SemaphoreId semaphore = 0;                ///< the same, by number
  Time free_at;
  Time last_completion;            ///< signals leave in order
  std::uint64_t repeats_left = 0;  ///< of the current instruction, when executed one by one
  Time busy_time;
  std::array<Time, kWaitReasonCount> stall{};
  Time start_idle;                 ///< before the first instruction
  std::uint64_t instructions = 0;  ///< executed in this process

 private:
  struct Loop {
    std::uint32_t begin = 0;
    std::uint64_t left = 0;
    std::uint64_t counter = 0;
  };

  [[nodiscard]] std::uint32_t call_segment() const { return program_->calls[call_].segment; }
  void skip_finished_segments();
  [[nodiscard]] bool works_in(std::uint32_t call) const;

  Engine engine_ = Engine::kTensor;
  const CoreJob* job_ = nullptr;
  CallGate* gate_ = nullptr;
  const Program* program_ = nullptr;
  std::uint32_t call_ = 0;
  std::uint32_t times_ = 1;
  std::uint32_t position_ = 0;
  bool parked_ = false;
  std::vector<Loop> loops_;
  std::vector<std::vector<Executed>> executed_;  ///< by segment, then position
};

}  // namespace trnsim
