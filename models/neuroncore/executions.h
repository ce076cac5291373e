// How much a core is going to execute, counted without letting time pass.
#pragma once

#include <cstdint>

#include "models/program/program.h"

namespace trnsim {

/// Instructions that occupy an engine and transfers of `job`: what a timeline of it has at least. Runs of equal
/// instructions count once, or `one_by_one`. REQUIRES: job.program.
[[nodiscard]] std::uint64_t executions_of(const CoreJob& job, bool one_by_one);

}  // namespace trnsim
