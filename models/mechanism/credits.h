// Room in a bounded queue.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trnsim {

/// Counts the free entries of a queue that its producer may fill. The producer takes credits before it enqueues and
/// gets them back when the consumer is done. A request for more than the whole queue is served when it is empty.
class Credits {
 public:
  explicit Credits(std::uint64_t entries) : entries_(entries), free_(entries) {}

  [[nodiscard]] bool holds(std::uint64_t count) const { return free_ >= charged(count); }
  /// REQUIRES: holds(count).
  void take(std::uint64_t count) { free_ -= charged(count); }
  /// Returns what `take(count)` took.
  void give_back(std::uint64_t count) { free_ += charged(count); }
  [[nodiscard]] std::uint64_t free() const { return free_; }

 private:
  [[nodiscard]] std::uint64_t charged(std::uint64_t count) const { return std::min(count, entries_); }

  std::uint64_t entries_;
  std::uint64_t free_;
};

}  // namespace trnsim
