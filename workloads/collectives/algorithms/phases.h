// One algorithm after another on parts of a group: the steps of each on a small group of its own, carried over to the
// ranks and buffers of the whole.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/collectives/algorithms/algorithm.h"
#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {

/// Where a vector of a phase really lies: ranges one behind the other in the phase's numbers.
struct View {
  Buffer buffer = Buffer::kInput;
  std::vector<Range> ranges;  ///< from: in the phase's vector, to: in the real buffer; empty: both alike
};

/// Adds a real range to the end of a view.
void append(View& view, Part real);

/// What `algorithm` does for one part of the group.
struct Phase {
  const Algorithm* algorithm = nullptr;
  Place place;
  Task task;
  std::vector<std::uint32_t> ranks;                  ///< of the whole group, by rank of the part
  std::function<View(std::uint32_t)> input, output;  ///< by rank of the part
  std::uint64_t scratch = 0;                         ///< where the phase's scratch begins
};

/// Writes phases into a script; each begins when the one before is at its end in all lanes of the rank.
class Phases {
 public:
  Phases(const Place& place, Script& script);
  void run(const Phase& phase);
  /// Last.
  void finish();

 private:
  void begin(const Script& part);

  const Place& place_;
  Script& script_;
  std::vector<Pen> pens_;                  ///< by stream
  std::array<bool, kStreamCount> used_{};  ///< streams of the phase before
};

}  // namespace trnsim::collective
