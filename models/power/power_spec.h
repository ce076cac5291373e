// Energy per action, static power and the parts of a machine's power bill. Sources: platform CSVs.
#pragma once

#include <array>
#include <cstdint>

#include "models/mechanism/units.h"
#include "models/program/dtype.h"

namespace trnsim {

/// Dynamic energy per counted action, and static power, of one chip.
struct ChipPowerSpec {
  std::array<Joules, kDtypeCount> mac;  ///< per multiply-accumulate, by dtype
  Joules sbuf_byte, psum_byte;          ///< per byte read or written
  Joules vector_element;                ///< per element operation of vector, scalar or GpSimd
  Joules hbm_byte;                      ///< per byte, device, PHY and path
  Joules link_byte;                     ///< per byte and link traversal, traffic-dependent part
  Joules switch_byte;                   ///< per byte and switch crossed
  Watts static_power;                   ///< clocked and powered, idle
  Watts tdp;
};

/// Chip to IT to utility. P_IT = [chips*(1+vrm) + hosts + nics + retimers + cables + switches + tor]*(1+fans)/psu.
struct SystemPowerSpec {
  double vrm_loss = 0;
  std::uint32_t hosts = 0;
  Watts host;
  std::uint32_t nics = 0;
  Watts nic;
  std::uint32_t retimers = 0;
  Watts retimer;
  std::uint32_t cables = 0;
  Watts cable;
  std::uint32_t sled_switches = 0;
  Watts sled_switch;
  std::uint32_t rack_switches = 0;
  Watts rack_switch;
  Watts top_of_rack;            ///< all top-of-rack switches together
  std::uint32_t auxiliary = 0;  ///< management and peripheral cards outside the list above
  Watts auxiliary_each;
  double fan_fraction = 0;
  double psu_efficiency = 0;
  double network_share = 0;  ///< data-centre network, as a fraction of IT power
  double pue = 0;
  UsdPerHour price;  ///< of the whole machine; 0 = not public
};

struct PowerSpec {
  ChipPowerSpec chip;
  SystemPowerSpec system;
};

}  // namespace trnsim
