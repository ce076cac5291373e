// Every rank's vector to the rank `shift` further, cyclically.
#include <array>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {
namespace {

void write(const Place& place, const Task& task, Script& script) {
  const Event arrived = script.event();
  Pen pen(script, script.event());
  const std::uint32_t rank = script.member() / place.lanes;
  const std::uint32_t lane = script.member() % place.lanes;
  const auto receiver = static_cast<std::uint32_t>((std::uint64_t{rank} + task.shift) % place.ranks);
  pen.send(vector_to(receiver, place, task, lane, arrived));
  pen.after(arrived);
  pen.finish();
}

constexpr std::array kForms = {
    Form{Collective::kPermute, "1", "S", "S by the rate of a link, times the ranks whose ways share it"},
};

}  // namespace

constinit const Algorithm kPermute = {.name = "permute",
                                      .meaning = "every vector to the rank `shift` further",
                                      .forms = kForms,
                                      .obstacle = no_obstacle,
                                      .write = write,
                                      .scratch = no_scratch};

}  // namespace trnsim::collective
