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

  /// Removes and returns the earliest event. REQUIRES: not empty.
  Entry pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Entry entry = heap_.back();
    heap_.pop_back();
    now_ = entry.time;
    return entry;
  }

 private:
  static constexpr std::uint64_t kOwn = std::uint64_t{1} << 63;

  static bool later(const Entry& a, const Entry& b) { return a.time != b.time ? a.time > b.time : a.order > b.order; }
  void push(const Entry& entry) {
    check(entry.time >= now_, "an event is never scheduled into the past");
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  std::vector<Entry> heap_;
  std::uint64_t next_ = 0;
  Time now_;
};

}  // namespace trnsim
