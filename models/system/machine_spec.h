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
#include "models/system/collective_rules_spec.h"

namespace trnsim {

/// What launching by the host costs.
struct HostSpec {
  Time call;             ///< from a launch by the host until it sees the end, beyond the run of the device
  Time kernel_launch;    ///< the same of a kernel with a collective over several cores, plus
  Time kernel_lane;      ///< so much per physical core of a logical core
  Time kernel_shortest;  ///< a run of the device below which such a launch takes no less time
  Time barrier_round;  ///< barrier of the ranks before a graph that a framework launches, per doubling of their number
};

struct MachineSpec {
  std::string name;
  std::uint32_t chips = 0;      ///< of all instances together
  std::uint32_t instances = 1;  ///< equal machines joined by EFA
  std::uint32_t cores_per_chip = 0;
  std::uint32_t default_lnc = 0;  ///< physical cores per logical core unless the workload says otherwise
  CoreSpec core;
  DmaSpec dma;
  HbmSpec hbm;
  FabricSpec fabric;
  PowerSpec power;
  HostSpec host;
  CollectiveRulesSpec collective_rules;
  std::map<std::uint32_t, double> core_clock_scale;      ///< core[i].clock_scale; absent = 1
  std::map<std::uint32_t, double> link_bandwidth_scale;  ///< link[i].bandwidth_scale; absent = 1, 0 = down
  std::map<std::uint32_t, double> chip_hbm_scale;        ///< chip[i].hbm_scale: bandwidth of its stacks; absent = 1
  std::map<std::uint32_t, double> chip_dma_scale;        ///< chip[i].dma_scale: rates of its DMA engines; absent = 1

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
