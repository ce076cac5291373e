#include "models/topology/topology.h"

#include <gtest/gtest.h>

#include <map>

#include "models/mechanism/error.h"
#include "tests/models/topology/shapes.h"

namespace trnsim {
namespace {

Time latency(const Route& route) {
  Time sum;
  for (const Hop& hop : route.hops) sum += hop.latency;
  return sum;
}

TEST(Torus, ACornerOfA4x4InstanceIsTwoHopsFromItsOpposite) {
  const Topology topology(torus(4, 4, 1), 16, {});
  EXPECT_EQ(topology.route(ChipId(0), ChipId(15)).hops.size(), 2U);
  EXPECT_EQ(topology.route(ChipId(0), ChipId(10)).hops.size(), 4U);  // two steps in each dimension, the farthest
  EXPECT_EQ(topology.route(ChipId(0), ChipId(0)).hops.size(), 0U);
}

TEST(Torus, Chip0HasNeighbours1And3And4And12) {
  const Topology topology(torus(4, 4, 1), 16, {});
  for (std::uint32_t neighbour : {1U, 3U, 4U, 12U}) {
    EXPECT_EQ(topology.route(ChipId(0), ChipId(neighbour)).hops.size(), 1U);
  }
}

TEST(Torus, AnUltraServerHasTwoLinksPerChipAndDimension) {
  const Topology topology(torus(4, 4, 4), 64, {});
  std::map<std::string, int> links;
  for (const Link& link : topology.links()) ++links[link.level];
  EXPECT_EQ(links["dimension0"] + links["dimension1"], 64 * 4);
  EXPECT_EQ(links["dimension2"], 64 * 2);
}

TEST(Torus, TheBisectionOfAnInstanceIs1024GBPerSecondEachWay) {
  const Topology topology(torus(4, 4, 1), 16, {});
  std::uint64_t crossing = 0;
  for (std::uint32_t from = 0; from < 16; ++from) {
    for (std::uint32_t to = 0; to < 16; ++to) {
      const Route route = topology.route(ChipId(from), ChipId(to));
      if (route.hops.size() != 1 || from % 4 >= 2 || to % 4 < 2) continue;
      crossing += topology.links()[route.hops[0].link.index()].bandwidth.count();
    }
  }
  EXPECT_EQ(crossing, 1'024'000'000'000U);
}

TEST(Torus, EqualWaysRoundARingAreSharedByHalfOfTheSources) {
  const Topology topology(torus(4, 1, 1), 4, {});
  std::map<std::uint32_t, int> load;
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (const Hop& hop : topology.route(ChipId(from), ChipId((from + 2) % 4)).hops) ++load[hop.link.value()];
  }
  EXPECT_EQ(load.size(), 8U);
  for (const auto& [link, messages] : load) EXPECT_EQ(messages, 1) << link;
}

TEST(Torus, ADimensionOfTwoHasOneLinkEachWayAndOddShapesReachEverywhere) {
  const Topology pair(torus(2, 1, 1), 2, {});
  EXPECT_EQ(pair.links().size(), 2U);
  const Topology topology(torus(3, 5, 2), 30, {});
  for (std::uint32_t from = 0; from < 30; ++from) {
    for (std::uint32_t to = 0; to < 30; ++to) {
      EXPECT_LE(topology.route(ChipId(from), ChipId(to)).hops.size(), 1U + 2U + 1U);
      EXPECT_EQ(topology.route(ChipId(from), ChipId(to)).hops.empty(), from == to);
    }
  }
}

// Gen2, first silicon: one switch inside the sled, one to the same position of another sled; other positions are
// reached through a chip of the own sled, other racks over the link between equal positions.
TEST(Switched, AGen2MachineHasTheDocumentedWays) {
  const Topology topology(switched(2, 18, 4, true), 144, {});
  const auto route = [&](std::uint32_t from, std::uint32_t to) { return topology.route(ChipId(from), ChipId(to)); };
  EXPECT_EQ(route(0, 1).switches, 1U);
  EXPECT_EQ(latency(route(0, 1)), Time(100 + 1000 + 100));
  EXPECT_EQ(route(0, 4).switches, 1U);
  EXPECT_EQ(latency(route(0, 4)), Time(150 + 1000 + 150));
  EXPECT_EQ(route(0, 5).switches, 2U);
  EXPECT_EQ(latency(route(0, 5)), latency(route(0, 1)) + Time(10'000) + latency(route(0, 4)));
  EXPECT_EQ(route(0, 72).hops.size(), 1U);
  EXPECT_EQ(latency(route(0, 72)), Time(300));
  EXPECT_EQ(latency(route(0, 77)), latency(route(0, 5)) + Time(10'000) + Time(300));
}

TEST(Switched, FewerPlanesOfLaterSiliconMakeSomeWaysOneSwitch) {
  FabricSpec spec = switched(2, 18, 4, true);
  spec.planes = 2;
  const Topology two(spec, 144, {});
  EXPECT_EQ(two.route(ChipId(0), ChipId(6)).switches, 1U) << "another sled and position, the same plane";
  EXPECT_EQ(two.route(ChipId(0), ChipId(5)).switches, 2U) << "the other plane: first the sled";
  EXPECT_EQ(two.route(ChipId(0), ChipId(3)).switches, 1U) << "the sled's switch";
  EXPECT_EQ(two.route(ChipId(0), ChipId(72 + 6)).hops.size(), 3U) << "plane, then the other rack";
  spec = switched(2, 16, 2, false);
  spec.planes = 1;
  const Topology one(spec, 64, {});
  EXPECT_EQ(one.route(ChipId(0), ChipId(31)).switches, 1U) << "one switch in a rack";
  EXPECT_EQ(one.route(ChipId(0), ChipId(1)).switches, 0U);
}

TEST(Switched, AGen1TrayIsADirectPair) {
  const Topology topology(switched(2, 16, 2, false), 64, {});
  EXPECT_EQ(topology.route(ChipId(0), ChipId(1)).switches, 0U);
  EXPECT_EQ(topology.route(ChipId(0), ChipId(2)).switches, 1U);
}

TEST(Tree, AMessageGoesUpToTheLowestSwitchAboveBoth) {
  const Topology topology(tree({4, 3, 2}), 24, {});
  for (const auto& [to, switches] : std::map<std::uint32_t, std::uint32_t>{{1, 1}, {3, 1}, {4, 3}, {11, 3}, {12, 5}}) {
    EXPECT_EQ(topology.route(ChipId(0), ChipId(to)).switches, switches) << to;
    EXPECT_EQ(latency(topology.route(ChipId(0), ChipId(to))), Time(100 * (switches + 1) + 10 * switches)) << to;
  }
}

TEST(Chain, GoesTheOnlyWay) {
  const Topology topology(grid({{6, false}}), 6, {});
  EXPECT_EQ(topology.links().size(), 10U);
  EXPECT_EQ(topology.route(ChipId(0), ChipId(5)).hops.size(), 5U);
  EXPECT_EQ(topology.route(ChipId(5), ChipId(0)).hops.size(), 5U);
}

TEST(Edges, DestinationsShareTheSwitchesThatAreAsNear) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (std::uint32_t chip = 0; chip < 4; ++chip) {
    for (std::uint32_t hub : {4U, 5U}) links.insert(links.end(), {{chip, hub}, {hub, chip}});
  }
  const Topology topology(edge_list(4, {"a", "b"}, links), 4, {});
  EXPECT_EQ(topology.links()[topology.route(ChipId(0), ChipId(2)).hops[0].link.index()].name, "chip0->a");
  EXPECT_EQ(topology.links()[topology.route(ChipId(0), ChipId(1)).hops[0].link.index()].name, "chip0->b");
}

// Nothing is kept for pairs of chips: 16,384 chips would have 268 million of them.
TEST(Torus, AMachineOf16kChipsIsBuiltAtOnce) {
  const Topology topology(grid({{32, true}, {32, true}, {16, true}}), 16384, {});
  EXPECT_EQ(topology.links().size(), 6U * 16384);
  EXPECT_EQ(topology.route(ChipId(0), ChipId(16383)).hops.size(), 3U);
}

TEST(Switched, TheReadingChoosesTheWidths) {
  FabricSpec spec = switched(2, 18, 4, true);
  const Topology lanes(spec, 144, {});
  spec.reading = LinkReading::kLevelTable;
  const Topology table(spec, 144, {});
  const auto bandwidth = [](const Topology& t, std::uint32_t to) {
    return t.links()[t.route(ChipId(0), ChipId(to)).hops[0].link.index()].bandwidth;
  };
  EXPECT_EQ(bandwidth(lanes, 1), BytesPerSecond(512'000'000'000));
  EXPECT_EQ(bandwidth(table, 1), BytesPerSecond(256'000'000'000));
  EXPECT_EQ(bandwidth(table, 4), BytesPerSecond(320'000'000'000));
  EXPECT_EQ(bandwidth(table, 72), bandwidth(lanes, 72));
}

TEST(Links, AScaleSlowsOneLinkOnly) {
  const Topology even(torus(4, 4, 1), 16, {});
  const Topology scaled(torus(4, 4, 1), 16, {{5, 0.5}});
  for (std::size_t i = 0; i < even.links().size(); ++i) {
    EXPECT_EQ(scaled.links()[i].bandwidth.count() * (i == 5 ? 2 : 1), even.links()[i].bandwidth.count());
  }
}

TEST(Links, AScaleOfALinkThatDoesNotExistIsRefusedWithTheRange) {
  try {
    const Topology topology(torus(4, 4, 1), 16, {{64, 0.5}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("0 to 63"), std::string::npos) << error.what();
  }
}

TEST(Links, AShapeThatIsNotTheMachinesChipCountIsRefused) {
  EXPECT_THROW(Topology(torus(4, 4, 1), 17, {}), InputError);
}

}  // namespace
}  // namespace trnsim
