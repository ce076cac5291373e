// What a collective costs to simulate: something per message and link, nothing per byte.
#include <string>

#include "platforms/platform.h"
#include "tests/speed/timed.h"
#include "workloads/workload.h"

namespace trnsim {
namespace {

/// Chips of one core on a ring, with the engines, memories and links of a Trn1.
MachineSpec ring_of(std::uint32_t chips) {
  MachineSpec machine = load_platform("trn1-32xlarge").machine;
  machine.chips = chips;
  machine.cores_per_chip = machine.hbm.stacks = 1;
  machine.fabric.dimensions.resize(1);
  machine.fabric.dimensions.front().size = chips;
  return machine;
}

Timed collective(const MachineSpec& machine, const std::string& workload, const std::string& algorithm,
                 const std::string& bytes) {
  const Workload one =
      load_workload(workload, {{"bytes", bytes, "test"}, {"algorithm", algorithm, "test"}}, TRNSIM_ROOT);
  return simulated(machine, lower(one, machine, 1).job);
}

TEST(CollectiveSpeed, DoesNotDependOnTheBytes) {
  const MachineSpec machine = ring_of(64);
  const Timed small = collective(machine, "all_reduce", "ring", "1MiB");
  const Timed large = collective(machine, "all_reduce", "ring", "1GiB");
  EXPECT_EQ(large.crossings, small.crossings);
  EXPECT_LE(large.seconds / small.seconds, 1.5);
}

TEST(CollectiveSpeed, OfACrossingHardlyDependsOnTheRanks) {
  const Timed few = collective(ring_of(64), "all_to_all", "direct", "1MiB");
  const Timed many = collective(ring_of(256), "all_to_all", "direct", "4MiB");
  EXPECT_GE(many.crossings, 60 * few.crossings);
  const auto per_crossing = [](const Timed& timed) { return timed.seconds / static_cast<double>(timed.crossings); };
  EXPECT_LE(per_crossing(many) / per_crossing(few), 1.5);
}

}  // namespace
}  // namespace trnsim
