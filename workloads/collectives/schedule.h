// What each core of a group does in a collective, step by step: which elements of which buffers it sends where, and
// what must have happened before. An algorithm writes schedules; they become programs (emit.h) or, in tests, are
// carried out on tagged elements.
//
// A rank is a logical core of `lanes` physical cores; a member is one physical core, number rank * lanes + lane.
// Buffers belong to a rank, so all its lanes see them. Offsets and counts are in elements.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "models/program/instruction.h"

namespace trnsim {

enum class Collective : std::uint8_t {
  kAllReduce,      ///< sum of everybody's vector of n elements, on every rank
  kAllGather,      ///< rank i gives shard i of the vector; every rank gets all of it
  kReduceScatter,  ///< rank i gets shard i of the sum of everybody's vector
  kAllToAll,       ///< rank i gives shard j of its vector to rank j, as shard i of j's
  kPermute,        ///< rank i gives its vector to rank (i + shift) mod ranks
  kBroadcast,      ///< rank `root` gives its vector to all
  kSendReceive,    ///< rank 0 gives its vector to rank 1 of the group
};

/// By Collective, as users write them.
inline constexpr std::array<std::string_view, 7> kCollectiveNames = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "broadcast", "send_receive"};

namespace collective {

/// kInput and kOutput hold a vector (all-gather: the input holds a shard; reduce-scatter: the output does). kScratch is
/// as large as the algorithm needs. kMetadata holds sizes and places of what others hold.
enum class Buffer : std::uint8_t { kInput, kOutput, kScratch, kMetadata };

/// What a step reads: `times` ranges of the step's length, at first, first + stride, ...; added up if there are
/// several.
struct Operand {
  Buffer buffer = Buffer::kInput;
  std::uint64_t first = 0;
  std::uint64_t stride = 0;
  std::uint32_t times = 0;  ///< 0 = no operand
  bool partner = false;     ///< in the memory of the rank of `Step::partner`
};

/// A counter of a member. All members number theirs alike: event e of a sender's step counts at the receiver.
using Event = std::uint32_t;
inline constexpr Event kNoEvent = std::numeric_limits<Event>::max();
inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

struct Wait {
  Event event = kNoEvent;
  std::uint32_t count = 0;  ///< counts taken away

  auto operator<=>(const Wait&) const = default;
};

/// One message, or one local copy or sum if it goes to the own rank. Its operands are read once all waits are met; what
/// they sum to is written at `destination_first` of `destination` at the receiver. A step of no elements is a signal.
struct Step {
  std::uint32_t to = 0;             ///< member
  std::uint32_t copy_to = kNobody;  ///< member of the same chip as `to` that gets the same: written twice, sent once
  std::uint32_t partner = kNobody;  ///< member of this chip whose memory is read as well
  std::array<Operand, 3> operands{};
  Buffer destination = Buffer::kOutput;
  std::uint64_t destination_first = 0;
  std::uint64_t count = 0;   ///< elements written
  Event arrived = kNoEvent;  ///< counts one at `to` and at `copy_to` when all is written there
  Event sent = kNoEvent;     ///< counts one here when all has left (or, locally, is written)
  /// Steps of one channel of a stream leave in order, and arrive in order at one receiver; channels run side by side.
  std::uint8_t channel = 0;
  std::uint8_t stream = 0;      ///< of the CC-cores, below kStreamCount: steps of one stream are issued in order
  std::array<Wait, 4> waits{};  ///< kNoEvent = unused
};

/// Where the ranks of a group are, and what the fabric between them looks like.
struct Place {
  std::uint32_t ranks = 1;
  std::uint32_t lanes = 1;
  std::vector<std::uint32_t> chip;      ///< by rank; chips are numbered from 0 in order of first appearance
  std::vector<std::uint32_t> instance;  ///< by chip; numbered alike
  /// Orders of all chips in which each is next to its successor, cyclically; no two use a link in the same direction.
  /// Empty for one chip, and where no such order exists.
  std::vector<std::vector<std::uint32_t>> rings;
  /// cube[d][c] = neighbour of chip c along dimension d, if the chips form a hypercube; else empty.
  std::vector<std::vector<std::uint32_t>> cube;
  /// By chip: where it stands, one number per dimension; or empty.
  std::vector<std::vector<std::uint32_t>> coordinates;
  /// By instance, if there are several: its ranks alone, in order of their numbers here.
  std::vector<Place> within;

  [[nodiscard]] std::uint32_t members() const { return ranks * lanes; }
  [[nodiscard]] std::uint32_t member(std::uint32_t rank, std::uint32_t lane) const { return rank * lanes + lane; }
  [[nodiscard]] std::uint32_t chips() const { return static_cast<std::uint32_t>(instance.size()); }
};

struct Algorithm;

/// One message is being handed on while the next one comes.
inline constexpr std::uint32_t kSlots = 2;

/// What is to be done.
struct Task {
  Collective collective = Collective::kAllReduce;
  std::uint64_t elements = 0;  ///< of the whole vector
  /// Elements per shard where they differ: all-gather and reduce-scatter one per rank, all-to-all ranks x ranks, row =
  /// giver; `elements` then says nothing. Empty: as equal as can be, the first ones larger by one.
  std::vector<std::uint64_t> counts;
  std::uint32_t slices = 1;  ///< parts of a chunk that travel one behind the other, where the algorithm slices; >= 1
  /// Messages of a channel and slice that the next rank of a ring has room for; >= kSlots.
  std::uint32_t slots = kSlots;
  std::uint32_t shift = 1;  ///< kPermute
  std::uint32_t root = 0;   ///< kBroadcast
  /// What a hierarchical algorithm runs within an instance and between instances; null: as it likes.
  const Algorithm* inner = nullptr;
  const Algorithm* outer = nullptr;
};

/// What a stream waits for at its end.
struct Last {
  Wait wait;
  std::uint8_t stream = 0;

  auto operator<=>(const Last&) const = default;
};

/// Collects what one member does. Call event() in the same order for every member. Steps of a stream are issued in the
/// order in which they were added: one whose waits are not met holds back all after it, on every channel.
class Script {
 public:
  explicit Script(std::uint32_t member) : member_(member) {}

  [[nodiscard]] std::uint32_t member() const { return member_; }
  /// A new counter, from zero.
  Event event() { return events_++; }
  void add(const Step& step) { steps_.push_back(step); }
  void reserve(std::size_t steps) { steps_.reserve(steps); }
  /// Empty again, for another member.
  void restart(std::uint32_t member) {
    member_ = member;
    events_ = 0;
    steps_.clear();
    last_.clear();
  }
  /// After all steps of the stream: it is at its end when these are met, one after the other, and the member is
  /// finished when all its streams are. Once all lanes of a rank are, nobody touches its buffers any more.
  void finish(Wait wait, std::uint8_t stream = 0) {
    if (wait.count > 0) last_.push_back({wait, stream});
  }

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Last>& last() const { return last_; }
  [[nodiscard]] std::uint32_t events() const { return events_; }

 private:
  std::uint32_t member_;
  std::uint32_t events_ = 0;
  std::vector<Step> steps_;
  std::vector<Last> last_;
};

/// Part `index` of `parts` of [first, first + count): as equal as can be, the first ones larger by one.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
[[nodiscard]] constexpr Part part_of(Part whole, std::uint64_t parts, std::uint64_t index) {
  const std::uint64_t size = whole.count / parts;
  const std::uint64_t larger = whole.count % parts;
  return {whole.first + index * size + (index < larger ? index : larger), size + (index < larger ? 1 : 0)};
}

}  // namespace collective
}  // namespace trnsim
