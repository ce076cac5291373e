// The collectives of a model's layers: what one core of a group does in them, written into its program.
//
// With lnc = 2 each physical core moves its part of every shard. A group of one rank, or no bytes, emits nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "workloads/collectives/algorithms/algorithm.h"
#include "workloads/collectives/place.h"
#include "workloads/collectives/rules.h"
#include "workloads/collectives/schedule.h"
#include "workloads/collectives/steps.h"
#include "workloads/kernels/writer.h"
#include "workloads/settings.h"

namespace trnsim {

/// Ranks that exchange data, and where they are.
struct CommGroup {
  RankGroup ranks;
  collective::Place place;
  collective::GroupShape shape;
};

/// One core's seat in a group.
struct CommMember {
  const CommGroup* group = nullptr;
  std::uint32_t member = 0;

  [[nodiscard]] std::uint32_t ranks() const { return group->place.ranks; }
};

enum class CommKind : std::uint8_t {
  kTensor,   ///< ranks that share every layer
  kExperts,  ///< ranks that share experts, where those are more
};

/// Calls of one kind that follow each other have different sites, and with them different semaphores: two ranks may
/// then be in neighbouring calls without taking one's arrivals for the other's.
enum class CommSite : std::uint8_t { kEnds, kFirst, kSecond, kShared };

/// One collective as a layer asks for it.
struct CollectiveCall {
  CommKind kind = CommKind::kTensor;
  CommSite site = CommSite::kEnds;
  collective::Task task;
  std::uint64_t element_bytes = 1;
  const collective::Algorithm* forced = nullptr;  ///< null: by size and place
};

/// Semaphores of each kind and site.
using CommEvents = std::map<std::pair<CommKind, CommSite>, std::uint32_t>;

/// The seats of one core, and what its collectives come to.
struct Seats {
  std::array<CommMember, 2> by_kind;  ///< by CommKind
  collective::Peers peers;            ///< whom collectives name
  /// Semaphores that a program takes before all others, so that those who send to it know their numbers whatever else
  /// they do. What its calls need besides is added, and gets no such number.
  CommEvents events;
  std::vector<CollectiveCall> calls;  ///< in the order in which they were written

  [[nodiscard]] const CommMember& in(CommKind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
};

/// What the core at `seats` does in `call`; whom it names is added to its peers. Cores of equal outlines run one
/// program. Throws InfeasibleError if its group is not for the algorithm that the call forces.
void outline_of(const CollectiveCall& call, Seats& seats, const MachineSpec& machine, std::uint32_t lnc,
                collective::Outline& outline);

/// Writes the collectives of one core in one group.
class Communicator {
 public:
  Communicator(KernelWriter& writer, Seats& seats, CommKind kind, const CommChoices& choices);

  /// `elements` of `element_bytes`: of the whole vector of a rank, in SBUF before and after.
  Handle run(Collective collective, CommSite site, std::uint64_t elements, std::uint64_t element_bytes, Handle ready);
  /// The same, with data that lie in HBM before and after.
  Handle run_in_hbm(Collective collective, CommSite site, std::uint64_t elements, std::uint64_t element_bytes,
                    Handle ready);

  /// SBUF to the memory that messages leave from, and back: `bytes` of this core.
  Handle stage(std::uint64_t bytes, Handle ready);
  Handle unstage(std::uint64_t bytes, Handle arrived);

  /// Rows to every other rank: the number for the rank at distance i is register first_register + i - 1 of the segment,
  /// and that rank stands at first_peer + i - 1 of the peer table.
  struct Rows {
    std::uint32_t first_register = 0;
    std::uint32_t first_peer = 0;
    std::uint64_t row_bytes = 0;
  };
  /// All-to-all of as many rows as the registers say. Returns a handle on the collective engine once the rows of all
  /// peers are here. A peer that gets no rows still gets its (empty) message, so that everybody waits for the same
  /// number of arrivals.
  Handle exchange_rows(const Rows& rows, CommSite site, Handle ready);

 private:
  Handle steps(Collective collective, CommSite site, std::uint64_t elements, std::uint64_t element_bytes, Space memory,
               Handle ready);
  Handle copy(Space source, Space destination, std::uint64_t bytes, Handle ready);
  SemaphoreId semaphore(CommSite site, collective::Event event);

  [[nodiscard]] const CommMember& seat() const { return seats_.in(kind_); }

  KernelWriter& writer_;
  Seats& seats_;
  CommKind kind_;
  CommChoices choices_;
  std::map<std::pair<CommSite, collective::Event>, SemaphoreId> semaphores_;
};

}  // namespace trnsim
