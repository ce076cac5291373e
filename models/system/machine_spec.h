// A whole machine: chips, fabric, power, and parts made slow on purpose.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/dma/dma_spec.h"
#include "models/interconnect/fabric_spec.h"
#include "models/memory/hbm_spec.h"
#include "models/neuroncore/core_spec.h"
#include "models/power/power_spec.h"
#include "models/program/dtype.h"

namespace trnsim {

struct MachineSpec {
  std::string name;
  std::uint32_t chips = 0;
  std::uint32_t instances = 1;
  std::uint32_t cores_per_chip = 0;
  std::uint32_t default_lnc = 0;  ///< physical cores per logical core unless the workload says otherwise
  CoreSpec core;
  DmaSpec dma;
  HbmSpec hbm;
  FabricSpec fabric;
  PowerSpec power;
  Time host_call;  ///< from a launch by the host until it sees the end, beyond the run of the device
  std::map<std::uint32_t, double> core_clock_scale;      ///< core[i].clock_scale; absent = 1
  std::map<std::uint32_t, double> link_bandwidth_scale;  ///< link[i].bandwidth_scale; absent = 1

  /// 2 x contraction rows per pass x columns x clock x cores, FLOP/s; zero where the array does not have the format.
  [[nodiscard]] double array_peak(Dtype dtype) const {
    const TensorSpec& t = core.tensor;
    const double passes = dtype == Dtype::kFp32 ? double{1} * t.fp32_passes * t.fp32_row_cycles : 1;
    return 2.0 * t.contraction_rows(dtype) * t.columns * static_cast<double>(t.clock.count()) * cores() / passes;
  }
  [[nodiscard]] std::uint32_t cores() const { return chips * cores_per_chip; }
  [[nodiscard]] std::uint32_t chips_per_instance() const { return chips / instances; }
  [[nodiscard]] std::uint32_t cores_per_stack() const { return cores_per_chip / hbm.stacks; }
};

}  // namespace trnsim
