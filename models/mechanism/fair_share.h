// Resources that interleave: a memory stack or a ring of DMA engines shared by several flows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/mechanism/units.h"

namespace trnsim {

/// Faster than any simulation can tell from instantaneous.
inline constexpr BytesPerSecond kUnlimited = BytesPerSecond(std::numeric_limits<std::uint64_t>::max());

/// Kinds of use of a resource, as a set. What a resource can do may depend on the kinds that are going on.
using UseKinds = std::uint8_t;
inline constexpr UseKinds kPlainUse = 0;
inline constexpr UseKinds kReading = 1;
inline constexpr UseKinds kWriting = 2;
inline constexpr std::size_t kUseKindSets = 4;

/// What a flow asks of one resource: `weight` units of it per byte of the flow.
struct Demand {
  std::uint32_t resource = 0;
  double weight = 0;
  UseKinds kinds = kPlainUse;
};

/// What a flow moves and needs for it.
struct FlowDemand {
  Bytes bytes;
  BytesPerSecond cap = kUnlimited;  ///< of its own rate
  std::array<Demand, 2> demands{};
  std::size_t demand_count = 0;
  double turn = 1;  ///< bytes that it gets where others in the same place get as many as their turns say
};

/// Weighted max-min fair sharing of a few resources by a few flows.
///
/// Every flow runs at one rate on all its resources at once (they are stages of one pipeline). Rates rise together, in
/// the ratio of the flows' turns, until a resource is full (sum of weight * rate = capacity) or a flow reaches its own
/// cap; those flows stop, the others go on. This is the fluid limit of round robin in which every flow sends `turn`
/// bytes in its turn. A flow whose rate does not change finishes at start + ceil(bytes / rate), rounded once. Leaves
/// out: packet granularity, hence the order within one packet time.
class FairShare {
 public:
  /// Adds a resource of `rate`; returns its number.
  std::uint32_t add_resource(BytesPerSecond rate) { return add_resource({rate, rate, rate, rate}); }
  /// Adds one whose rate is `by_kinds[k]` while the kinds of its flows together are `k`.
  std::uint32_t add_resource(const std::array<BytesPerSecond, kUseKindSets>& by_kinds);

  /// Starts a flow at `now`. `token` comes back on completion.
  /// REQUIRES: now not before earlier calls; bytes > 0; turn > 0; at least one demand or a cap.
  void start(Time now, const FlowDemand& demand, std::uint64_t token);

  [[nodiscard]] bool idle() const { return flows_.empty(); }
  /// When the next flow finishes. REQUIRES: not idle().
  [[nodiscard]] Time next_completion() const;
  /// Removes the flow that finishes at `now` (the oldest first) and returns its token.
  /// REQUIRES: next_completion() == now.
  std::uint64_t complete(Time now);

 private:
  struct Flow {
    std::uint64_t token = 0;
    Time anchor;           ///< when `remaining` was true
    double remaining = 0;  ///< bytes
    double rate = 0;       ///< bytes per picosecond
    double cap = 0;
    double turn = 1;
    Time finish;
    std::array<Demand, 2> demands{};
    std::size_t demand_count = 0;
    bool settled = false;  ///< scratch of share()
    double pull = 0;       ///< scratch of share(): its turn, of the longest
    double share = 0;      ///< scratch of share()
  };

  void share(Time now);
  void open_all();
  [[nodiscard]] double level_of(std::uint32_t resource) const;
  void settle(Flow& flow, double rate);

  std::vector<std::array<double, kUseKindSets>> rates_;  ///< bytes per picosecond
  std::vector<double> capacity_;                         ///< of those, what holds now
  std::vector<UseKinds> kinds_;                          ///< going on now
  std::vector<double> used_;                             ///< scratch of share()
  std::vector<double> open_weight_;
  std::vector<Flow> flows_;  ///< in order of start
};

}  // namespace trnsim
