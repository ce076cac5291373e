// What an algorithm of collectives is: who can run it, what each member does, and what that costs in closed form.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "workloads/collectives/schedule.h"

namespace trnsim::collective {

/// Closed forms for one collective. S = bytes of a rank's vector, n = ranks, r = ranks of a chip, c = chips,
/// m = instances, l = ranks of an instance, s = slices, h = links from rank to rank, mean over all pairs, the rank
/// itself and its chip counted with 0 (on a switch (n-r)/n: its port), L = bytes per time out of a chip, all its links
/// together.
struct Form {
  Collective collective = Collective::kAllReduce;
  std::string_view steps;  ///< dependent messages with data, from start to end
  std::string_view bytes;  ///< that one rank sends to other ranks
  std::string_view time;   ///< on ideal hardware: nothing but links takes time
};

struct Algorithm {
  std::string_view name;
  std::string_view meaning;
  std::span<const Form> forms;  ///< one per collective that it can carry out
  /// Why the group or task is not for this algorithm, in one sentence; empty if it is.
  std::string (*obstacle)(const Place& place, const Task& task) = nullptr;
  /// Writes what member `script.member()` does. Needs: no obstacle.
  void (*write)(const Place& place, const Task& task, Script& script) = nullptr;
  /// Elements of Buffer::kScratch that every rank needs, at most.
  std::uint64_t (*scratch)(const Place& place, const Task& task) = nullptr;

  [[nodiscard]] bool carries_out(Collective collective) const;
};

/// Why `algorithm` cannot do `task` at `place`, in one sentence; empty if it can.
[[nodiscard]] std::string refusal(const Algorithm& algorithm, const Place& place, const Task& task);

[[nodiscard]] std::string_view name_of(Collective collective);

}  // namespace trnsim::collective
