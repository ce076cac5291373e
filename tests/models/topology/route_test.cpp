// Laws that every route of every shape obeys.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/mechanism/error.h"
#include "models/topology/topology.h"
#include "tests/models/topology/shapes.h"

namespace trnsim {
namespace {

/// The ends of a link as its name says them: "chip0->rack0.plane1".
std::pair<std::string, std::string> ends(const Link& link) {
  const std::size_t arrow = link.name.find("->");
  return {link.name.substr(0, arrow), link.name.substr(arrow + 2)};
}

/// Every route starts at its source, ends at its destination, has no gap and uses no link twice.
void expect_whole_routes(const FabricSpec& spec, std::uint32_t chips) {
  const Topology topology(spec, chips, {});
  for (std::uint32_t from = 0; from < chips; ++from) {
    for (std::uint32_t to = 0; to < chips; ++to) {
      std::string at = "chip" + std::to_string(from);
      std::set<std::uint32_t> used;
      std::uint32_t switches = 0;
      for (const Hop& hop : topology.route(ChipId(from), ChipId(to)).hops) {
        const auto [begin, end] = ends(topology.links()[hop.link.index()]);
        ASSERT_EQ(begin, at);
        ASSERT_TRUE(used.insert(hop.link.value()).second);
        if (!end.starts_with("chip")) ++switches;
        at = end;
      }
      ASSERT_EQ(at, "chip" + std::to_string(to));
      ASSERT_EQ(topology.route(ChipId(from), ChipId(to)).switches, switches);
    }
  }
}

TEST(Routes, LeadFromEveryChipToEveryOtherOnEveryTorus) {
  for (const auto& [x, y, z] : {std::array{1U, 1U, 1U},
                                {2U, 1U, 1U},
                                {1U, 2U, 1U},
                                {1U, 1U, 2U},
                                {12U, 1U, 1U},
                                {2U, 2U, 2U},
                                {4U, 4U, 1U},
                                {4U, 4U, 4U},
                                {3U, 5U, 2U},
                                {5U, 3U, 7U}}) {
    SCOPED_TRACE(std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z));
    expect_whole_routes(torus(x, y, z), x * y * z);
  }
}

TEST(Routes, LeadFromEveryChipToEveryOtherOnEverySwitchedMachine) {
  for (const auto& [r, s, p] :
       {std::array{1U, 1U, 1U}, {1U, 1U, 4U}, {1U, 5U, 1U}, {3U, 1U, 1U}, {2U, 16U, 2U}, {2U, 18U, 4U}, {3U, 5U, 7U}}) {
    SCOPED_TRACE(std::to_string(r) + "x" + std::to_string(s) + "x" + std::to_string(p));
    expect_whole_routes(switched(r, s, p, true), r * s * p);
    expect_whole_routes(switched(r, s, p, false), r * s * p);
  }
}

TEST(Routes, LeadFromEveryChipToEveryOtherOnMachinesThatUsersInvent) {
  FabricSpec later = switched(2, 5, 4, true);
  later.planes = 2;
  expect_whole_routes(later, 40);
  expect_whole_routes(grid({{3, true}, {2, true}, {2, true}, {4, true}, {3, false}}), 144);
  expect_whole_routes(grid({{7, false}}), 7);
  expect_whole_routes(grid({}), 1);
  expect_whole_routes(tree({5}), 5);
  expect_whole_routes(tree({4, 3, 2}), 24);
  expect_whole_routes(edge_list(3, {"hub"}, {{0, 3}, {3, 0}, {1, 3}, {3, 1}, {2, 0}, {0, 2}}), 3);
}

std::uint32_t ring_distance(std::uint32_t a, std::uint32_t b, std::uint32_t size) {
  const std::uint32_t up = (b + size - a) % size;
  return std::min(up, size - up);
}

TEST(Routes, TakeAsFewHopsAsATorusAllows) {
  const std::uint32_t x = 3, y = 5, z = 4;
  const Topology topology(torus(x, y, z), x * y * z, {});
  for (std::uint32_t from = 0; from < x * y * z; ++from) {
    for (std::uint32_t to = 0; to < x * y * z; ++to) {
      const std::uint32_t shortest = ring_distance(from % x, to % x, x) + ring_distance(from / x % y, to / x % y, y) +
                                     ring_distance(from / x / y, to / x / y, z);
      EXPECT_EQ(topology.route(ChipId(from), ChipId(to)).hops.size(), shortest);
    }
  }
}

TEST(Routes, LoadAllLinksOfALevelAlikeWhenEveryChipSendsToEveryOther) {
  for (std::uint32_t z : {1U, 4U}) {
    const Topology topology(torus(4, 4, z), 16 * z, {});
    std::map<std::string, std::map<std::uint32_t, std::uint32_t>> load;
    for (std::uint32_t from = 0; from < 16 * z; ++from) {
      for (std::uint32_t to = 0; to < 16 * z; ++to) {
        for (const Hop& hop : topology.route(ChipId(from), ChipId(to)).hops)
          ++load[topology.links()[hop.link.index()].level][hop.link.value()];
      }
    }
    // A ring of 4: each chip sends 1 + 1 + 2 hops per turn of the other coordinates, over two links: 16 z / 4 * 4 / 2.
    for (const char* level : {"dimension0", "dimension1"}) {
      ASSERT_EQ(load[level].size(), 32 * z);
      for (const auto& [link, messages] : load[level]) EXPECT_EQ(messages, 8 * z) << link;
    }
    for (const auto& [link, messages] : load["dimension2"]) EXPECT_EQ(messages, 32U) << link;
  }
}

std::map<std::string, int> links_by_level(const FabricSpec& spec, std::uint32_t chips) {
  const Topology topology(spec, chips, {});
  std::map<std::string, int> links;
  for (const Link& link : topology.links()) ++links[link.level];
  return links;
}

TEST(Links, OfASwitchedMachineAreTwoPerPortAndOnePerOrderedPairWhereDirect) {
  using Links = std::map<std::string, int>;
  EXPECT_EQ(links_by_level(switched(2, 18, 4, true), 144),
            (Links{{"sled", 2 * 144}, {"rack", 2 * 144}, {"cross_rack", 144}}));
  EXPECT_EQ(links_by_level(switched(2, 16, 2, false), 64), (Links{{"sled", 64}, {"rack", 2 * 64}, {"cross_rack", 64}}));
  EXPECT_EQ(links_by_level(switched(3, 2, 4, false), 24),
            (Links{{"sled", 3 * 24}, {"rack", 2 * 24}, {"cross_rack", 2 * 24}}));
}

// Link i is the same link on every run: users slow it by its number.
TEST(Links, AreNumberedByTheChipTheyLeaveThenByDimensionThenUpBeforeDown) {
  const Topology topology(torus(4, 4, 4), 64, {});
  const std::vector<std::string> first = {"chip0->chip1",  "chip0->chip3",  "chip0->chip4",
                                          "chip0->chip12", "chip0->chip16", "chip0->chip48"};
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(topology.links()[i].name, first[i]);
  EXPECT_EQ(topology.links()[6].name, "chip1->chip2");
}

TEST(Links, OfASwitchedMachineAreNumberedByLevelThenByChipOutBeforeIn) {
  const Topology topology(switched(2, 2, 2, true), 8, {});
  EXPECT_EQ(topology.links()[0].name, "chip0->rack0.sled0");
  EXPECT_EQ(topology.links()[1].name, "rack0.sled0->chip0");
  EXPECT_EQ(topology.links()[16].name, "chip0->rack0.plane0");
  EXPECT_EQ(topology.links()[17].name, "rack0.plane0->chip0");
  EXPECT_EQ(topology.links()[32].name, "chip0->chip4");
}

TEST(Links, CarryTheSustainedShareOfTheirRawBandwidth) {
  FabricSpec spec = torus(4, 4, 1);
  spec.link_sustained_fraction = 0.75;
  const Topology topology(spec, 16, {});
  EXPECT_EQ(topology.links()[0].bandwidth, BytesPerSecond(96'000'000'000));
}

TEST(Links, AScaleBelowNothingIsRefused) {
  EXPECT_THROW(Topology(torus(4, 4, 1), 16, {{3, -1.0}}), InputError);
}

TEST(NoFabric, IsOneChipWithoutLinks) {
  const Topology topology(FabricSpec{}, 1, {});
  EXPECT_TRUE(topology.links().empty());
  EXPECT_TRUE(topology.route(ChipId(0), ChipId(0)).hops.empty());
  EXPECT_THROW(Topology(FabricSpec{}, 2, {}), InputError);
}

}  // namespace
}  // namespace trnsim
