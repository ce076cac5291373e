// What a program will execute, counted without running it.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "models/program/program.h"

namespace trnsim {

/// Sums over everything that one core executes.
struct WorkCount {
  std::array<std::uint64_t, kDtypeCount> macs{};         ///< multiply-accumulates issued
  std::array<std::uint64_t, kTrafficCount> bytes{};      ///< moved by DMA, by reason
  std::map<std::uint32_t, std::uint64_t> bytes_to_peer;  ///< by peer index
  std::uint64_t sent_bytes = 0;                          ///< to other ranks
  std::uint64_t sibling_bytes = 0;                       ///< to the other core of the logical core
  std::uint64_t instructions = 0;                        ///< runs of equal instructions count once

  void add(const WorkCount& other, std::uint64_t times);
};

[[nodiscard]] WorkCount count_work(const CoreJob& job);

/// Whether the core has a program, and that any instruction.
[[nodiscard]] bool has_work(const CoreJob& job);

}  // namespace trnsim
