// Collectives as the CC-cores run them: prebuilt messages between equal cores of the ranks of a group.
//
// With lnc = 2 each physical core exchanges its half of the data with the core of the same index in the peer rank.
// Every message adds one count to a semaphore of the receiver. A group of one rank, or no bytes, emits nothing.
// Data that does not divide by the ranks is cut into shards of ceil(n / ranks) units; the last one is padded.
#pragma once

#include <cstdint>
#include <functional>

#include "workloads/kernels/writer.h"
#include "workloads/settings.h"

namespace trnsim {

/// Ranks in a ring of their numbers; this core's peers at distance 1, 2, ... follow each other in the peer table.
struct CommGroup {
  std::uint32_t size = 1;
  std::uint32_t first_peer = 0;
  [[nodiscard]] std::uint32_t peer(std::uint32_t distance) const { return first_peer + distance - 1; }
};

/// What one group's collectives need.
struct Communicator {
  KernelWriter* writer = nullptr;
  CommGroup group;
  SemaphoreId first_phase = 0;   ///< arrivals: shards to be reduced, dispatched rows
  SemaphoreId second_phase = 0;  ///< arrivals: gathered shards, combined rows
  Space memory = Space::kHbm;
  AllReduce algorithm = AllReduce::kAuto;
  bool in_place = false;  ///< data lie in `memory` already: nothing to bring there or back

  /// Mesh or ring for a collective over `bytes` of one rank.
  [[nodiscard]] bool uses_ring(std::uint64_t bytes) const;
};

/// A communicator with semaphores of its own.
[[nodiscard]] Communicator communicator(KernelWriter& writer, CommGroup group, const Settings& settings);

/// Sum over the group of `units` units of `unit_bytes` on every core. Picks mesh or ring.
Handle all_reduce(const Communicator& c, std::uint64_t units, std::uint64_t unit_bytes, Handle ready);
/// Two steps: every shard to its owner, which adds them up; every sum to everybody. 2 (n-1) shards sent.
Handle mesh_all_reduce(const Communicator& c, std::uint64_t shard_bytes, Handle staged);
/// 2 (n-1) dependent steps to the next rank, adding on the way in the first half. 2 (n-1) shards sent.
Handle ring_all_reduce(const Communicator& c, std::uint64_t shard_bytes, Handle staged);
/// Everybody's `bytes` to everybody. (n-1) * bytes sent.
Handle all_gather(const Communicator& c, std::uint64_t bytes, Handle ready);
/// Sum over the group of n shards of `shard_bytes`, one kept by each rank. (n-1) shards sent.
Handle reduce_scatter(const Communicator& c, std::uint64_t shard_bytes, Handle ready);

/// Rows to every other rank: the number for distance i is register first_count + i - 1 of the segment.
struct RowCounts {
  std::uint32_t first_register = 0;
  std::uint64_t row_bytes = 0;
};
/// Returns a handle on the collective engine once the rows of all peers are here. `arrival` counts them.
Handle all_to_all(const Communicator& c, const RowCounts& rows, SemaphoreId arrival, Handle ready);

/// Closed forms: payload that one rank sends, all its cores together.
[[nodiscard]] std::uint64_t all_reduce_bytes(std::uint32_t ranks, std::uint64_t units, std::uint64_t unit_bytes);
[[nodiscard]] std::uint64_t all_gather_bytes(std::uint32_t ranks, std::uint64_t bytes);

namespace collective {
/// SBUF to the memory that messages leave from, and back.
Handle stage(const Communicator& c, std::uint64_t bytes, Handle ready);
Handle unstage(const Communicator& c, std::uint64_t bytes, Handle arrived);
/// One message to the rank at `distance`.
Handle send(const Communicator& c, std::uint32_t distance, std::uint64_t bytes, std::uint8_t reads, SemaphoreId arrival,
            Handle ready);
/// Waits on the collective engine for `count` arrivals.
Handle arrivals(const Communicator& c, SemaphoreId arrival, std::uint32_t count);
/// Adds `sources` shards in local memory.
Handle sum(const Communicator& c, std::uint32_t sources, std::uint64_t bytes, Handle ready);
}  // namespace collective

}  // namespace trnsim
