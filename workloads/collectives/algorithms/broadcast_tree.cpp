// Broadcast by a binomial tree: in round j, all who have the vector send it to who is 2^j further than they are.
// Few dependent messages, but every link carries whole vectors: for small ones.
#include <array>
#include <bit>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {
namespace {

constexpr std::uint8_t kMessages = 0;
constexpr std::uint8_t kLocal = 1;

void write(const Place& place, const Task& task, Script& script) {
  const Event arrived = script.event();
  Pen pen(script, script.event());
  const std::uint64_t n = place.ranks;
  const std::uint32_t lane = script.member() % place.lanes;
  const std::uint64_t from_root = (script.member() / place.lanes + n - task.root) % n;
  const Part part = lane_part({0, task.elements}, place.lanes, lane);
  const Buffer source = from_root == 0 ? Buffer::kInput : Buffer::kOutput;
  if (from_root > 0) pen.after(arrived);
  for (std::uint64_t further = std::bit_floor(from_root) * 2 + (from_root == 0 ? 1 : 0); from_root + further < n;
       further *= 2) {
    const auto receiver = static_cast<std::uint32_t>((from_root + further + task.root) % n);
    Step step = message(place.member(receiver, lane), source, part, Buffer::kOutput, part.first);
    step.arrived = arrived;
    step.channel = kMessages;
    pen.send(step);
  }
  if (from_root == 0) {
    Step copy = message(script.member(), source, part, Buffer::kOutput, part.first);
    copy.channel = kLocal;
    pen.send(copy);
  }
  pen.finish();
}

constexpr std::array kForms = {
    Form{Collective::kBroadcast, "floor(log2 n)", "ceil(log2 n) S by the root, less by others",
         "ceil(log2 n) S/L on a switch, r = 1"},
};

}  // namespace

constinit const Algorithm kBroadcastTree = {.name = "broadcast_tree",
                                            .meaning = "whoever has the vector sends it on, so that they double",
                                            .forms = kForms,
                                            .obstacle = no_obstacle,
                                            .write = write,
                                            .scratch = no_scratch};

}  // namespace trnsim::collective
