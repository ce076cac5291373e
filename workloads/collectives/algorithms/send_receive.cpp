// The vector of rank 0 to rank 1 of the group; others have nothing to do. A single rank sends to itself.
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
  const std::uint32_t receiver = place.ranks > 1 ? 1 : 0;
  if (rank == 0) pen.send(vector_to(receiver, place, task, lane, arrived));
  if (rank == receiver) pen.after(arrived);
  pen.finish();
}

constexpr std::array kForms = {
    Form{Collective::kSendReceive, "1", "S, rank 0 alone", "S by the rate of the slowest link between them"},
};

}  // namespace

constinit const Algorithm kSendReceive = {.name = "send_receive",
                                          .meaning = "the vector of rank 0 to rank 1",
                                          .forms = kForms,
                                          .obstacle = no_obstacle,
                                          .write = write,
                                          .scratch = no_scratch};

}  // namespace trnsim::collective
