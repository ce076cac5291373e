// Counting semaphores of one core.
#pragma once

#include <cstdint>

namespace trnsim {

/// A counter that producers add to and one consumer takes from.
class Semaphore {
 public:
  explicit Semaphore(std::uint32_t initial = 0) : value_(initial) {}

  void add(std::uint32_t count) { value_ += count; }
  [[nodiscard]] bool holds(std::uint32_t count) const { return value_ >= count; }
  /// REQUIRES: holds(count).
  void take(std::uint32_t count) { value_ -= count; }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

}  // namespace trnsim
