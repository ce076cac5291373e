// What tile detail saves, as a ratio within one run: seconds say more about the machine that runs the test.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "platforms/platform.h"
#include "tests/speed/timed.h"
#include "workloads/workload.h"

namespace trnsim {
namespace {

struct LargeKernel {
  const char* workload;
  std::vector<WorkloadOverride> settings;
};
void PrintTo(const LargeKernel& kernel, std::ostream* out) {
  *out << kernel.workload;
}

class LargeKernels : public testing::TestWithParam<LargeKernel> {};

// Both take the same start-up, which is why the kernel has a million instructions and more.
TEST_P(LargeKernels, RunTenTimesFasterAtTileDetail) {
  const MachineSpec machine = load_platform("trn2-3xlarge").machine;
  const LargeKernel& kernel = GetParam();
  const LoweredWorkload lowered = lower(load_workload(kernel.workload, kernel.settings, TRNSIM_ROOT), machine, 1);
  const Timed tile = simulated(machine, lowered.job, Detail::kTile);
  const Timed instruction = simulated(machine, lowered.job, Detail::kInstruction);
  EXPECT_GE(instruction.instructions, 1'000'000U);
  EXPECT_GE(instruction.seconds / tile.seconds, 10);
}

INSTANTIATE_TEST_SUITE_P(Kernels, LargeKernels,
                         testing::Values(LargeKernel{
                             "attention",
                             {{"lnc", "1", "test"}, {"query_tokens", "65536", "test"}, {"context", "65536", "test"}}}),
                         [](const auto& one) { return std::string(one.param.workload); });

}  // namespace
}  // namespace trnsim
