// Runs programs without time: whatever can start starts and is done at once. Shows deadlocks and counts that nobody
// takes, in any order of execution that the semaphores allow.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/program/program.h"

namespace trnsim::test {

/// One instruction as it was executed.
struct Step {
  std::size_t core = 0;
  Engine engine = Engine::kTensor;
  const Instruction* instruction = nullptr;
  std::uint64_t repeat = 0;
  std::uint64_t free = 0;
};

class Interpreter {
 public:
  /// `last_first` tries the engines in the opposite order, to show that the order does not matter.
  explicit Interpreter(const Job& job, bool last_first = false) : job_(job), last_first_(last_first) {
    for (const CoreJob& core : job.cores) {
      cores_.emplace_back();
      if (core.program == nullptr) continue;
      for (const SemaphoreInfo& info : core.program->semaphores) cores_.back().semaphores.push_back(info.initial);
    }
  }

  std::function<void(const Step&)> on_step;  ///< told of every instruction executed

  /// Runs until nothing moves. Returns what still waits; empty = everything finished.
  std::string run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t c = 0; c < cores_.size(); ++c) moved = core_moves(c) || moved;
    }
    std::string waiting;
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      for (std::size_t e = 0; e < kEngineCount; ++e) waiting += waits_at(c, e);
    }
    return waiting;
  }

  /// Semaphores whose value differs from the initial one: "core 3 semaphore 5: 2 instead of 0".
  [[nodiscard]] std::string leftovers() const {
    std::string text;
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      for (std::size_t s = 0; s < cores_[c].semaphores.size(); ++s) {
        const std::uint64_t initial = job_.cores[c].program->semaphores[s].initial;
        if (cores_[c].semaphores[s] == initial) continue;
        text += "core " + std::to_string(c) + " semaphore " + std::to_string(s) + ": " +
                std::to_string(cores_[c].semaphores[s]) + " instead of " + std::to_string(initial) + "\n";
      }
    }
    return text;
  }

 private:
  struct Loop {
    std::size_t begin = 0;
    std::uint64_t left = 0, trip = 0;
  };
  struct Cursor {
    std::size_t call = 0, at = 0;
    std::vector<Loop> loops;
  };
  struct Core {
    std::array<Cursor, kEngineCount> cursors;
    std::vector<std::uint64_t> semaphores;
  };

  bool core_moves(std::size_t c) {
    if (job_.cores[c].program == nullptr) return false;
    bool moved = false;
    for (std::size_t i = 0; i < kEngineCount; ++i) {
      const std::size_t e = last_first_ ? kEngineCount - 1 - i : i;
      while (step(c, e)) moved = true;
    }
    return moved;
  }

  const Instruction* current(std::size_t c, std::size_t e) {
    const Program& program = *job_.cores[c].program;
    Cursor& cursor = cores_[c].cursors[e];
    while (cursor.call < program.calls.size()) {
      const auto& list = program.segments[program.calls[cursor.call].segment].instructions[e];
      if (cursor.at < list.size()) return &list[cursor.at];
      ++cursor.call;
      cursor.at = 0;
    }
    return nullptr;
  }

  std::uint64_t value(std::size_t c, const Cursor& cursor, const Count& count) const {
    if (count.kind == Count::Kind::kConstant) return count.scale;
    std::size_t index = job_.cores[c].program->calls[cursor.call].frame + count.index;
    if (count.kind == Count::Kind::kIndexed) index += cursor.loops.back().trip;
    return count.scale * job_.cores[c].registers.at(index);
  }

  bool step(std::size_t c, std::size_t e) {
    const Instruction* i = current(c, e);
    if (i == nullptr) return false;
    auto& semaphores = cores_[c].semaphores;
    for (std::size_t w = 0; w < i->wait_count; ++w) {
      if (semaphores.at(i->waits[w].semaphore) < i->waits[w].count) return false;
    }
    for (std::size_t w = 0; w < i->wait_count; ++w) semaphores[i->waits[w].semaphore] -= i->waits[w].count;
    execute(c, e, *i);
    return true;
  }

  void execute(std::size_t c, std::size_t e, const Instruction& i) {
    Cursor& cursor = cores_[c].cursors[e];
    if (i.op == Op::kLoopBegin) {
      const std::uint64_t trips = value(c, cursor, i.repeat);
      if (trips > 0) cursor.loops.push_back({cursor.at, trips, 0});
      cursor.at = trips > 0 ? cursor.at + 1 : i.transfer + 1;
      return;
    }
    if (i.op == Op::kLoopEnd) {
      Loop& loop = cursor.loops.back();
      ++loop.trip;
      cursor.at = --loop.left > 0 ? loop.begin + 1 : cursor.at + 1;
      if (loop.left == 0) cursor.loops.pop_back();
      return;
    }
    if (on_step) on_step({c, static_cast<Engine>(e), &i, value(c, cursor, i.repeat), value(c, cursor, i.free)});
    for (std::size_t s = 0; s < i.signal_count; ++s)
      cores_[c].semaphores.at(i.signals[s].semaphore) += i.signals[s].count;
    if (i.op == Op::kDma) deliver(c, cursor, i);
    ++cursor.at;
  }

  void deliver(std::size_t c, const Cursor& cursor, const Instruction& i) {
    const CoreJob& job = job_.cores[c];
    const Transfer& transfer = job.program->segments[job.program->calls[cursor.call].segment].transfers[i.transfer];
    if (transfer.on_delivery.count == 0) return;
    const auto core = [&](std::uint32_t peer) { return peer == kSelf ? c : job.peers.at(peer).index(); };
    const auto count_at = [&](std::size_t to) {
      cores_.at(to).semaphores.at(transfer.on_delivery.semaphore) += transfer.on_delivery.count;
    };
    count_at(core(transfer.peer));
    if (transfer.copy_peer != kSelf) count_at(core(transfer.copy_peer));
  }

  std::string waits_at(std::size_t c, std::size_t e) {
    if (job_.cores[c].program == nullptr) return {};
    const Instruction* i = current(c, e);
    if (i == nullptr) return {};
    const Program& program = *job_.cores[c].program;
    const Cursor& cursor = cores_[c].cursors[e];
    std::string text = "core " + std::to_string(c) + " " + std::string(kEngineNames[e]) + " waits in " +
                       program.segments[program.calls[cursor.call].segment].name + " (" +
                       program.operators[i->operator_id] + ") at " + std::to_string(cursor.at) + " for";
    for (std::size_t w = 0; w < i->wait_count; ++w) {
      text += " " + std::to_string(i->waits[w].semaphore) + ">=" + std::to_string(i->waits[w].count);
    }
    return text + "\n";
  }

  const Job& job_;
  bool last_first_;
  std::vector<Core> cores_;
};

}  // namespace trnsim::test
