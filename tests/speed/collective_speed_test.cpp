// What a collective costs to simulate: something per message and link, nothing per byte.
#include <algorithm>
#include <chrono>
#include <limits>
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

/// Seconds to write the programs of an exchange among all, per message; the best of five.
double seconds_per_message(std::uint32_t ranks) {
  const MachineSpec machine = ring_of(ranks);
  const Workload exchange = load_workload("all_to_all", {{"bytes", "4MiB", "test"}}, TRNSIM_ROOT);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(lower(exchange, machine, 1).job.cores.size(), ranks);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best / (static_cast<double>(ranks) * ranks);
}

TEST(CollectiveSpeed, OfWritingAMessageHardlyDependsOnTheRanks) {
  EXPECT_LE(seconds_per_message(1024) / seconds_per_message(256), 1.5);
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
