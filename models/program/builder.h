// Writes programs: allocates semaphores, keeps waits and signals balanced, checks on-chip capacity.
//
// A kernel states what depends on what; the builder turns each dependence between two engines (or a DMA
// queue and an engine) into one counting semaphore per (producer, consumer) pair. Both sides are in order,
// so a count is enough. Every signal is taken by exactly one wait inside the same loop body, hence loops
// whose trip count is data need no special case.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/program/program.h"

namespace trnsim {

/// Completion of an earlier instruction or transfer, as something to depend on.
struct Handle {
  /// Whether there is anything to wait for.
  [[nodiscard]] bool valid() const { return producer >= 0; }

  std::int32_t producer = -1;  ///< engine, or kEngineCount + queue for a transfer; -1 = nothing
  std::uint32_t position = 0;  ///< instruction that produces it, within its engine's list
  std::uint32_t engine = 0;    ///< engine whose list holds that instruction
  std::uint32_t scope = 0;     ///< loop body in which it was emitted
};

/// A ring of equal buffers in SBUF or PSUM: the producer acquires a free one, the consumer releases it.
struct BufferRing {
  SemaphoreId free_slots = 0;
};

/// Of one engine in one segment: what a host has memory for.
inline constexpr std::uint64_t kMostInstructions = std::uint64_t{1} << 21;
/// Throws InfeasibleError if `instructions` of one engine are more than that. Each one appended is checked; a kernel
/// that knows its number asks before it writes the first.
void check_written_out(std::uint64_t instructions);

class ProgramBuilder;

/// Writes one segment. Instructions of one engine run in the order of emission.
class SegmentBuilder {
 public:
  /// Names the operator that following instructions belong to.
  void operator_is(const std::string& name);

  /// Appends `instruction` to `engine`, to start after all `after` have completed.
  Handle emit(Engine engine, Instruction instruction, std::span<const Handle> after = {});
  Handle emit(Engine engine, Instruction instruction, std::initializer_list<Handle> after) {
    return emit(engine, instruction, std::span<const Handle>(after.begin(), after.size()));
  }

  /// Starts a DMA transfer from `engine`'s list; the handle is the transfer's completion on its queue.
  /// REQUIRES: all transfers of one queue are started by one engine.
  Handle dma(Engine engine, const Transfer& transfer, Count repeat, std::span<const Handle> after = {});
  Handle dma(Engine engine, const Transfer& transfer, Count repeat, std::initializer_list<Handle> after) {
    return dma(engine, transfer, repeat, std::span<const Handle>(after.begin(), after.size()));
  }

  /// Makes the next instruction emitted on `engine` wait for `count` of `semaphore`.
  void wait(Engine engine, SemaphoreId semaphore, std::uint32_t count);
  /// Adds `count` to `semaphore` when `handle` completes.
  void signal(Handle handle, SemaphoreId semaphore, std::uint32_t count = 1);

  /// The next instruction emitted on `engine` first takes a free buffer of `ring`.
  void acquire(Engine engine, BufferRing ring) { wait(engine, ring.free_slots, 1); }
  /// The buffer is free again once `handle` completes.
  void release(Handle handle, BufferRing ring) { signal(handle, ring.free_slots); }

  /// Repeats what `body` emits `trips` times on every engine it uses. Count::indexed registers inside read
  /// their element by the counter of the innermost loop.
  /// A handle from outside is waited for once, before the loop; a handle from inside must not be used after
  /// it: use the handle that loop() returns for an engine, which completes when its last trip has.
  /// A transfer from inside that later code needs must be waited for inside the loop.
  struct LoopExit {
    std::array<Handle, kEngineCount> after;  ///< by Engine
    [[nodiscard]] Handle on(Engine engine) const { return after[static_cast<std::size_t>(engine)]; }
  };
  LoopExit loop(Count trips, const std::function<void()>& body);

  /// Registers of this segment's frame. `reserve_registers(n)` returns the first of n.
  std::uint32_t reserve_registers(std::uint32_t count);

 private:
  friend class ProgramBuilder;
  SegmentBuilder(ProgramBuilder& program, Segment& segment) : program_(program), segment_(segment) {}

  struct Scope {
    std::uint32_t id = 0;
    Count trips;
    std::array<std::int64_t, kEngineCount> begin = none();  ///< position of LoopBegin, -1 = not used

    static constexpr std::array<std::int64_t, kEngineCount> none() {
      std::array<std::int64_t, kEngineCount> begin{};
      begin.fill(-1);
      return begin;
    }
  };
  /// A finished loop in which a consumer took counts of a producer: later waits must not overtake those inside.
  struct ClosedLoop {
    std::uint32_t producer_begin = 0;
    std::uint32_t consumer_begin = 0;
  };
  using PairInScope = std::tuple<std::uint32_t, std::int32_t, std::uint32_t>;  ///< scope, producer, consumer

  [[nodiscard]] std::vector<Instruction>& list(Engine engine);
  [[nodiscard]] std::uint32_t current_scope() const { return open_.empty() ? 0 : open_.back().id; }
  Handle append(Engine engine, Instruction instruction, std::int32_t producer, std::span<const Handle> after);
  void open_loops(Engine engine);
  [[nodiscard]] std::int64_t anchor(Engine consumer, Handle handle) const;
  void depend(Engine consumer, std::vector<SemaphoreUse>& waits, Handle handle);
  void add_signal(Handle handle, SemaphoreId semaphore, std::uint32_t count);
  void add_wait(Instruction& instruction, SemaphoreId semaphore, std::uint32_t count) const;
  LoopExit close_loop();

  ProgramBuilder& program_;
  Segment& segment_;
  std::uint16_t operator_id_ = 0;
  std::uint32_t next_scope_ = 1;
  std::vector<Scope> open_;
  std::map<PairInScope, std::uint32_t> waited_;  ///< newest producing position waited for, plus one
  std::map<PairInScope, std::vector<ClosedLoop>> closed_;
  std::array<std::vector<SemaphoreUse>, kEngineCount> pending_waits_;
};

/// Owns the program under construction.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name);

  /// A semaphore for what dependences cannot say: hand-over between segments, arrivals from other cores.
  SemaphoreId semaphore(WaitReason reason, std::uint32_t initial = 0);
  /// `depth` buffers of `bytes_per_partition` in SBUF.
  BufferRing sbuf_ring(Bytes bytes_per_partition, std::uint32_t depth);
  /// `depth` buffers of `bytes_per_partition` in PSUM.
  BufferRing psum_ring(Bytes bytes_per_partition, std::uint32_t depth);
  /// SBUF held for the whole program.
  void reserve_sbuf(Bytes bytes_per_partition);

  /// Appends a segment and returns its index; `write` emits its instructions.
  std::uint32_t segment(const std::string& name, const std::function<void(SegmentBuilder&)>& write);
  /// Appends a call; its registers follow those of the calls before. Returns the first register. `launch`: the call is
  /// a program of its own that starts when everything before has ended.
  std::uint32_t call(std::uint32_t segment, bool launch = false);

  /// What the program holds in each partition so far.
  [[nodiscard]] Bytes sbuf_per_partition() const { return program_->sbuf_per_partition; }
  [[nodiscard]] Bytes psum_per_partition() const { return program_->psum_per_partition; }

  /// The finished program. REQUIRES: called once.
  std::shared_ptr<const Program> finish();

 private:
  friend class SegmentBuilder;
  SemaphoreId pair_semaphore(std::int32_t producer, Engine consumer);
  std::uint16_t operator_id(const std::string& name);
  void queue_is_issued_by(std::uint8_t queue, Engine engine);

  std::shared_ptr<Program> program_;
  std::map<std::pair<std::int32_t, std::uint32_t>, SemaphoreId> pairs_;
  std::map<std::string, std::uint16_t> operator_ids_;
  std::map<std::uint8_t, Engine> queue_owners_;
  std::uint32_t next_frame_ = 0;
};

}  // namespace trnsim
