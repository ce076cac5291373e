// From counted activity to energy, and from chip power to the power of the whole installation.
#pragma once

#include <cstdint>

#include "models/observe/run_record.h"
#include "models/power/power_spec.h"

namespace trnsim {

/// Energy of one run of the whole machine, by part.
struct EnergyReport {
  Joules tensor, vector, sbuf, psum, hbm, link, fixed;  ///< fixed: static power over the run; link includes switches

  [[nodiscard]] Joules total() const { return tensor + vector + sbuf + psum + hbm + link + fixed; }
};

/// energy = sum of (count x energy per action) + chips x static power x elapsed. Every term is computed once, from
/// sums over the machine. Source: power rows of the platform.
[[nodiscard]] EnergyReport energy_of(const Activity& activity, Time elapsed, std::uint32_t chips,
                                     const ChipPowerSpec& spec);

/// IT power with chips drawing `chip` each:
/// [chips x chip x (1 + vrm) + hosts + nics + retimers + cables + switches + top of rack + auxiliary] x (1 + fans) /
/// psu.
[[nodiscard]] Watts it_power(Watts chip, std::uint32_t chips, const SystemPowerSpec& spec);

/// Utility power: IT x (1 + network share) x PUE.
[[nodiscard]] Watts utility_power(Watts it, const SystemPowerSpec& spec);

}  // namespace trnsim
