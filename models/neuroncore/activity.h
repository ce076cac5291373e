// What an instruction does physically: multiply-accumulates, bytes in SRAM, element operations.
#pragma once

#include "models/observe/run_record.h"
#include "models/program/instruction.h"

namespace trnsim {

/// Adds to `activity` what `count` executions of `instruction` with `elements` = sum over them of the free size do.
/// The tensor engine reads its moving and stationary operands from SBUF and adds each result column into PSUM (FP32
/// read and write per pass); other engines read their inputs and write their output.
void add_activity(Activity& activity, Engine engine, const Instruction& instruction, std::uint64_t count,
                  std::uint64_t elements);

/// Multiply-accumulates of the same.
[[nodiscard]] std::uint64_t macs_of(const Instruction& instruction, std::uint64_t elements);

}  // namespace trnsim
