#include "tests/workloads/collectives/vectors.h"

#include <algorithm>

namespace trnsim::test {
namespace {

using collective::Part;
using collective::Place;
using collective::Task;

std::uint64_t count(const Place& place, const Task& task, std::uint32_t shard) {
  return task.counts.empty() ? collective::part_of({0, task.elements}, place.ranks, shard).count : task.counts[shard];
}

std::uint64_t first(const Place& place, const Task& task, std::uint32_t shard) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < shard; ++i) sum += count(place, task, i);
  return sum;
}

// All-to-all.
std::uint64_t given(const Place& place, const Task& task, std::uint32_t giver, std::uint32_t receiver) {
  if (task.counts.empty()) return collective::part_of({0, task.elements}, place.ranks, receiver).count;
  return task.counts[std::size_t{giver} * place.ranks + receiver];
}

std::vector<Value> whole_input(const Place& place, const Task& task, std::uint32_t rank) {
  std::vector<Value> values;
  for (std::uint64_t e = 0; e < input_size(place, task, rank); ++e) values.push_back(input_value(rank, e));
  return values;
}

std::vector<Value> sums(const Place& place, Part part) {
  std::vector<Value> values(part.count);
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
    for (std::uint64_t e = 0; e < part.count; ++e) values[e].push_back(input_value(rank, part.first + e)[0]);
  }
  return values;
}

std::vector<Value> gathered(const Place& place, const Task& task) {
  std::vector<Value> values;
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
    const auto shard = whole_input(place, task, rank);
    values.insert(values.end(), shard.begin(), shard.end());
  }
  return values;
}

std::vector<Value> exchanged(const Place& place, const Task& task, std::uint32_t receiver) {
  std::vector<Value> values;
  for (std::uint32_t giver = 0; giver < place.ranks; ++giver) {
    std::uint64_t before = 0;
    for (std::uint32_t r = 0; r < receiver; ++r) before += given(place, task, giver, r);
    for (std::uint64_t e = 0; e < given(place, task, giver, receiver); ++e) {
      values.push_back(input_value(giver, before + e));
    }
  }
  return values;
}

}  // namespace

Value input_value(std::uint32_t rank, std::uint64_t element) {
  constexpr int kElementBits = 40;
  return {(std::uint64_t{rank} << kElementBits) | element};
}

std::uint64_t input_size(const Place& place, const Task& task, std::uint32_t rank) {
  if (task.collective == Collective::kAllGather) return count(place, task, rank);
  if (task.collective == Collective::kReduceScatter) return first(place, task, place.ranks);
  if (task.collective != Collective::kAllToAll) return task.elements;
  std::uint64_t sum = 0;
  for (std::uint32_t receiver = 0; receiver < place.ranks; ++receiver) sum += given(place, task, rank, receiver);
  return sum;
}

std::vector<Value> expected_output(const Place& place, const Task& task, std::uint32_t rank) {
  switch (task.collective) {
    case Collective::kAllReduce:
      return sums(place, {0, task.elements});
    case Collective::kAllGather:
      return gathered(place, task);
    case Collective::kReduceScatter:
      return sums(place, {first(place, task, rank), count(place, task, rank)});
    case Collective::kAllToAll:
      return exchanged(place, task, rank);
    case Collective::kPermute: {
      const std::uint32_t back = place.ranks - task.shift % place.ranks;
      return whole_input(place, task, (rank + back) % place.ranks);
    }
    case Collective::kBroadcast:
      return whole_input(place, task, task.root);
    case Collective::kSendReceive: {
      const std::uint32_t receiver = std::min(1U, place.ranks - 1);
      return rank == receiver ? whole_input(place, task, 0) : std::vector<Value>(task.elements);
    }
  }
  return {};
}

std::uint64_t output_size(const Place& place, const Task& task, std::uint32_t rank) {
  return expected_output(place, task, rank).size();
}

}  // namespace trnsim::test
