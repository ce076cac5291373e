#include "workloads/collectives/metadata.h"

#include <numeric>

namespace trnsim::collective {
namespace {

/// Elements that hold one number.
std::uint64_t width(std::uint64_t element_bytes) {
  return (sizeof(std::uint32_t) + element_bytes - 1) / element_bytes;
}

View numbers(std::uint64_t first, std::uint64_t count) {
  View view{.buffer = Buffer::kMetadata, .ranges = {}};
  append(view, {first, count});
  return view;
}

}  // namespace

Task WithMetadata::exchange_task(const Place& place, const Task& task, std::uint64_t element_bytes) {
  Task exchange;
  exchange.collective = task.collective == Collective::kAllToAll ? Collective::kAllToAll : Collective::kAllGather;
  exchange.elements = place.ranks * width(element_bytes);
  return exchange;
}

// For each exchange what a rank tells, and what it is told.
std::uint64_t WithMetadata::metadata_size(const Place& place, std::uint64_t element_bytes) {
  return std::uint64_t{4} * place.ranks * width(element_bytes);
}

WithMetadata::WithMetadata(const Place& place, const Task& task, Metadata metadata, std::uint64_t element_bytes,
                           const Algorithm& algorithm, const Algorithm& exchange)
    : place_(place) {
  Phase phase;
  phase.place = place;
  phase.ranks.resize(place.ranks);
  std::iota(phase.ranks.begin(), phase.ranks.end(), 0U);
  phase.task = exchange_task(place, task, element_bytes);
  phase.algorithm = &exchange;
  phase.scratch = algorithm.scratch(place, task);
  const std::uint64_t vector = phase.task.elements;
  const std::uint64_t given = phase.task.collective == Collective::kAllGather ? vector / place.ranks : vector;
  const std::uint64_t exchanges = metadata == Metadata::kCountsAndOffsets ? 2 : 1;
  for (std::uint64_t i = 0; i < exchanges; ++i) {
    phase.input = [given, first = 2 * i * vector](std::uint32_t) { return numbers(first, given); };
    phase.output = [vector, first = (2 * i + 1) * vector](std::uint32_t) { return numbers(first, vector); };
    phases_.push_back(phase);
    phase.scratch += exchange.scratch(place, phase.task);
  }
  phase.task = task;
  phase.algorithm = &algorithm;
  phase.scratch = 0;
  phase.input = [](std::uint32_t) { return View{.buffer = Buffer::kInput, .ranges = {}}; };
  phase.output = [](std::uint32_t) { return View{.buffer = Buffer::kOutput, .ranges = {}}; };
  phases_.push_back(phase);
}

void WithMetadata::write(Script& script) const {
  Phases phases(place_, script);
  for (const Phase& phase : phases_) phases.run(phase);
  phases.finish();
}

}  // namespace trnsim::collective
