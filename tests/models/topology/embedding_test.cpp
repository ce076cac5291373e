// What collectives count on when they walk rings and hypercubes.
#include "models/topology/embedding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "tests/models/topology/shapes.h"

namespace trnsim {
namespace {

std::vector<ChipId> all(std::uint32_t chips) {
  std::vector<ChipId> list;
  for (std::uint32_t i = 0; i < chips; ++i) list.emplace_back(i);
  return list;
}

/// Each order visits every chip once, goes from neighbour to neighbour, and shares no link with another order.
void expect_disjoint_rings(const Topology& topology, const std::vector<ChipId>& chips,
                           const std::vector<std::vector<std::uint32_t>>& rings) {
  std::set<std::uint32_t> used;
  for (const auto& ring : rings) {
    EXPECT_EQ(std::set<std::uint32_t>(ring.begin(), ring.end()).size(), chips.size());
    ASSERT_EQ(ring.size(), chips.size());
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Route route = topology.route(chips[ring[i]], chips[ring[(i + 1) % ring.size()]]);
      ASSERT_EQ(route.hops.size(), 1U);
      EXPECT_TRUE(used.insert(route.hops[0].link.value()).second);
    }
  }
}

struct TorusRings {
  std::array<std::uint32_t, 3> size;
  std::size_t rings;
};

TEST(Rings, AsManyAsATorusOfLinksHas) {
  for (const auto& [size, rings] : {TorusRings{{2, 1, 1}, 1},
                                    {{3, 1, 1}, 2},
                                    {{12, 1, 1}, 2},
                                    {{2, 2, 1}, 2},
                                    {{2, 2, 2}, 2},
                                    {{4, 2, 1}, 2},
                                    {{3, 3, 1}, 4},
                                    {{3, 4, 1}, 4},
                                    {{4, 4, 1}, 4},
                                    {{5, 5, 1}, 4},
                                    {{4, 6, 1}, 4},
                                    {{8, 8, 1}, 4},
                                    {{16, 16, 1}, 4},
                                    {{4, 4, 2}, 4},
                                    {{3, 3, 3}, 6},
                                    {{4, 4, 4}, 6},
                                    {{3, 4, 5}, 6},
                                    {{8, 8, 8}, 6}}) {
    SCOPED_TRACE(std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]));
    const std::uint32_t chips = size[0] * size[1] * size[2];
    const Topology topology(torus(size[0], size[1], size[2]), chips, {});
    const auto found = directed_rings(topology, all(chips));
    EXPECT_EQ(found.size(), rings);
    expect_disjoint_rings(topology, all(chips), found);
    EXPECT_EQ(found, directed_rings(topology, all(chips)));
  }
}

TEST(Rings, OfPartsOfATorusUseTheLinksInsideTheGroupAlone) {
  const Topology topology(torus(4, 4, 1), 16, {});
  struct Part {
    std::vector<std::uint32_t> chips;
    std::size_t rings;
  };
  for (const auto& [numbers, rings] : {Part{{0}, 0},
                                       {{0, 1}, 1},
                                       {{0, 2}, 0},
                                       {{0, 1, 2}, 0},
                                       {{0, 1, 2, 3}, 2},
                                       {{0, 1, 4, 5}, 2},
                                       {{0, 1, 2, 3, 4, 5, 6, 7}, 2},
                                       {{0, 1, 2, 4, 5, 6}, 2},
                                       {{0, 1, 2, 3, 4, 5, 6, 8, 9, 10}, 2}}) {
    std::vector<ChipId> chips;
    for (std::uint32_t chip : numbers) chips.emplace_back(chip);
    const auto found = directed_rings(topology, chips);
    EXPECT_EQ(found.size(), rings) << chips.size();
    expect_disjoint_rings(topology, chips, found);
  }
}

TEST(Rings, OfSwitchedChipsPassNoThirdChip) {
  for (const auto& [racks, sleds, positions, sled_switch] : {std::tuple{1U, 1U, 4U, true},
                                                             {2U, 18U, 4U, true},
                                                             {2U, 16U, 2U, false},
                                                             {1U, 3U, 3U, true},
                                                             {1U, 5U, 1U, true},
                                                             {3U, 3U, 3U, true}}) {
    const std::uint32_t chips = racks * sleds * positions;
    const Topology topology(switched(racks, sleds, positions, sled_switch), chips, {});
    const auto found = directed_rings(topology, all(chips));
    ASSERT_EQ(found.size(), 2U) << chips;
    EXPECT_TRUE(std::equal(found[0].begin(), found[0].end(), found[1].rbegin()));
    for (std::uint32_t i = 0; i < chips; ++i) {
      EXPECT_TRUE(topology.adjacent(ChipId(found[0][i]), ChipId(found[0][(i + 1) % chips])));
    }
  }
}

TEST(Cube, IsFoundWhereTheChipsFormOne) {
  for (const auto& [x, y, z, dimensions] : {std::array{2U, 1U, 1U, 1U},
                                            {4U, 1U, 1U, 2U},
                                            {2U, 2U, 1U, 2U},
                                            {4U, 2U, 1U, 3U},
                                            {4U, 4U, 1U, 4U},
                                            {4U, 4U, 4U, 6U},
                                            {8U, 1U, 1U, 0U},
                                            {8U, 8U, 1U, 0U},
                                            {3U, 1U, 1U, 0U}}) {
    const std::uint32_t chips = x * y * z;
    const Topology topology(torus(x, y, z), chips, {});
    const auto table = hypercube(topology, all(chips));
    ASSERT_EQ(table.size(), dimensions) << x << "x" << y << "x" << z;
    for (std::uint32_t c = 0; c < chips && dimensions > 0; ++c) {
      std::set<std::uint32_t> corners{c};
      for (std::uint32_t d = 0; d < dimensions; ++d) {
        EXPECT_EQ(table[d][table[d][c]], c);
        EXPECT_EQ(topology.route(ChipId(c), ChipId(table[d][c])).hops.size(), 1U);
        std::set<std::uint32_t> moved;
        for (std::uint32_t corner : corners) moved.insert(table[d][corner]);
        corners.merge(moved);
      }
      EXPECT_EQ(corners.size(), chips);  // every chip is reached by one choice of dimensions
    }
  }
}

TEST(Cube, OfSwitchedChipsIsNumberedByThem) {
  const Topology gen1(switched(2, 16, 2, false), 64, {});
  const auto table = hypercube(gen1, all(64));
  ASSERT_EQ(table.size(), 6U);
  for (std::uint32_t d = 0; d < 6; ++d) EXPECT_EQ(table[d][5], 5U ^ (1U << d));
  EXPECT_TRUE(hypercube(Topology(switched(2, 18, 4, true), 144, {}), all(144)).empty());
}

}  // namespace
}  // namespace trnsim
