// Collectives where nothing but links takes time: to the picosecond what the closed forms of
// docs/modelling/collectives.md say.
#include <algorithm>
#include <ostream>

#include "tests/property/ideal.h"

namespace trnsim {
namespace {

constexpr BytesPerSecond kWhole(50'000'000'000);   // 20 ps a byte
constexpr BytesPerSecond kBroken(36'000'000'000);  // 27 7/9 ps a byte
constexpr std::uint32_t kMostRanks = 64;

enum class Shape : std::uint8_t { kRing, kTorus, kSwitch };

/// As square as can be.
std::vector<std::uint32_t> sizes_of(Shape shape, std::uint32_t n) {
  std::uint32_t shorter = 1;
  for (std::uint32_t d = 2; shape == Shape::kTorus && d * d <= n; ++d) {
    if (n % d == 0) shorter = d;
  }
  return {n / shorter, shorter};
}

MachineSpec machine_of(Shape shape, std::uint32_t n, BytesPerSecond rate) {
  return shape == Shape::kSwitch ? ideal_switch(n, rate) : ideal_torus(sizes_of(shape, n), rate);
}

/// Directed rings through all chips, no two of which use a link in the same direction: a pair for every two neighbours
/// of a chip, and one between two chips. On a switch a ring and its reverse share the ports.
std::uint64_t rings_of(Shape shape, std::uint32_t n) {
  if (n <= 2) return 1;
  if (shape == Shape::kSwitch) return 2;
  std::uint64_t neighbours = 0;
  for (const std::uint32_t size : sizes_of(shape, n)) neighbours += std::min(size, 3U) - 1;
  return neighbours / 2 * 2;
}

/// Messages over the fullest link of a ring of n if everybody sends one to everybody by the shorter way.
std::uint64_t ring_load(std::uint64_t n) {
  return n % 2 == 1 ? (n * n - 1) / 8 : ceil_div(n * n, 8);
}

struct Case {
  const char* collective;
  Shape shape;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.collective;
}
std::string name_of(const testing::TestParamInfo<Case>& info) {
  static constexpr std::array kShapes = {"Ring", "Torus", "Switch"};
  return std::string(info.param.collective) + kShapes[static_cast<std::size_t>(info.param.shape)];
}

std::uint64_t times_round(const Case& one) {
  return one.collective == std::string("all_reduce") ? 2 : 1;
}

/// Nobody sends or gets more than must be, and no link carries more than its rate allows.
void expect_physical(const CollectiveRun& run, const Case& one, std::uint32_t n, std::uint64_t bytes,
                     BytesPerSecond rate) {
  const std::uint64_t must = times_round(one) * (n - 1) * bytes;
  EXPECT_EQ(run.sent, must);
  EXPECT_EQ(run.received, must);
  for (const LinkRecord& link : run.links) {
    EXPECT_LE(duration(Bytes(link.bytes), rate), run.elapsed) << link.name;
    EXPECT_LE(link.busy, run.elapsed) << link.name;
  }
}

class RingCollective : public testing::TestWithParam<Case> {};

TEST_P(RingCollective, OfEqualChunksTakesTheClosedForm) {
  const Case& one = GetParam();
  for (std::uint32_t n = 1; n <= kMostRanks; ++n) {
    const std::uint64_t chunk = 4000;
    const CollectiveRun run = run_collective(machine_of(one.shape, n, kWhole), one.collective, "ring", n * chunk);
    const std::uint64_t links = one.shape == Shape::kSwitch ? 1 : rings_of(one.shape, n);
    EXPECT_EQ(run.elapsed.count(), times_round(one) * (n - 1) * chunk * 20 / links) << n << " ranks";
    expect_physical(run, one, n, n * chunk, kWhole);
  }
}

// Rounded once per message: a step is a message on each ring, and rings through a switch follow each other at the port.
TEST_P(RingCollective, OfAnyOtherSizeTakesTheRoundedStepsOfItsLargestChunks) {
  const Case& one = GetParam();
  for (std::uint32_t n = 1; n <= kMostRanks; ++n) {
    for (const std::uint64_t bytes : {37U, 1'000'003U, 1'048'576U}) {
      const CollectiveRun run = run_collective(machine_of(one.shape, n, kBroken), one.collective, "ring", bytes);
      const auto step_of = [&](std::uint64_t chunk) {
        const std::uint64_t rings = rings_of(one.shape, n);
        const Time first = duration(Bytes(ceil_div(chunk, rings)), kBroken);
        return one.shape == Shape::kSwitch && rings == 2 ? first + duration(Bytes(chunk / 2), kBroken) : first;
      };
      const auto steps = static_cast<std::int64_t>(times_round(one) * (n - 1));
      const Time most = step_of(ceil_div(bytes, n)) * steps;
      if (one.shape == Shape::kSwitch && bytes % n != 0) {
        // A larger and a smaller chunk may share a port; steps that have nothing to send still wait for their turn.
        const Time turn = bytes < 2 * n ? duration(Bytes(1), kBroken) : Time();
        EXPECT_LE(run.elapsed, most + turn) << n << " ranks, " << bytes << " bytes";
        EXPECT_GE(run.elapsed, step_of(bytes / n) * steps) << n << " ranks, " << bytes << " bytes";
      } else {
        EXPECT_EQ(run.elapsed, most) << n << " ranks, " << bytes << " bytes";
      }
      expect_physical(run, one, n, bytes, kBroken);
    }
  }
}

std::vector<Case> ring_cases() {
  std::vector<Case> cases;
  for (const Shape shape : {Shape::kRing, Shape::kTorus, Shape::kSwitch}) {
    for (const char* collective : {"all_reduce", "all_gather", "reduce_scatter"}) cases.push_back({collective, shape});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Ideal, RingCollective, testing::ValuesIn(ring_cases()), name_of);

constexpr std::array kAllToAll = {Case{"all_to_all", Shape::kRing}, Case{"all_to_all", Shape::kSwitch}};

class DirectAllToAll : public testing::TestWithParam<Case> {};

TEST_P(DirectAllToAll, TakesWhatItsFullestLinkCarries) {
  const Case& one = GetParam();
  for (std::uint32_t n = 1; n <= kMostRanks; ++n) {
    const std::uint64_t load = one.shape == Shape::kSwitch ? n - 1 : ring_load(n);
    const CollectiveRun whole = run_collective(machine_of(one.shape, n, kWhole), one.collective, "direct", n * 4000ULL);
    EXPECT_EQ(whole.elapsed.count(), load * 4000 * 20) << n << " ranks";
    expect_physical(whole, one, n, n * 4000ULL, kWhole);

    const std::uint64_t bytes = 1'000'003;
    const CollectiveRun broken = run_collective(machine_of(one.shape, n, kBroken), one.collective, "direct", bytes);
    const auto loads = static_cast<std::int64_t>(load);
    EXPECT_LE(broken.elapsed, duration(Bytes(ceil_div(bytes, n)), kBroken) * loads) << n << " ranks";
    EXPECT_GE(broken.elapsed, duration(Bytes(bytes / n), kBroken) * loads) << n << " ranks";
    expect_physical(broken, one, n, bytes, kBroken);
  }
}
INSTANTIATE_TEST_SUITE_P(Ideal, DirectAllToAll, testing::ValuesIn(kAllToAll), name_of);

// Messages turn from one dimension into the next, so a link may be idle while its messages are still on their way.
TEST(DirectAllToAllOnATorus, TakesAtLeastItsFullestLinkAndLessThanOneDimensionAfterTheOther) {
  for (std::uint32_t n = 1; n <= kMostRanks; ++n) {
    const Case one{"all_to_all", Shape::kTorus};
    const auto sizes = sizes_of(one.shape, n);
    const std::int64_t message = std::int64_t{4000} * 20;
    const auto load = [&](std::uint32_t along, std::uint32_t across) {
      return static_cast<std::int64_t>(ring_load(along) * across) * message;
    };
    const CollectiveRun run = run_collective(machine_of(one.shape, n, kWhole), one.collective, "direct", n * 4000ULL);
    std::int64_t fullest = 0;
    for (const LinkRecord& link : run.links) fullest = std::max(fullest, link.busy.count());
    EXPECT_GE(run.elapsed.count(), fullest) << n << " ranks";
    EXPECT_LE(run.elapsed.count(), load(sizes[0], sizes[1]) + load(sizes[1], sizes[0])) << n << " ranks";
    expect_physical(run, one, n, n * 4000ULL, kWhole);
  }
}

TEST(OneRank, CostsEntryAndExitAlone) {
  MachineSpec machine = ideal_torus({1}, kWhole);
  machine.core.control.program_entry = Time(5'000'000);
  machine.core.control.program_exit = Time(4'000'000);
  for (const Case& one : {Case{"all_reduce", {}}, Case{"all_gather", {}}, Case{"reduce_scatter", {}}}) {
    EXPECT_EQ(run_collective(machine, one.collective, "ring", 1 << 20).elapsed, Time(9'000'000));
    EXPECT_EQ(run_collective(machine, one.collective, "ring", 1 << 30).elapsed, Time(9'000'000));
  }
  EXPECT_EQ(run_collective(machine, "all_to_all", "direct", 1 << 20).elapsed, Time(9'000'000));
}

// Both ways round a ring, each link with half the rate of a port.
MachineSpec ring_with_latency(std::uint32_t n, Time hop) {
  return ideal_torus({n}, BytesPerSecond(25'000'000'000), hop);
}

TEST(RingAllReduce, OfGigabytesAndTerabytesIsExact) {
  const MachineSpec machine = ring_with_latency(64, Time(500'000));
  const CollectiveOptions room{.slots = 3};
  EXPECT_EQ(run_collective(machine, "all_reduce", "ring", std::uint64_t{3} << 30, room).elapsed, Time(126'898'752'960));
  EXPECT_EQ(run_collective(machine, "all_reduce", "ring", std::uint64_t{1} << 40, room).elapsed,
            Time(43'293'333'343'680));
}

TEST(RingAllReduce, OfAnyGroupSizeTakesALatencyAndAChunkPerStep) {
  for (const std::uint32_t n : {3U, 5U, 6U, 7U, 12U, 24U, 63U}) {
    const std::uint64_t chunk = 1'000'000;
    const CollectiveRun run =
        run_collective(ring_with_latency(n, Time(500'000)), "all_reduce", "ring", n * chunk, {.slots = 3});
    EXPECT_EQ(run.elapsed, Time(2 * (n - 1LL) * (500'000 + 20'000'000))) << n << " ranks";
  }
}

// A rank must hear that the slot is free again: a hop more in every step but the first two and the last of a round.
TEST(RingAllReduce, WithTwoSlotsWaitsForCredits) {
  const MachineSpec machine = ring_with_latency(64, Time(500'000));
  EXPECT_EQ(run_collective(machine, "all_reduce", "ring", std::uint64_t{3} << 30).elapsed,
            Time(126'898'752'960 + 2 * (64 - 3) * 500'000));
}

TEST(RingAllReduce, PaysALatencyPerStepAndNothingElse) {
  const CollectiveOptions room{.slots = 3};
  const std::uint64_t bytes = 512'000'000;
  const Time slow = run_collective(ring_with_latency(256, Time(6'000'000)), "all_reduce", "ring", bytes, room).elapsed;
  const Time fast = run_collective(ring_with_latency(256, Time(2'000'000)), "all_reduce", "ring", bytes, room).elapsed;
  EXPECT_EQ(slow - fast, Time(510 * 4'000'000LL));
}

TEST(RingAllReduce, OfAFewBytesTakesAtLeastItsHops) {
  const MachineSpec machine = ring_with_latency(64, Time(500'000));
  for (const std::uint32_t slices : {1U, 4U, 8U}) {
    Time before;
    for (const std::uint64_t bytes : {1U, 63U, 64U, 65U}) {
      const Time elapsed = run_collective(machine, "all_reduce", "ring", bytes, {.slices = slices, .slots = 3}).elapsed;
      EXPECT_GE(elapsed, Time(126 * 500'000)) << bytes << " bytes, " << slices << " slices";
      EXPECT_GE(elapsed, before) << bytes << " bytes, " << slices << " slices";
      before = elapsed;
    }
  }
}

// Slices hide hops behind each other; they never change what links carry.
TEST(RingAllReduce, LoadsLinksAlikeHoweverItIsSliced) {
  const MachineSpec machine = ring_with_latency(16, Time(500'000));
  const CollectiveRun whole = run_collective(machine, "all_reduce", "ring", 1 << 24, {.slots = 3});
  for (const std::uint32_t slices : {2U, 4U, 8U, 16U}) {
    const CollectiveRun run = run_collective(machine, "all_reduce", "ring", 1 << 24, {.slices = slices, .slots = 3});
    EXPECT_LE(run.elapsed, whole.elapsed) << slices << " slices";
    ASSERT_EQ(run.links.size(), whole.links.size());
    for (std::size_t i = 0; i < run.links.size(); ++i) {
      EXPECT_EQ(run.links[i].bytes, whole.links[i].bytes) << run.links[i].name << ", " << slices << " slices";
    }
  }
}

}  // namespace
}  // namespace trnsim
