// Global 64-bit addresses. The upper bits name rack, server and chip, as on the real fabric, so that switches
// route on them: rack[63:56] server[55:44] chip[43:36] core[35:28] space[27:26] offset[25:0].
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

  [[nodiscard]] constexpr std::uint64_t encode(CoreId core, Space space) const {
    const std::uint64_t chip = core.value() / cores_per_chip;
    const std::uint64_t local_core = core.value() % cores_per_chip;
    const std::uint64_t server = chip / chips_per_server;
    return (server / servers_per_rack) << 56 | (server % servers_per_rack) << 44 | (chip % chips_per_server) << 36 |
           local_core << 28 | static_cast<std::uint64_t>(space) << 26;
  }
  [[nodiscard]] constexpr ChipId chip_of(std::uint64_t address) const {
    const std::uint64_t rack = address >> 56;
    const std::uint64_t server = (address >> 44) & 0xfff;
    const std::uint64_t chip = (address >> 36) & 0xff;
    return ChipId(static_cast<std::uint32_t>((rack * servers_per_rack + server) * chips_per_server + chip));
  }
  [[nodiscard]] constexpr CoreId core_of(std::uint64_t address) const {
    const auto local_core = static_cast<std::uint32_t>((address >> 28) & 0xff);
    return CoreId(chip_of(address).value() * cores_per_chip + local_core);
  }
  [[nodiscard]] static constexpr Space space_of(std::uint64_t address) {
    return static_cast<Space>((address >> 26) & 0x3);
  }
};

}  // namespace trnsim
