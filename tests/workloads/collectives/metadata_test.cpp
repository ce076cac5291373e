// Sizes are told before the elements go, and the elements still arrive, each once.
#include "workloads/collectives/metadata.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/workloads/collectives/payload.h"
#include "tests/workloads/collectives/places.h"
#include "workloads/collectives/algorithms/list.h"

namespace trnsim {
namespace {

using collective::Algorithm;
using collective::Metadata;
using collective::Place;
using collective::Script;
using collective::Task;
using collective::WithMetadata;

Task counted_task(std::mt19937_64& random, Collective collective, const Place& place) {
  Task task;
  task.collective = collective;
  task.counts.resize(collective == Collective::kAllToAll ? std::size_t{place.ranks} * place.ranks : place.ranks);
  for (std::uint64_t& count : task.counts) count = random() % 3 == 0 ? 0 : random() % 5;
  task.counts[random() % task.counts.size()] = 40;
  if (collective == Collective::kAllToAll) return task;
  for (const std::uint64_t count : task.counts) task.elements += count;
  return task;
}

test::Outcome carried_out(const Place& place, const Task& task, Metadata metadata, const Algorithm& algorithm,
                          const Algorithm& exchange, std::uint64_t element_bytes) {
  const WithMetadata both(place, task, metadata, element_bytes, algorithm, exchange);
  std::vector<Script> scripts;
  for (std::uint32_t member = 0; member < place.members(); ++member) both.write(scripts.emplace_back(member));
  const Task told = WithMetadata::exchange_task(place, task, element_bytes);
  return test::carry_out(scripts, place, task, algorithm.scratch(place, task) + 2 * exchange.scratch(place, told), 7);
}

TEST(Metadata, PrecedesEveryElementOnRandomGroups) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Place place = test::random_place(random, 12);
    if (place.ranks < 2) continue;
    const bool exchanges = trial % 2 == 0;
    const Task task = counted_task(random, exchanges ? Collective::kAllToAll : Collective::kAllGather, place);
    const Algorithm& algorithm = exchanges ? collective::kDirect : collective::kRing;
    const Algorithm& teller = exchanges ? collective::kDirect : collective::kMesh;
    for (const Metadata metadata : {Metadata::kCounts, Metadata::kCountsAndOffsets}) {
      const std::uint64_t bytes = std::uint64_t{1} << trial % 3;
      EXPECT_EQ(carried_out(place, task, metadata, algorithm, teller, bytes).error, "") << "trial " << trial;
    }
  }
}

TEST(Metadata, GoesBetweenInstancesAsTheElementsDo) {
  std::mt19937_64 random(5);
  const Place place = test::instances_of(test::ring_place(2, 2), 3);
  const Task task = counted_task(random, Collective::kAllToAll, place);
  EXPECT_EQ(
      carried_out(place, task, Metadata::kCountsAndOffsets, collective::kHierarchical, collective::kHierarchical, 2)
          .error,
      "");
}

TEST(Metadata, IsOneDependentMessageAndOneNumberOfEachPairPerExchange) {
  const Place place = test::ring_place(4, 2);
  std::mt19937_64 random(1);
  const Task task = counted_task(random, Collective::kAllToAll, place);
  std::uint32_t exchanges = 0;
  std::uint64_t elements = 0;
  for (const std::uint64_t count : task.counts) elements += count;
  for (std::size_t rank = 0; rank < place.ranks; ++rank) elements -= task.counts[rank * place.ranks + rank];
  for (const Metadata metadata : {Metadata::kCounts, Metadata::kCountsAndOffsets}) {
    ++exchanges;
    const test::Outcome outcome =
        carried_out(place, task, metadata, collective::kDirect, collective::kDirect, sizeof(std::uint16_t));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.depth, exchanges + 1);
    std::uint64_t sent = 0;
    for (const test::MemberTally& member : outcome.members) sent += member.sent;
    EXPECT_EQ(sent, elements + exchanges * 2 * 8 * 7);  // 32 bits are two elements of 16
  }
}

}  // namespace
}  // namespace trnsim
