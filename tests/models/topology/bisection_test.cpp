// The flow between halves is the bandwidth of the cut that limits it.
#include "models/topology/bisection.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/models/topology/shapes.h"

namespace trnsim {
namespace {

std::uint64_t between(const Topology& topology, std::uint32_t chips) {
  std::vector<ChipId> first;
  std::vector<ChipId> second;
  for (std::uint32_t chip = 0; chip < chips; ++chip) (chip < chips / 2 ? first : second).emplace_back(chip);
  return flow_between(topology, first, second).count();
}

TEST(Bisection, OfALineARingAndATorusIsTheLinksThatAreCut) {
  EXPECT_EQ(between(Topology(grid({{8, false}}), 8, {}), 8), 1000U);
  EXPECT_EQ(between(Topology(grid({{8, true}}), 8, {}), 8), 2000U);
  EXPECT_EQ(between(Topology(grid({{4, true}, {4, true}}), 16, {}), 16), 8000U);
  EXPECT_EQ(between(Topology(torus(4, 4, 4), 64, {}), 64), 32U * 64'000'000'000U);
}

TEST(Bisection, OfACrossbarIsThePortsOfOneHalf) {
  EXPECT_EQ(between(Topology(tree({8}), 8, {}), 8), 4000U);
}

TEST(Bisection, OfATreeIsItsTop) {
  EXPECT_EQ(between(Topology(tree({4, 2}), 8, {}), 8), 1000U);
}

TEST(Bisection, OfTwoRacksIsWhatJoinsThem) {
  const FabricSpec spec = switched(2, 4, 2, false);
  const Topology topology(spec, 16, {});
  EXPECT_EQ(between(topology, 16), 8 * spec.cross_rack.lanes_bandwidth.count());
}

TEST(Bisection, ASlowLinkCarriesLess) {
  EXPECT_EQ(between(Topology(grid({{2, false}}), 2, {{0, 0.5}}), 2), 500U);
}

TEST(Bisection, ALinkThatIsDownCarriesNothing) {
  EXPECT_EQ(between(Topology(grid({{8, true}}), 8, {{0, 0.0}}), 8), 2000U);  // chip 0 to chip 1, inside the first half
  const Topology ring(grid({{8, true}}), 8, {});
  std::uint32_t across = 0;
  while (ring.links()[across].name != "chip3->chip4") ++across;
  EXPECT_EQ(between(Topology(grid({{8, true}}), 8, {{across, 0.0}}), 8), 1000U);
}

TEST(Bisection, OfInstancesIsTheirAdapters) {
  FabricSpec spec = grid({{4, true}});
  spec.efa = {.adapters = 2,
              .bandwidth = BytesPerSecond(100),
              .sustained_fraction = 1,
              .packet_latency = Time(),
              .proxy_latency = Time(),
              .rails = false,
              .oversubscription = 1};
  EXPECT_EQ(between(Topology(spec, 8, {}), 8), 200U);
}

TEST(Bisection, OfNothingIsNothing) {
  EXPECT_EQ(flow_between(Topology(tree({2}), 2, {}), {}, {}).count(), 0U);
}

}  // namespace
}  // namespace trnsim
