// From the steps of a collective to the programs of cores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/program/program.h"
#include "models/system/machine_spec.h"
#include "workloads/collectives/schedule.h"
#include "workloads/collectives/steps.h"

namespace trnsim::collective {

/// What elements are and where they lie.
struct Operands {
  std::uint64_t element_bytes = 1;
  Space memory = Space::kHbm;
  /// Elements that each member brings into a working buffer before, and out of it after: a kernel's own copies.
  std::uint64_t copied_in = 0, copied_out = 0;
};

/// Programs of the members of one group. Members whose steps differ in nothing but addresses and partners share one.
class Emitter {
 public:
  /// `core_of` a member.
  Emitter(const MachineSpec& machine, const Operands& operands, std::string name,
          std::function<CoreId(std::uint32_t)> core_of);
  ~Emitter();

  /// The job of `script.member()`.
  [[nodiscard]] CoreJob job_of(const Script& script);

 private:
  struct Programs;

  [[nodiscard]] std::shared_ptr<const Program> program_of(const Outline& outline) const;
  Handle copy(SegmentBuilder& segment, std::uint64_t elements, std::span<const Handle> after) const;

  const MachineSpec& machine_;
  Operands operands_;
  std::string name_;
  std::function<CoreId(std::uint32_t)> core_of_;
  std::unique_ptr<Programs> programs_;
};

}  // namespace trnsim::collective
