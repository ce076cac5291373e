// A step becomes one prebuilt transfer of the stream that issues it (several, if it sums more sources than one
// descriptor reads); an event becomes a semaphore; a channel of a stream becomes a DMA queue.
#include "workloads/collectives/emit.h"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "models/mechanism/error.h"
#include "models/program/builder.h"

namespace trnsim::collective {
namespace {

constexpr std::uint32_t kSumSources = 16;  // sources of one reducing copy, AWS Neuron DMA documentation
constexpr std::uint32_t kMostCounts = std::numeric_limits<std::uint16_t>::max();

/// Numbers the members that one member's steps name, in order of appearance.
class Peers {
 public:
  std::uint32_t slot(std::uint32_t member) {
    if (member >= slots_.size()) slots_.resize(member + std::size_t{1}, kNone);
    if (slots_[member] == kNone) {
      slots_[member] = static_cast<std::uint32_t>(members_.size());
      members_.push_back(member);
    }
    return slots_[member];
  }
  [[nodiscard]] const std::vector<std::uint32_t>& members() const { return members_; }
  void clear() {
    for (const std::uint32_t member : members_) slots_[member] = kNone;
    members_.clear();
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> slots_;  ///< by member
  std::vector<std::uint32_t> members_;
};

/// What of a step makes a program: no addresses, partners by slot.
struct Shape {
  std::uint32_t to = kSelf, copy_to = kSelf, partner = kSelf;
  std::uint32_t reads = 0, partner_reads = 0;
  std::uint64_t count = 0;
  Event arrived = kNoEvent, sent = kNoEvent;
  std::uint8_t stream = 0, channel = 0;
  std::array<Wait, 4> waits{};

  auto operator<=>(const Shape&) const = default;
};

Shape shape_of(const Step& step, std::uint32_t self, Peers& peers) {
  Shape shape;
  if (step.to != self) shape.to = peers.slot(step.to);
  if (step.copy_to != kNobody) shape.copy_to = peers.slot(step.copy_to);
  if (step.partner != kNobody) shape.partner = peers.slot(step.partner);
  for (const Operand& operand : step.operands) (operand.partner ? shape.partner_reads : shape.reads) += operand.times;
  shape.count = step.count;
  shape.arrived = step.arrived;
  shape.sent = step.sent;
  shape.stream = step.stream;
  shape.channel = step.channel;
  shape.waits = step.waits;
  return shape;
}

/// All that a program depends on.
struct Outline {
  std::vector<Shape> shapes;
  std::vector<Last> last;

  auto operator<=>(const Outline&) const = default;
};

/// Writes the steps of one member into a segment.
class Writer {
 public:
  Writer(const MachineSpec& machine, const Operands& operands, ProgramBuilder& program, SegmentBuilder& segment,
         std::uint32_t events)
      : machine_(machine), operands_(operands), segment_(segment) {
    for (Event e = 0; e < events; ++e) semaphores_.push_back(program.semaphore(WaitReason::kCollective));
  }

  void step(const Shape& shape) {
    const Engine engine = stream(shape.stream);
    wait(engine, shape.waits);
    Transfer transfer;
    transfer.bytes_per_repeat = Bytes(shape.count * operands_.element_bytes);
    transfer.descriptors_per_repeat = descriptors(transfer.bytes_per_repeat);
    transfer.queue = queue_of(shape);
    transfer.generation = DescriptorGeneration::kPrebuilt;
    transfer.traffic = Traffic::kCollective;
    transfer.source = transfer.destination = operands_.memory;
    transfer.chained = shape.to == kSelf;
    add_up_first(engine, transfer, shape);
    transfer.peer = shape.to;
    transfer.copy_peer = shape.copy_to;
    transfer.partner = shape.partner;
    transfer.partner_reads = static_cast<std::uint8_t>(shape.partner_reads);
    if (shape.arrived != kNoEvent) transfer.on_delivery = {semaphores_[shape.arrived], 1};
    const Handle sent = segment_.dma(engine, transfer, Count::constant(1));
    pending_[static_cast<std::size_t>(engine)] = 0;
    if (shape.sent != kNoEvent) segment_.signal(sent, semaphores_[shape.sent]);
  }

  /// Nothing on `streams` starts before the input is in the working buffer.
  void copy_in(ProgramBuilder& program, const std::set<std::uint8_t>& streams) {
    if (operands_.copied_in == 0) return;
    const Handle copied = copy(operands_.copied_in, {});
    for (const std::uint8_t s : streams) {
      const SemaphoreId ready = program.semaphore(WaitReason::kDma);
      segment_.signal(copied, ready);
      segment_.wait(stream(s), ready, 1);
      pending_[static_cast<std::size_t>(stream(s))] = 1;
    }
  }

  void finish(std::span<const Last> last) {
    std::array<bool, kStreamCount> waits{};
    for (const Last& end : last) {
      take(stream(end.stream), end.wait);
      waits[end.stream] = true;
    }
    std::vector<Handle> ends;
    for (std::uint8_t s = 0; s < kStreamCount; ++s) {
      if (waits[s]) ends.push_back(segment_.emit(stream(s), Instruction{}));
    }
    if (operands_.copied_out > 0) copy(operands_.copied_out, ends);
  }

 private:
  Handle copy(std::uint64_t elements, std::span<const Handle> after) {
    Transfer transfer;
    transfer.bytes_per_repeat = Bytes(elements * operands_.element_bytes);
    transfer.descriptors_per_repeat = descriptors(transfer.bytes_per_repeat);
    transfer.generation = DescriptorGeneration::kPrebuilt;
    transfer.traffic = Traffic::kCollective;
    transfer.source = transfer.destination = operands_.memory;
    return segment_.dma(Engine::kCollective, transfer, Count::constant(1), after);
  }

  /// All but the last sources into one, in the receiver's place; leaves in `transfer` how many are left to read.
  void add_up_first(Engine engine, Transfer& transfer, const Shape& shape) {
    std::uint32_t left = shape.reads;
    while (left > kSumSources) {
      transfer.reads = kSumSources;
      segment_.dma(engine, transfer, Count::constant(1));
      left -= kSumSources - 1;
    }
    transfer.reads = static_cast<std::uint8_t>(left);
  }

  void wait(Engine engine, std::span<const Wait> waits) {
    for (const Wait& wait : waits) {
      if (wait.event != kNoEvent) take(engine, wait);
    }
  }

  void take(Engine engine, const Wait& wait) {
    std::uint32_t left = wait.count;
    for (; left > kMostCounts; left -= kMostCounts) take_at_once(engine, wait.event, kMostCounts);
    if (left > 0) take_at_once(engine, wait.event, left);
  }

  // An instruction takes a few semaphores; further ones are taken by one that does nothing else.
  void take_at_once(Engine engine, Event event, std::uint32_t count) {
    std::size_t& pending = pending_[static_cast<std::size_t>(engine)];
    if (pending == kWaitsAtOnce) {
      segment_.emit(engine, Instruction{});
      pending = 0;
    }
    segment_.wait(engine, semaphores_[event], count);
    ++pending;
  }

  [[nodiscard]] std::uint32_t descriptors(Bytes bytes) const {
    if (bytes.count() == 0) return 1;
    const std::uint64_t spread = std::min<std::uint64_t>(machine_.dma.engines, ceil_div(bytes.count(), kSmallest));
    const std::uint64_t each = ceil_div(ceil_div(bytes.count(), spread), machine_.dma.max_descriptor.count());
    const std::uint64_t all = spread * each;
    if (all > machine_.dma.ring_descriptors) {
      throw InfeasibleError("a message of " + std::to_string(bytes.count()) + " bytes needs " + std::to_string(all) +
                            " descriptors, a ring holds " + std::to_string(machine_.dma.ring_descriptors));
    }
    return static_cast<std::uint32_t>(all);
  }

  [[nodiscard]] std::uint8_t queue_of(const Shape& shape) const {
    const std::size_t per_stream = machine_.dma.queues_per_engine / kStreamCount;
    check(per_stream > 0, "every stream has a DMA queue");
    return static_cast<std::uint8_t>(shape.stream * per_stream + shape.channel % per_stream);
  }

  /// Bytes below which DMA is bound by descriptors (NKI DMA bandwidth guide).
  static constexpr std::uint64_t kSmallest = 512;
  static constexpr std::size_t kWaitsAtOnce = 4;

  const MachineSpec& machine_;
  const Operands& operands_;
  SegmentBuilder& segment_;
  std::vector<SemaphoreId> semaphores_;
  std::array<std::size_t, kEngineCount> pending_{};
};

}  // namespace

struct Emitter::Programs {
  std::map<Outline, std::shared_ptr<const Program>> by_outline;
  // Of the member at hand; they keep their room from one to the next.
  Outline outline;
  Peers peers;
};

Emitter::Emitter(const MachineSpec& machine, const Operands& operands, std::string name,
                 std::function<CoreId(std::uint32_t)> core_of)
    : machine_(machine),
      operands_(operands),
      name_(std::move(name)),
      core_of_(std::move(core_of)),
      programs_(std::make_unique<Programs>()) {}

Emitter::~Emitter() = default;

CoreJob Emitter::job_of(const Script& script) {
  auto& [by_outline, outline, peers] = *programs_;
  peers.clear();
  outline.shapes.clear();
  for (const Step& step : script.steps()) outline.shapes.push_back(shape_of(step, script.member(), peers));
  outline.last = script.last();
  auto found = by_outline.find(outline);
  if (found == by_outline.end()) found = by_outline.emplace(outline, program_of(script)).first;
  CoreJob job{found->second, {}, {}};
  job.peers.reserve(peers.members().size());
  for (const std::uint32_t member : peers.members()) job.peers.push_back(core_of_(member));
  return job;
}

std::shared_ptr<const Program> Emitter::program_of(const Script& script) const {
  const std::vector<Shape>& shapes = programs_->outline.shapes;
  ProgramBuilder builder(name_);
  builder.call(builder.segment(name_, [&](SegmentBuilder& segment) {
    segment.operator_is(name_);
    Writer writer(machine_, operands_, builder, segment, script.events());
    std::set<std::uint8_t> streams;
    for (const Shape& shape : shapes) streams.insert(shape.stream);
    writer.copy_in(builder, streams);
    for (const Shape& shape : shapes) writer.step(shape);
    writer.finish(script.last());
  }));
  return builder.finish();
}

}  // namespace trnsim::collective
