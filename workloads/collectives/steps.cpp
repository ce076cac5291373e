#include "workloads/collectives/steps.h"

#include <algorithm>
#include <limits>
#include <string>

#include "models/mechanism/error.h"

namespace trnsim::collective {
namespace {

constexpr std::uint32_t kSumSources = 16;  // sources of one reducing copy, AWS Neuron DMA documentation
constexpr std::uint32_t kMostCounts = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kWaitsAtOnce = 4;  // of one instruction
/// Bytes below which DMA is bound by descriptors (NKI DMA bandwidth guide).
constexpr std::uint64_t kSmallest = 512;

Shape shape_of(const Step& step, std::uint32_t self, const std::function<CoreId(std::uint32_t)>& core_of,
               Peers& peers) {
  Shape shape;
  if (step.to != self) shape.to = peers.slot(core_of(step.to));
  if (step.copy_to != kNobody) shape.copy_to = peers.slot(core_of(step.copy_to));
  if (step.partner != kNobody) shape.partner = peers.slot(core_of(step.partner));
  for (const Operand& operand : step.operands) (operand.partner ? shape.partner_reads : shape.reads) += operand.times;
  shape.count = step.count;
  shape.arrived = step.arrived;
  shape.sent = step.sent;
  shape.stream = step.stream;
  shape.channel = step.channel;
  shape.waits = step.waits;
  return shape;
}

class Writer {
 public:
  Writer(const StepStyle& style, const MachineSpec& machine, SegmentBuilder& segment,
         std::span<const SemaphoreId> semaphores, Handle ready)
      : style_(style), machine_(machine), segment_(segment), semaphores_(semaphores), ready_(ready) {}

  void step(const Shape& shape) {
    const Engine engine = stream(shape.stream);
    begin(engine);
    for (const Wait& wait : shape.waits) {
      if (wait.event != kNoEvent) take(engine, wait);
    }
    Transfer transfer = prebuilt(style_.memory, Bytes(shape.count * style_.element_bytes));
    transfer.descriptors_per_repeat = message_descriptors(machine_, transfer.bytes_per_repeat);
    transfer.queue = style_.queue_of(shape.stream, shape.channel);
    transfer.chained = shape.to == kSelf;
    add_up_first(engine, transfer, shape);
    transfer.peer = shape.to;
    transfer.copy_peer = shape.copy_to;
    transfer.partner = shape.partner;
    transfer.partner_reads = static_cast<std::uint8_t>(shape.partner_reads);
    if (shape.arrived != kNoEvent) transfer.on_delivery = {semaphores_[shape.arrived], 1};
    const Handle sent = issue(engine, transfer);
    if (shape.sent != kNoEvent) segment_.signal(sent, semaphores_[shape.sent]);
  }

  std::vector<Handle> finish(std::span<const Last> last) {
    std::array<bool, kStreamCount> waits{};
    for (const Last& end : last) {
      take(stream(end.stream), end.wait);
      waits[end.stream] = true;
    }
    std::vector<Handle> ends;
    for (std::uint8_t s = 0; s < kStreamCount; ++s) {
      if (waits[s]) ends.push_back(segment_.emit(stream(s), Instruction{}));
    }
    return ends;
  }

 private:
  /// The first instruction of a stream waits for what was ready before.
  void begin(Engine engine) {
    const auto index = static_cast<std::size_t>(engine);
    if (begun_[index] || !ready_.valid()) return;
    begun_[index] = waits_for_ready_[index] = true;
    pending_[index] = 1;
  }

  std::span<const Handle> after(Engine engine) {
    bool& waits = waits_for_ready_[static_cast<std::size_t>(engine)];
    const std::span<const Handle> ready(&ready_, waits ? 1 : 0);
    waits = false;
    pending_[static_cast<std::size_t>(engine)] = 0;
    return ready;
  }

  Handle issue(Engine engine, const Transfer& transfer) {
    return segment_.dma(engine, transfer, Count::constant(1), after(engine));
  }

  /// All but the last sources into one, in the receiver's place; leaves in `transfer` how many are left to read.
  void add_up_first(Engine engine, Transfer& transfer, const Shape& shape) {
    std::uint32_t left = shape.reads;
    while (left > kSumSources) {
      transfer.reads = kSumSources;
      issue(engine, transfer);
      left -= kSumSources - 1;
    }
    transfer.reads = static_cast<std::uint8_t>(left);
  }

  void take(Engine engine, const Wait& wait) {
    std::uint32_t left = wait.count;
    for (; left > kMostCounts; left -= kMostCounts) take_at_once(engine, wait.event, kMostCounts);
    if (left > 0) take_at_once(engine, wait.event, left);
  }

  // An instruction takes a few semaphores; further ones are taken by one that does nothing else.
  void take_at_once(Engine engine, Event event, std::uint32_t count) {
    std::size_t& pending = pending_[static_cast<std::size_t>(engine)];
    if (pending == kWaitsAtOnce) segment_.emit(engine, Instruction{}, after(engine));
    segment_.wait(engine, semaphores_[event], count);
    ++pending;
  }

  const StepStyle& style_;
  const MachineSpec& machine_;
  SegmentBuilder& segment_;
  std::span<const SemaphoreId> semaphores_;
  Handle ready_;
  std::array<std::size_t, kEngineCount> pending_{};  ///< waits of the next instruction
  std::array<bool, kEngineCount> begun_{}, waits_for_ready_{};
};

}  // namespace

std::uint32_t Peers::slot(CoreId core) {
  if (core.index() >= slots_.size()) slots_.resize(core.index() + 1, kNone);
  std::uint32_t& slot = slots_[core.index()];
  if (slot == kNone) {
    slot = first_ + static_cast<std::uint32_t>(cores_.size());
    cores_.push_back(core);
  }
  return slot;
}

void Peers::clear() {
  for (const CoreId core : cores_) slots_[core.index()] = kNone;
  cores_.clear();
}

void outline_of(const Script& script, const std::function<CoreId(std::uint32_t)>& core_of, Peers& peers,
                Outline& outline) {
  outline.shapes.clear();
  for (const Step& step : script.steps()) outline.shapes.push_back(shape_of(step, script.member(), core_of, peers));
  outline.last = script.last();
  outline.events = script.events();
}

std::vector<Handle> write_steps(const Outline& outline, const StepStyle& style, const MachineSpec& machine,
                                SegmentBuilder& segment, std::span<const SemaphoreId> semaphores, Handle ready) {
  Writer writer(style, machine, segment, semaphores, ready);
  for (const Shape& shape : outline.shapes) writer.step(shape);
  return writer.finish(outline.last);
}

Transfer prebuilt(Space memory, Bytes bytes) {
  Transfer transfer;
  transfer.bytes_per_repeat = bytes;
  transfer.generation = DescriptorGeneration::kPrebuilt;
  transfer.traffic = Traffic::kCollective;
  transfer.source = transfer.destination = memory;
  return transfer;
}

std::uint32_t message_descriptors(const MachineSpec& machine, Bytes bytes) {
  if (bytes.count() == 0) return 1;
  const std::uint64_t spread = std::min<std::uint64_t>(machine.dma.engines, ceil_div(bytes.count(), kSmallest));
  const std::uint64_t each = ceil_div(ceil_div(bytes.count(), spread), machine.dma.max_descriptor.count());
  const std::uint64_t all = spread * each;
  if (all > machine.dma.ring_descriptors) {
    throw InfeasibleError("a message of " + std::to_string(bytes.count()) + " bytes needs " + std::to_string(all) +
                          " descriptors, a ring holds " + std::to_string(machine.dma.ring_descriptors));
  }
  return static_cast<std::uint32_t>(all);
}

}  // namespace trnsim::collective
