// A resource that serves one request at a time, in order of arrival.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/mechanism/units.h"

namespace trnsim {

/// One direction of a link, a switch port. start = max(arrival, end of the previous service).
/// REQUIRES: reserve() is called in order of arrival time.
class FcfsServer {
 public:
  struct Service {
    Time start;
    Time end;
  };

  Service reserve(Time arrival, Time service) {
    const Time start = std::max(arrival, free_at_);
    free_at_ = start + service;
    busy_ += service;
    return {start, free_at_};
  }

  [[nodiscard]] Time free_at() const { return free_at_; }
  [[nodiscard]] Time busy() const { return busy_; }

 private:
  Time free_at_;
  Time busy_;
};

}  // namespace trnsim
