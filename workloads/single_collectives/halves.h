// What a collective sends from one half of its chips to the other, and how much the fabric carries between them.
#pragma once

#include <array>
#include <cstdint>

#include "workloads/collectives/place.h"

namespace trnsim {

/// The chips of a group, cut in two by order of their numbers in the group.
class Halves {
 public:
  Halves(const collective::Place& place, const RankGroup& group, const MachineSpec& machine, const Topology& topology);

  /// Adds what one member sends.
  void add(const collective::Script& script);
  /// Bytes per second from half to half, in the direction with less; 0: one chip alone.
  [[nodiscard]] double bandwidth() const;
  /// Seconds that the added steps take at least, in the direction that takes longer.
  [[nodiscard]] double bound(std::uint64_t element_bytes) const;

 private:
  [[nodiscard]] std::size_t half(std::uint32_t member) const {
    return place_.chip[member / place_.lanes] < place_.chips() / 2 ? 0 : 1;
  }

  const collective::Place& place_;
  std::array<double, 2> bandwidth_{};        ///< by half that sends
  std::array<std::uint64_t, 2> elements_{};  ///< the same
};

}  // namespace trnsim
