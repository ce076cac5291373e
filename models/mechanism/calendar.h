// The only ordering rule of the project: events happen by (time, order), and order is always explicit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/mechanism/error.h"
#include "models/mechanism/units.h"

namespace trnsim {

/// Events of one module, earliest first. Events of equal time leave by ascending `order`, whatever the order of
/// insertion: events that other modules post carry an order made from the poster's number, so that the
/// simulation kernel's choice of who runs first never shows. A module's own events follow those in order of insertion.
template <class Payload>
class Calendar {
 public:
  struct Entry {
    Time time;
    std::uint64_t order;
    Payload payload;
  };

  /// Adds an own event. Own events sort after posted ones of the same time.
  void insert(Time time, const Payload& payload) { push({time, kOwn | next_++, payload}); }

  /// Adds an event posted by another module under `order` (below 2^63, unique per poster).
  void post(Time time, std::uint64_t order, const Payload& payload) { push({time, order, payload}); }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// REQUIRES: not empty.
  [[nodiscard]] Time next_time() const { return heap_.front().time; }

  /// REQUIRES: not empty.
  [[nodiscard]] const Payload& next() const { return heap_.front().payload; }

  /// Removes and returns the earliest event. REQUIRES: not empty.
  Entry pop() {
    const Entry first = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    now_ = first.time;
    return first;
  }

 private:
  static constexpr std::uint64_t kOwn = std::uint64_t{1} << 63;
  /// Children of a place in the heap: few levels, and the children of one place lie side by side in memory.
  static constexpr std::size_t kChildren = 4;

  static bool earlier(const Entry& a, const Entry& b) { return a.time != b.time ? a.time < b.time : a.order < b.order; }

  void push(const Entry& entry) {
    check(entry.time >= now_, "an event is never scheduled into the past");
    std::size_t at = heap_.size();
    heap_.push_back(entry);
    while (at > 0) {
      const std::size_t parent = (at - 1) / kChildren;
      if (!earlier(entry, heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = entry;
  }

  /// Finds the place of `entry`, beginning at the free first one.
  void sink(const Entry& entry) {
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = at * kChildren + 1) {
      std::size_t first = child;
      for (std::size_t other = child + 1; other < std::min(child + kChildren, size); ++other) {
        if (earlier(heap_[other], heap_[first])) first = other;
      }
      if (!earlier(heap_[first], entry)) break;
      heap_[at] = heap_[first];
      at = first;
    }
    heap_[at] = entry;
  }

  std::vector<Entry> heap_;
  std::uint64_t next_ = 0;
  Time now_;
};

}  // namespace trnsim
