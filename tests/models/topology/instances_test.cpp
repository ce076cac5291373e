// Machines of several instances, and links that are down.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/mechanism/error.h"
#include "models/topology/embedding.h"
#include "models/topology/topology.h"
#include "tests/models/topology/shapes.h"

namespace trnsim {
namespace {

/// 4 chips in a ring, `adapters` adapters of 8 GB/s sustained.
FabricSpec with_efa(std::uint32_t adapters, bool rails, double oversubscription) {
  FabricSpec spec = grid({{4, true}});
  spec.efa = {.adapters = adapters,
              .bandwidth = BytesPerSecond(16'000'000'000),
              .sustained_fraction = 0.5,
              .packet_latency = Time(6'500'000),
              .proxy_latency = Time(7'100'000),
              .rails = rails,
              .oversubscription = oversubscription};
  return spec;
}

std::vector<std::string> names(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  std::vector<std::string> names;
  for (const Hop& hop : topology.route(ChipId(from), ChipId(to)).hops) {
    names.push_back(topology.links()[hop.link.index()].name);
  }
  return names;
}
using Names = std::vector<std::string>;

TEST(Instances, AreReachedThroughAdaptersLeavesAndSpine) {
  const Topology toplevel(with_efa(2, false, 2), 12, {});
  EXPECT_EQ(names(toplevel, 1, 11),
            (Names{"instance0.efa0->leaf0", "leaf0->spine", "spine->leaf2", "leaf2->instance2.efa1"}));
  EXPECT_EQ(names(toplevel, 4, 5), (Names{"chip4->chip5"}));
  Time latency;
  for (const Hop& hop : toplevel.route(ChipId(1), ChipId(11)).hops) latency += hop.latency;
  EXPECT_EQ(latency, Time(13'600'000));
  const Topology rails(with_efa(4, true, 1), 8, {});
  EXPECT_EQ(names(rails, 1, 5), (Names{"instance0.efa1->rail1", "rail1->instance1.efa1"}));
  EXPECT_EQ(names(rails, 1, 6),
            (Names{"instance0.efa1->rail1", "rail1->spine", "spine->rail2", "rail2->instance1.efa2"}));
}

TEST(Instances, HaveAdaptersAndASpineOfTheSustainedBandwidth) {
  const Topology topology(with_efa(2, false, 2), 12, {});
  for (const Link& link : topology.links()) {
    if (link.level == "efa") {
      EXPECT_EQ(link.bandwidth, BytesPerSecond(8'000'000'000)) << link.name;
    }
    if (link.level == "efa_spine") {
      EXPECT_EQ(link.bandwidth, BytesPerSecond(2 * 8'000'000'000 / 2)) << link.name;
    }
  }
}

TEST(Instances, AChipWithSeveralAdaptersUsesThemAll) {
  const Topology topology(with_efa(8, true, 1), 8, {});
  EXPECT_EQ(names(topology, 0, 4), (Names{"instance0.efa0->rail0", "rail0->instance1.efa0"}));
  EXPECT_EQ(names(topology, 1, 5), (Names{"instance0.efa3->rail3", "rail3->instance1.efa3"}));
  EXPECT_EQ(names(topology, 0, 5).front(), "instance0.efa1->rail1");
}

TEST(Instances, AreNumberedOneAfterAnotherAndShareNoRing) {
  const Topology topology(with_efa(2, false, 1), 8, {});
  EXPECT_EQ(topology.links()[0].name, "chip0->chip1");
  EXPECT_EQ(topology.links()[8].name, "chip4->chip5");
  EXPECT_EQ(topology.links()[16].name, "instance0.efa0->leaf0");
  const std::vector<ChipId> both = {ChipId(0), ChipId(1), ChipId(4), ChipId(5)};
  EXPECT_TRUE(directed_rings(topology, both).empty());
  EXPECT_FALSE(topology.adjacent(ChipId(0), ChipId(4)));
  const std::vector<ChipId> second = {ChipId(4), ChipId(5), ChipId(6), ChipId(7)};
  EXPECT_EQ(directed_rings(topology, second).size(), 2U);
}

TEST(Instances, AMachineWithoutAdaptersHasOne) {
  EXPECT_THROW(Topology(grid({{4, true}}), 8, {}), InputError);
}

TEST(LinkDown, ATorusGoesTheOtherWayRoundTheRing) {
  const Topology topology(grid({{4, true}, {3, true}}), 12, {{0, 0.0}});
  EXPECT_EQ(names(topology, 0, 1), (Names{"chip0->chip3", "chip3->chip2", "chip2->chip1"}));
  EXPECT_EQ(names(topology, 0, 4), (Names{"chip0->chip4"}));
  EXPECT_EQ(names(topology, 0, 5).back(), "chip1->chip5");
  EXPECT_EQ(names(topology, 1, 0), (Names{"chip1->chip0"}));
  EXPECT_EQ(topology.neighbours(ChipId(0)).size(), 3U);
}

TEST(LinkDown, ASwitchedMachineTakesAnotherPosition) {
  const FabricSpec spec = switched(2, 3, 4, true);
  const Topology whole(spec, 24, {});
  const std::uint32_t port = whole.route(ChipId(0), ChipId(4)).hops[0].link.value();
  const Topology topology(spec, 24, {{port, 0.0}});
  const Route round = topology.route(ChipId(0), ChipId(4));
  EXPECT_GT(round.hops.size(), 2U);
  for (const Hop& hop : round.hops) EXPECT_NE(hop.link.value(), port);
  EXPECT_EQ(topology.links()[round.hops.back().link.index()].name.substr(0, 5), "rack0");
}

TEST(LinkDown, WhereNoWayIsLeftTheChipsAreNamed) {
  const auto refusal = [](const FabricSpec& spec, std::uint32_t chips, const std::map<std::uint32_t, double>& scales) {
    try {
      const Topology topology(spec, chips, scales);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(tree({4}), 4, {{2, 0.0}}),
            "link[2] (chip1->level0.switch0) is down and no way is left from chip1 to chip0; leave more links up");
  EXPECT_EQ(refusal(grid({{4, false}}), 4, {{0, 0.0}}),
            "link[0] (chip0->chip1) is down and no way is left from chip0 to chip1; leave more links up");
  EXPECT_EQ(refusal(grid({{2, true}}), 2, {{0, 0.0}}),
            "link[0] (chip0->chip1) is down and no way is left from chip0 to chip1; leave more links up");
  EXPECT_EQ(refusal(grid({{2, true}, {2, true}}), 4, {{0, 0.0}}),
            "link[0] (chip0->chip1) is down and no way is left from chip0 to chip1 (ways go by dimension order: round "
            "the ring of that dimension, not by another); leave more links up");
  EXPECT_EQ(refusal(grid({{4, true}}), 4, {{0, 0.0}, {4, 0.0}}), "");
  EXPECT_NE(refusal(grid({{4, true}}), 4, {{0, 0.0}, {1, 0.0}}).find("no way is left from chip0 to chip"),
            std::string::npos);
  EXPECT_NE(refusal(with_efa(2, false, 1), 8, {{16, 0.0}}).find("instances have no other way"), std::string::npos);
}

}  // namespace
}  // namespace trnsim
