// All-reduce in one step: everybody's whole vector to everybody, who adds them up.
#include <array>
#include <limits>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {
namespace {

constexpr std::uint8_t kMessages = 0;
constexpr std::uint8_t kLocal = 1;

void write(const Place& place, const Task& task, Script& script) {
  const Event arrived = script.event();
  const Event summed = script.event();
  Pen pen(script, script.event());
  const std::uint32_t rank = script.member() / place.lanes;
  const std::uint32_t lane = script.member() % place.lanes;
  const Part part = lane_part({0, task.elements}, place.lanes, lane);
  const std::vector<std::uint32_t> peers = translations(place, rank);
  script.reserve(place.ranks);
  for (std::uint32_t distance = 1; distance < place.ranks; ++distance) {
    Step step = message(place.member(peers[distance], lane), Buffer::kInput, part, Buffer::kScratch,
                        (distance - 1) * task.elements + part.first);
    step.arrived = arrived;
    step.channel = kMessages;
    pen.send(step);
  }
  pen.after(arrived, place.ranks - 1);
  Step sum = message(script.member(), Buffer::kInput, part, Buffer::kOutput, part.first);
  sum.operands[1] = {
      .buffer = Buffer::kScratch, .first = part.first, .stride = task.elements, .times = place.ranks - 1};
  sum.sent = summed;
  sum.channel = kLocal;
  pen.add(sum);
  pen.after(summed);
  pen.finish();
}

std::uint64_t scratch(const Place& place, const Task& task) {
  return (place.ranks - 1) * task.elements;
}

std::string obstacle(const Place& place, const Task& task) {
  if (task.elements <= std::numeric_limits<std::uint64_t>::max() / place.ranks) return "";
  return "single_step_mesh needs room for everybody's whole vector, which no 64-bit number counts";
}

constexpr std::array kForms = {
    Form{Collective::kAllReduce, "1", "(n-1) S", "n r h S/L"},
};

}  // namespace

constinit const Algorithm kSingleStepMesh = {.name = "single_step_mesh",
                                             .meaning = "everybody's whole vector to everybody, who adds all up",
                                             .forms = kForms,
                                             .obstacle = obstacle,
                                             .write = write,
                                             .scratch = scratch};

}  // namespace trnsim::collective
