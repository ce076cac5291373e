#include "tests/workloads/collectives/memory.h"

#include <algorithm>

#include "workloads/collectives/metadata.h"

namespace trnsim::test {

using collective::Buffer;
using collective::kNobody;
using collective::Place;
using collective::Step;
using collective::Task;

Memory::Memory(const Place& place, const Task& task, std::uint64_t scratch) : place_(place), task_(task) {
  ranks_.resize(place.ranks);
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
    auto& buffers = ranks_[rank].buffers;
    auto& input = buffers[static_cast<std::size_t>(Buffer::kInput)];
    input.resize(input_size(place, task, rank));
    for (std::size_t e = 0; e < input.size(); ++e) input[e].value = input_value(rank, e);
    buffers[static_cast<std::size_t>(Buffer::kOutput)].resize(output_size(place, task, rank));
    buffers[static_cast<std::size_t>(Buffer::kScratch)].resize(scratch);
    // Sizes that the rank knows; whatever they are, they are there to be told.
    auto& metadata = buffers[static_cast<std::size_t>(Buffer::kMetadata)];
    metadata.resize(collective::WithMetadata::metadata_size(place, 1));
    for (Cell& cell : metadata) cell.value = input_value(rank, 0);
  }
}

void Memory::fail(const std::string& what) {
  if (error_.empty()) error_ = what;
}

std::vector<Memory::Cell*> Memory::cells(std::uint32_t rank, Buffer buffer, std::uint64_t first, std::uint64_t count) {
  auto& all = ranks_[rank].buffers[static_cast<std::size_t>(buffer)];
  if (first > all.size() || count > all.size() - first) {
    fail("elements " + std::to_string(first) + " + " + std::to_string(count) + " of a buffer of " +
         std::to_string(all.size()) + " at rank " + std::to_string(rank));
    return {};
  }
  std::vector<Cell*> found;
  for (std::uint64_t e = 0; e < count; ++e) found.push_back(&all[first + e]);
  return found;
}

std::vector<std::vector<Memory::Cell*>> Memory::sources(std::uint32_t member, const Step& step) {
  std::vector<std::vector<Cell*>> by_element(step.count);
  for (const auto& operand : step.operands) {
    const std::uint32_t rank = (operand.partner ? step.partner : member) / place_.lanes;
    for (std::uint32_t i = 0; step.count > 0 && i < operand.times; ++i) {
      const auto range = cells(rank, operand.buffer, operand.first + i * operand.stride, step.count);
      for (std::size_t e = 0; e < range.size(); ++e) by_element[e].push_back(range[e]);
    }
  }
  return by_element;
}

std::vector<std::uint32_t> Memory::source_ranks(std::uint32_t member, const Step& step) const {
  std::vector<std::uint32_t> ranks = {member / place_.lanes};
  if (step.partner != kNobody) ranks.push_back(step.partner / place_.lanes);
  return ranks;
}

std::vector<std::uint32_t> Memory::target_ranks(const Step& step) const {
  std::vector<std::uint32_t> ranks = {step.to / place_.lanes};
  if (step.copy_to != kNobody) ranks.push_back(step.copy_to / place_.lanes);
  return ranks;
}

void Memory::begin(std::uint32_t member, const Step& step) {
  if (step.count == 0) return;
  for (const std::uint32_t rank : source_ranks(member, step)) {
    ranks_[rank].in_use += step.count;
    if (place_.chip[rank] != place_.chip[member / place_.lanes]) fail("a partner on another chip");
    if (ranks_[rank].lanes_finished == place_.lanes) fail("reads at finished rank " + std::to_string(rank));
  }
  const auto read_cells = sources(member, step);
  for (const std::uint32_t rank : target_ranks(step)) {
    ranks_[rank].in_use += step.count;
    if (place_.chip[rank] != place_.chip[step.to / place_.lanes]) fail("a copy for another chip");
    if (ranks_[rank].lanes_finished == place_.lanes) fail("writes at finished rank " + std::to_string(rank));
    if (step.destination == Buffer::kInput) fail("writes an input");
    for (Cell* cell : cells(rank, step.destination, step.destination_first, step.count)) {
      if (cell->readers > 0 || cell->writers > 0) {
        fail("member " + std::to_string(member) + " writes at rank " + std::to_string(rank) + " what is in use");
      }
    }
  }
  for (const auto& element : read_cells) {
    if (element.empty()) fail("an element from nowhere");
    for (Cell* cell : element) {
      if (cell->writers > 0) fail("member " + std::to_string(member) + " reads what is being written");
      ++cell->readers;
    }
  }
  for (const std::uint32_t rank : target_ranks(step)) {
    for (Cell* cell : cells(rank, step.destination, step.destination_first, step.count)) ++cell->writers;
  }
}

std::vector<Value> Memory::read(std::uint32_t member, const Step& step) {
  if (step.count == 0) return {};
  std::vector<Value> values;
  for (const auto& element : sources(member, step)) {
    Value& sum = values.emplace_back();
    for (Cell* cell : element) {
      --cell->readers;
      if (cell->value.empty()) fail("member " + std::to_string(member) + " reads what nobody has written");
      sum.insert(sum.end(), cell->value.begin(), cell->value.end());
    }
    std::ranges::sort(sum);
  }
  for (const std::uint32_t rank : source_ranks(member, step)) ranks_[rank].in_use -= step.count;
  return values;
}

void Memory::write(const Step& step, std::vector<Value> values) {
  if (step.count == 0) return;
  for (const std::uint32_t rank : target_ranks(step)) {
    const auto range = cells(rank, step.destination, step.destination_first, step.count);
    for (std::size_t e = 0; e < range.size(); ++e) {
      range[e]->value = values[e];
      --range[e]->writers;
    }
    ranks_[rank].in_use -= step.count;
  }
}

void Memory::finish_lane(std::uint32_t rank) {
  if (++ranks_[rank].lanes_finished < place_.lanes) return;
  if (ranks_[rank].in_use > 0) fail("rank " + std::to_string(rank) + " is finished while its memory is in use");
}

std::string Memory::compare() const {
  for (std::uint32_t rank = 0; rank < place_.ranks; ++rank) {
    const auto& output = ranks_[rank].buffers[static_cast<std::size_t>(Buffer::kOutput)];
    const std::vector<Value> expected = expected_output(place_, task_, rank);
    for (std::size_t e = 0; e < expected.size(); ++e) {
      if (output[e].value == expected[e]) continue;
      return "rank " + std::to_string(rank) + " element " + std::to_string(e) + " has " +
             std::to_string(output[e].value.size()) + " contributions, not the " + std::to_string(expected[e].size()) +
             " right ones";
    }
  }
  return "";
}

}  // namespace trnsim::test
