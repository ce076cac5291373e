// The steps of a member as a program holds them, and how they are written into a segment: a step becomes one prebuilt
// transfer of the stream that issues it (several, if it sums more sources than one descriptor reads), an event becomes
// a semaphore, a channel of a stream becomes a DMA queue.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "models/mechanism/ids.h"
#include "models/program/builder.h"
#include "models/system/machine_spec.h"
#include "workloads/collectives/schedule.h"

namespace trnsim::collective {

/// Numbers the cores that steps name, in order of appearance, from `first` on: the end of a peer table.
class Peers {
 public:
  explicit Peers(std::uint32_t first = 0) : first_(first) {}

  std::uint32_t slot(CoreId core);
  [[nodiscard]] const std::vector<CoreId>& cores() const { return cores_; }
  void clear();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t first_;
  std::vector<std::uint32_t> slots_;  ///< by core
  std::vector<CoreId> cores_;
};

/// What of a step makes a program: no addresses, partners by slot.
struct Shape {
  std::uint32_t to = kSelf, copy_to = kSelf, partner = kSelf;
  std::uint32_t reads = 0, partner_reads = 0;
  std::uint64_t count = 0;
  Event arrived = kNoEvent, sent = kNoEvent;
  std::uint8_t stream = 0, channel = 0;
  std::array<Wait, 4> waits{};

  auto operator<=>(const Shape&) const = default;
};

/// All that a program depends on.
struct Outline {
  std::vector<Shape> shapes;
  std::vector<Last> last;
  std::uint32_t events = 0;

  auto operator<=>(const Outline&) const = default;
};

/// Makes `outline` that of `script`. `core_of` a member.
void outline_of(const Script& script, const std::function<CoreId(std::uint32_t)>& core_of, Peers& peers,
                Outline& outline);

/// How steps become instructions.
struct StepStyle {
  std::uint64_t element_bytes = 1;
  Space memory = Space::kHbm;
  std::function<std::uint8_t(std::uint8_t stream, std::uint8_t channel)> queue_of;
};

/// Writes the steps of `outline`, to start after `ready`; event e counts in semaphores[e]. Returns a handle on each
/// stream that waits for its end. Throws InfeasibleError if a message has more descriptors than a DMA ring.
[[nodiscard]] std::vector<Handle> write_steps(const Outline& outline, const StepStyle& style,
                                              const MachineSpec& machine, SegmentBuilder& segment,
                                              std::span<const SemaphoreId> semaphores, Handle ready);

/// A transfer of `bytes` within `memory` whose descriptors were made before; it names no peer yet.
[[nodiscard]] Transfer prebuilt(Space memory, Bytes bytes);

/// Descriptors of a message of `bytes`. Throws InfeasibleError if they are more than a DMA ring holds.
[[nodiscard]] std::uint32_t message_descriptors(const MachineSpec& machine, Bytes bytes);

}  // namespace trnsim::collective
