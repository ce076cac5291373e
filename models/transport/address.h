// Global 64-bit addresses. The upper bits name rack, server and chip, as on the real fabric, so that switches
// route on them: rack[63:48] server[47:36] chip[35:24] core[23:16] space[15:14].
#pragma once

#include <cstdint>

#include "models/mechanism/ids.h"
#include "models/program/instruction.h"

namespace trnsim {

/// How chips are grouped; gives each chip its (rack, server, chip) tuple.
struct AddressMap {
  std::uint32_t servers_per_rack = 1;
  std::uint32_t chips_per_server = 1;
  std::uint32_t cores_per_chip = 1;

  static constexpr std::uint32_t kMostChips = 1U << 12;    ///< of a server
  static constexpr std::uint32_t kMostServers = 1U << 12;  ///< of a rack
  static constexpr std::uint32_t kMostRacks = 1U << 16;

  /// Whether each of `chips` chips has an address of its own.
  [[nodiscard]] constexpr bool fits(std::uint32_t chips) const {
    const std::uint64_t rack = std::uint64_t{chips_per_server} * servers_per_rack;
    return chips_per_server <= kMostChips && servers_per_rack <= kMostServers && chips <= rack * kMostRacks;
  }
  [[nodiscard]] constexpr std::uint64_t encode(CoreId core, Space space) const {
    const std::uint64_t chip = core.value() / cores_per_chip;
    const std::uint64_t local_core = core.value() % cores_per_chip;
    const std::uint64_t server = chip / chips_per_server;
    return (server / servers_per_rack) << 48 | (server % servers_per_rack) << 36 | (chip % chips_per_server) << 24 |
           local_core << 16 | static_cast<std::uint64_t>(space) << 14;
  }
  [[nodiscard]] constexpr ChipId chip_of(std::uint64_t address) const {
    const std::uint64_t rack = address >> 48;
    const std::uint64_t server = (address >> 36) & 0xfff;
    const std::uint64_t chip = (address >> 24) & 0xfff;
    return ChipId(static_cast<std::uint32_t>((rack * servers_per_rack + server) * chips_per_server + chip));
  }
  [[nodiscard]] constexpr CoreId core_of(std::uint64_t address) const {
    const auto local_core = static_cast<std::uint32_t>((address >> 16) & 0xff);
    return CoreId(chip_of(address).value() * cores_per_chip + local_core);
  }
  [[nodiscard]] static constexpr Space space_of(std::uint64_t address) {
    return static_cast<Space>((address >> 14) & 0x3);
  }
};

}  // namespace trnsim
