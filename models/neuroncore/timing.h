// What an instruction costs: the one place where cycles come from, at any level of detail.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/mechanism/units.h"
#include "models/neuroncore/core_spec.h"
#include "models/program/instruction.h"

namespace trnsim {

/// Cost of one instruction. The engine is taken for max(cycles / clock + overhead, minimum / clock); the result is
/// visible `completion` and `drain` cycles later. Where a limiter slows the engine's clock, it slows the drain too.
struct Cost {
  std::uint64_t cycles = 0;
  Hertz clock{1};
  Time overhead;
  Time completion;
  std::uint64_t minimum = 0;  ///< cycles between two instructions at least
  std::uint64_t drain = 0;    ///< cycles

  /// Engine time of `repeat` equal instructions, rounded once.
  [[nodiscard]] Time occupancy(std::uint64_t repeat) const {
    return std::max(duration(cycles * repeat, clock) + overhead * static_cast<std::int64_t>(repeat),
                    duration(minimum * repeat, clock));
  }
};

/// Cost of `instruction` on `engine` with `free` elements per partition; the load of a scalar function's table is
/// apart. DMA and control instructions are not priced here: their cost is the issue time of the DMA generator and of
/// the sequencer. Throws InvariantError for an operation that the engine or the core does not have.
[[nodiscard]] Cost cost_of(const CoreSpec& core, Engine engine, const Instruction& instruction, std::uint64_t free);

/// Memories with ports that engines take turns at.
enum class Port : std::uint8_t { kSbuf, kPsum };
inline constexpr std::size_t kPortKinds = 2;

/// Whether `instruction` on `engine` needs a port of `kind` for itself while it runs. Source: NKI architecture guides
/// (NC-v2: vector and GpSimd share their SBUF port, vector and scalar their PSUM port; from NC-v3 the vector engine's
/// fast modes borrow the bus that it shares with GpSimd, and vector and scalar access PSUM together unless in one
/// bank).
[[nodiscard]] bool takes_port(const CoreSpec& core, Engine engine, const Instruction& instruction, Port kind);
/// Ports of `core`, and the number of the one of `kind` that `instruction` needs if it needs one.
[[nodiscard]] std::size_t port_count(const CoreSpec& core);
[[nodiscard]] std::size_t port_number(const CoreSpec& core, const Instruction& instruction, Port kind);

}  // namespace trnsim
