#include "models/program/builder.h"

#include <algorithm>
#include <string>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

std::size_t index_of(Engine engine) {
  return static_cast<std::size_t>(engine);
}

// A transfer's completion belongs to its queue, an instruction's to its engine.
std::int32_t producer_of(Engine engine) {
  return static_cast<std::int32_t>(engine);
}
std::int32_t producer_of(std::uint8_t queue) {
  return static_cast<std::int32_t>(kEngineCount) + queue;
}
bool is_queue(std::int32_t producer) {
  return producer >= static_cast<std::int32_t>(kEngineCount);
}

void merge(std::vector<SemaphoreUse>& waits, SemaphoreUse use) {
  for (SemaphoreUse& wait : waits) {
    if (wait.semaphore != use.semaphore) continue;
    wait.count = static_cast<std::uint16_t>(wait.count + use.count);
    return;
  }
  waits.push_back(use);
}

SemaphoreUse use_of(SemaphoreId semaphore, std::uint32_t count) {
  check(count <= UINT16_MAX, "a semaphore count fits 16 bits");
  return {semaphore, static_cast<std::uint16_t>(count)};
}

}  // namespace

void check_written_out(std::uint64_t instructions) {
  if (instructions <= kMostInstructions) return;
  throw InfeasibleError("the program needs more than " + std::to_string(kMostInstructions) +
                        " instructions of one engine written out; ask for a smaller shape");
}

std::vector<Instruction>& SegmentBuilder::list(Engine engine) {
  return segment_.instructions[index_of(engine)];
}

void SegmentBuilder::operator_is(const std::string& name) {
  operator_id_ = program_.operator_id(name);
}

Handle SegmentBuilder::emit(Engine engine, Instruction instruction, std::span<const Handle> after) {
  check(instruction.op != Op::kDma, "transfers are started by dma()");
  return append(engine, instruction, producer_of(engine), after);
}

Handle SegmentBuilder::dma(Engine engine, const Transfer& transfer, Count repeat, std::span<const Handle> after) {
  program_.queue_is_issued_by(transfer.queue, engine);
  Instruction instruction;
  instruction.op = Op::kDma;
  instruction.repeat = repeat;
  instruction.transfer = static_cast<std::uint32_t>(segment_.transfers.size());
  segment_.transfers.push_back(transfer);
  return append(engine, instruction, producer_of(transfer.queue), after);
}

Handle SegmentBuilder::append(Engine engine, Instruction instruction, std::int32_t producer,
                              std::span<const Handle> after) {
  open_loops(engine);
  std::vector<SemaphoreUse> waits = std::exchange(pending_waits_[index_of(engine)], {});
  for (const Handle& handle : after) depend(engine, waits, handle);
  instruction.operator_id = operator_id_;
  std::vector<Instruction>& instructions = list(engine);
  check_written_out(instructions.size() + 1);
  std::size_t next = 0;
  while (waits.size() - next > kMaxWaits) {  // more than one instruction can hold: control instructions go before
    Instruction nop;
    nop.operator_id = operator_id_;
    for (std::size_t i = 0; i < kMaxWaits; ++i, ++next) add_wait(nop, waits[next].semaphore, waits[next].count);
    instructions.push_back(nop);
  }
  for (; next < waits.size(); ++next) add_wait(instruction, waits[next].semaphore, waits[next].count);
  instructions.push_back(instruction);
  return {producer, static_cast<std::uint32_t>(instructions.size() - 1), static_cast<std::uint32_t>(engine),
          current_scope()};
}

void SegmentBuilder::open_loops(Engine engine) {
  for (Scope& scope : open_) {
    std::int64_t& begin = scope.begin[index_of(engine)];
    if (begin >= 0) continue;
    Instruction instruction;
    instruction.op = Op::kLoopBegin;
    instruction.repeat = scope.trips;
    instruction.operator_id = operator_id_;
    begin = static_cast<std::int64_t>(list(engine).size());
    list(engine).push_back(instruction);
  }
}

// Where the wait for `handle` goes: -1 = at the instruction about to be emitted, else at the begin of the loop
// that lies between the handle's scope and the present one.
std::int64_t SegmentBuilder::anchor(Engine consumer, Handle handle) const {
  if (handle.scope == current_scope()) return -1;
  for (std::size_t depth = 0; depth < open_.size(); ++depth) {
    const std::uint32_t parent = depth == 0 ? 0 : open_[depth - 1].id;
    if (parent == handle.scope) return open_[depth].begin[index_of(consumer)];
  }
  throw InvariantError("a handle from inside a loop is not used after it");
}

void SegmentBuilder::depend(Engine consumer, std::vector<SemaphoreUse>& waits, Handle handle) {
  if (!handle.valid() || handle.producer == producer_of(consumer)) return;  // an engine runs its own list in order
  const PairInScope pair{handle.scope, handle.producer, static_cast<std::uint32_t>(consumer)};
  std::int64_t at = anchor(consumer, handle);
  std::uint32_t& newest = waited_[pair];
  if (newest > handle.position) return;
  newest = handle.position + 1;
  // A count taken inside an earlier loop must not be the one that this handle adds: wait before that loop.
  for (const ClosedLoop& loop : closed_[pair]) {
    if (loop.producer_begin <= handle.position) continue;
    at = at < 0 ? loop.consumer_begin : std::min<std::int64_t>(at, loop.consumer_begin);
    break;
  }
  const SemaphoreId semaphore = program_.pair_semaphore(handle.producer, consumer);
  add_signal(handle, semaphore, 1);
  if (at < 0) {
    merge(waits, use_of(semaphore, 1));
  } else {
    add_wait(list(consumer)[static_cast<std::size_t>(at)], semaphore, 1);
  }
}

void SegmentBuilder::add_wait(Instruction& instruction, SemaphoreId semaphore, std::uint32_t count) const {
  for (std::size_t i = 0; i < instruction.wait_count; ++i) {
    if (instruction.waits[i].semaphore != semaphore) continue;
    instruction.waits[i] = use_of(semaphore, instruction.waits[i].count + count);
    return;
  }
  check(instruction.wait_count < kMaxWaits, "a loop begin has room for its waits");
  instruction.waits[instruction.wait_count++] = use_of(semaphore, count);
}

void SegmentBuilder::add_signal(Handle handle, SemaphoreId semaphore, std::uint32_t count) {
  const auto engine = static_cast<Engine>(handle.engine);
  Instruction* instruction = &list(engine)[handle.position];
  for (std::size_t i = 0; i < instruction->signal_count; ++i) {
    if (instruction->signals[i].semaphore != semaphore) continue;
    instruction->signals[i] = use_of(semaphore, instruction->signals[i].count + count);
    return;
  }
  if (instruction->signal_count == kMaxSignals) {  // a later control instruction of the same engine signals instead
    check(!is_queue(handle.producer) && handle.scope == current_scope(), "a transfer has room for its signals");
    Instruction nop;
    nop.operator_id = operator_id_;
    list(engine).push_back(nop);
    instruction = &list(engine).back();
  }
  instruction->signals[instruction->signal_count++] = use_of(semaphore, count);
}

void SegmentBuilder::wait(Engine engine, SemaphoreId semaphore, std::uint32_t count) {
  if (count > 0) merge(pending_waits_[index_of(engine)], use_of(semaphore, count));
}

void SegmentBuilder::signal(Handle handle, SemaphoreId semaphore, std::uint32_t count) {
  check(handle.valid(), "a signal comes from an instruction or a transfer");
  if (count > 0) add_signal(handle, semaphore, count);
}

SegmentBuilder::LoopExit SegmentBuilder::loop(Count trips, const std::function<void()>& body) {
  for (const auto& pending : pending_waits_) check(pending.empty(), "waits are taken before a loop begins");
  Scope scope;
  scope.id = next_scope_++;
  scope.trips = trips;
  open_.push_back(scope);
  body();
  return close_loop();
}

SegmentBuilder::LoopExit SegmentBuilder::close_loop() {
  const Scope scope = open_.back();
  for (const auto& pending : pending_waits_) check(pending.empty(), "waits inside a loop are taken inside it");
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    if (scope.begin[e] < 0) continue;
    std::vector<Instruction>& instructions = segment_.instructions[e];
    Instruction end;
    end.op = Op::kLoopEnd;
    end.operator_id = operator_id_;
    end.transfer = static_cast<std::uint32_t>(scope.begin[e]);
    instructions[static_cast<std::size_t>(scope.begin[e])].transfer = static_cast<std::uint32_t>(instructions.size());
    instructions.push_back(end);
  }
  open_.pop_back();
  // Whatever was waited for inside, in this loop or in loops within it, counts for the enclosing scope.
  std::vector<std::pair<PairInScope, ClosedLoop>> inside;
  for (const auto& [pair, newest] : waited_) {
    const auto& [id, producer, consumer] = pair;
    if (id < scope.id) continue;
    const std::size_t issuer = is_queue(producer) ? index_of(program_.queue_owners_.at(static_cast<std::uint8_t>(
                                                        producer - static_cast<std::int32_t>(kEngineCount))))
                                                  : static_cast<std::size_t>(producer);
    inside.push_back({PairInScope{current_scope(), producer, consumer},
                      ClosedLoop{static_cast<std::uint32_t>(scope.begin[issuer]),
                                 static_cast<std::uint32_t>(scope.begin[consumer])}});
  }
  for (const auto& [pair, loop] : inside) closed_[pair].push_back(loop);
  std::erase_if(waited_, [&](const auto& entry) { return std::get<0>(entry.first) >= scope.id; });
  std::erase_if(closed_, [&](const auto& entry) { return std::get<0>(entry.first) >= scope.id; });
  LoopExit exit;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    if (scope.begin[e] >= 0) exit.after[e] = emit(static_cast<Engine>(e), Instruction{});
  }
  return exit;
}

std::uint32_t SegmentBuilder::reserve_registers(std::uint32_t count) {
  const std::uint32_t first = segment_.registers;
  segment_.registers += count;
  return first;
}

ProgramBuilder::ProgramBuilder(std::string name) : program_(std::make_shared<Program>()) {
  program_->name = std::move(name);
  operator_id("other");  // instructions before the first operator_is()
}

SemaphoreId ProgramBuilder::semaphore(WaitReason reason, std::uint32_t initial) {
  check(program_->semaphores.size() < UINT16_MAX, "semaphore numbers fit 16 bits");
  program_->semaphores.push_back({initial, reason});
  return static_cast<SemaphoreId>(program_->semaphores.size() - 1);
}

BufferRing ProgramBuilder::sbuf_ring(Bytes bytes_per_partition, std::uint32_t depth) {
  program_->sbuf_per_partition += bytes_per_partition * depth;
  return {semaphore(WaitReason::kBuffer, depth)};
}

BufferRing ProgramBuilder::psum_ring(Bytes bytes_per_partition, std::uint32_t depth) {
  program_->psum_per_partition += bytes_per_partition * depth;
  return {semaphore(WaitReason::kBuffer, depth)};
}

void ProgramBuilder::reserve_sbuf(Bytes bytes_per_partition) {
  program_->sbuf_per_partition += bytes_per_partition;
}

std::uint32_t ProgramBuilder::segment(const std::string& name, const std::function<void(SegmentBuilder&)>& write) {
  program_->segments.emplace_back();
  Segment segment;
  segment.name = name;
  SegmentBuilder builder(*this, segment);
  write(builder);
  for (const auto& pending : builder.pending_waits_) check(pending.empty(), "every wait is taken by an instruction");
  program_->segments.back() = std::move(segment);
  return static_cast<std::uint32_t>(program_->segments.size() - 1);
}

std::uint32_t ProgramBuilder::call(std::uint32_t segment, bool launch) {
  const std::uint32_t frame = next_frame_;
  program_->calls.push_back({segment, frame, launch});
  next_frame_ += program_->segments[segment].registers;
  return frame;
}

std::shared_ptr<const Program> ProgramBuilder::finish() {
  return std::move(program_);
}

SemaphoreId ProgramBuilder::pair_semaphore(std::int32_t producer, Engine consumer) {
  const auto key = std::make_pair(producer, static_cast<std::uint32_t>(consumer));
  const auto found = pairs_.find(key);
  if (found != pairs_.end()) return found->second;
  const SemaphoreId id = semaphore(is_queue(producer) ? WaitReason::kDma : WaitReason::kEngine);
  pairs_.emplace(key, id);
  return id;
}

std::uint16_t ProgramBuilder::operator_id(const std::string& name) {
  const auto found = operator_ids_.find(name);
  if (found != operator_ids_.end()) return found->second;
  const auto id = static_cast<std::uint16_t>(program_->operators.size());
  program_->operators.push_back(name);
  operator_ids_.emplace(name, id);
  return id;
}

void ProgramBuilder::queue_is_issued_by(std::uint8_t queue, Engine engine) {
  program_->dma_queues = std::max(program_->dma_queues, queue + 1U);
  const auto [owner, added] = queue_owners_.emplace(queue, engine);
  check(added || owner->second == engine, "the transfers of one queue are started by one engine");
}

}  // namespace trnsim
