#include "workloads/kernels/writer.h"

#include <algorithm>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

// Choices of software, not properties of the hardware: how SBUF and PSUM are shared out, and the smallest
// piece worth a descriptor of its own (below 512 bytes DMA is bound by descriptors).
constexpr std::uint32_t kWeightBuffers = 3;
constexpr std::uint32_t kKvBuffers = 3;
constexpr std::uint32_t kPsumBuffers = 2;
constexpr std::uint64_t kWeightShare = 55;  // percent of what is left of SBUF
constexpr std::uint64_t kKvShare = 35;
constexpr std::uint64_t kSmallestDescriptor = 512;
constexpr std::uint64_t kWrittenOut = 4;  // repetitions that are not worth a loop
constexpr std::uint64_t kFp32Bytes = 4;

std::uint32_t narrow(std::uint64_t value) {
  check(value <= UINT32_MAX, "a count of the program fits 32 bits");
  return static_cast<std::uint32_t>(value);
}

}  // namespace

KernelWriter::KernelWriter(ProgramBuilder& program, const MachineSpec& machine, std::uint32_t lnc, std::uint32_t lane,
                           std::uint64_t resident, std::uint64_t sums)
    : TileWriter(program, machine, lnc, lane) {
  const std::uint64_t sbuf = core().sbuf_per_partition.count();
  if (resident >= sbuf) {
    throw InfeasibleError("activations need " + std::to_string(resident) + " bytes of SBUF per partition, has " +
                          std::to_string(sbuf));
  }
  const std::uint64_t left = sbuf - resident;
  program.reserve_sbuf(Bytes(resident));
  rings_.weight_slot = left * kWeightShare / 100 / kWeightBuffers;
  rings_.kv_slot = left * kKvShare / 100 / kKvBuffers;
  rings_.weights = program.sbuf_ring(Bytes(rings_.weight_slot), kWeightBuffers);
  rings_.kv = program.sbuf_ring(Bytes(rings_.kv_slot), kKvBuffers);
  share_psum(sums);
}

// Buffers are whole banks, so that the tensor engine never writes the bank that another engine reads. Half of the banks
// alternate between producers; the other half accumulates.
void KernelWriter::share_psum(std::uint64_t sums) {
  const std::uint64_t bank = core().psum_bank().count() / kFp32Bytes;
  const std::uint64_t half = core().psum_banks / 2;
  if (half < kPsumBuffers) {
    throw InfeasibleError("kernels need " + std::to_string(2 * kPsumBuffers) + " PSUM banks, has " +
                          std::to_string(core().psum_banks));
  }
  rings_.psum_slot = half / kPsumBuffers * bank;
  rings_.psum_buffers = kPsumBuffers;
  rings_.psum = this->program().psum_ring(Bytes(rings_.psum_slot * kFp32Bytes), kPsumBuffers);
  const std::uint32_t sum_buffers = sums <= half / kPsumBuffers * bank ? kPsumBuffers : 1;
  rings_.sums_buffers = sum_buffers;
  rings_.sums_slot = half / sum_buffers * bank;
  rings_.sums = this->program().psum_ring(Bytes(rings_.sums_slot * kFp32Bytes), sum_buffers);
}

std::uint64_t features_per_tile(const CoreSpec& core) {
  return std::min({core.partitions, core.tensor.rows, core.tensor.columns});
}

std::uint64_t TileWriter::share(std::uint64_t count) const {
  return count / lnc_ + static_cast<std::uint64_t>(lane_ < count % lnc_);
}

std::uint64_t TileWriter::contraction_rows(Dtype dtype) const {
  return core().tensor.contraction_rows(dtype);
}

std::uint64_t TileWriter::passes(std::uint64_t contraction, Dtype dtype) const {
  return ceil_div(contraction, contraction_rows(dtype));
}

Handle TileWriter::matmul(const Matmul& shape, std::span<const Handle> after) {
  const std::uint64_t moving = core().moving_columns();
  if (shape.free.kind == Count::Kind::kConstant && shape.free.scale > moving) {
    throw InfeasibleError("a kernel moves " + std::to_string(shape.free.scale) +
                          " columns through the tensor array at once, this core's array and PSUM banks take " +
                          std::to_string(moving));
  }
  Instruction instruction;
  instruction.op = Op::kMatmul;
  instruction.dtype = shape.dtype;
  instruction.destination = Space::kPsum;
  instruction.rows = narrow(shape.rows);
  instruction.columns = narrow(shape.columns);
  instruction.free = shape.free;
  instruction.repeat = shape.repeat;
  return segment().emit(Engine::kTensor, instruction, after);
}

Handle TileWriter::transpose(std::uint64_t rows, std::uint64_t columns, std::uint64_t repeat,
                             std::initializer_list<Handle> after, Dtype dtype) {
  Instruction instruction;
  instruction.op = Op::kTranspose;
  instruction.dtype = dtype;
  instruction.destination = Space::kPsum;
  instruction.rows = narrow(rows);
  instruction.free = Count::constant(columns);
  instruction.repeat = Count::constant(repeat);
  return segment().emit(Engine::kTensor, instruction, after);
}

Handle TileWriter::run(Engine engine, const Elementwise& operation, std::initializer_list<Handle> after) {
  Instruction instruction;
  instruction.op = operation.op;
  instruction.dtype = operation.dtype;
  instruction.source = operation.source;
  instruction.destination = operation.destination;
  instruction.second = operation.second;
  instruction.function = operation.function;
  instruction.reads_scalar = operation.reads_scalar;
  instruction.row_sum = operation.row_sum;
  instruction.rows = operation.rows == 0 ? partitions() : operation.rows;
  instruction.free = operation.free;
  instruction.repeat = operation.repeat;
  return segment().emit(engine, instruction, after);
}

Handle TileWriter::exponential(Count free, Space source, std::initializer_list<Handle> after, Count repeat) {
  const Engine engine = core().vector.exponential_rate > 0 ? Engine::kVector : Engine::kScalar;
  return run(engine, {.op = Op::kExponential, .free = free, .source = source, .repeat = repeat, .reads_scalar = true},
             after);
}

std::uint32_t TileWriter::descriptors(std::uint64_t bytes) const {
  if (bytes == 0) return 0;
  const std::uint64_t rows = std::min<std::uint64_t>(partitions(), ceil_div(bytes, kSmallestDescriptor));
  return narrow(rows * ceil_div(ceil_div(bytes, rows), machine_.dma.max_descriptor.count()));
}

Handle TileWriter::move(Engine engine, Queue queue, const Move& what, std::initializer_list<Handle> after) {
  if (what.bytes == 0) return {};
  if (what.descriptors > machine_.dma.ring_descriptors) {
    throw InfeasibleError("a transfer of " + std::to_string(what.descriptors) +
                          " descriptors exceeds the ring of its queue, " + "which holds " +
                          std::to_string(machine_.dma.ring_descriptors));
  }
  Transfer transfer;
  transfer.bytes_per_repeat = Bytes(what.bytes);
  transfer.descriptors_per_repeat = what.descriptors == 0 ? descriptors(what.bytes) : narrow(what.descriptors);
  transfer.queue = static_cast<std::uint8_t>(queue);
  transfer.qos = what.qos;
  transfer.generation = what.generation;
  transfer.traffic = what.traffic;
  transfer.source = what.source;
  transfer.destination = what.destination;
  transfer.reads = what.reads;
  transfer.transposes = what.transposes;
  transfer.computes = what.computes;
  if (what.partitions > 0) {  // an engine serves as many partitions as its share of all
    const std::uint64_t served = ceil_div(partitions(), machine_.dma.engines);
    transfer.engines = static_cast<std::uint8_t>(ceil_div(what.partitions, served));
  }
  return segment().dma(engine, transfer, what.repeat, after);
}

SemaphoreId TileWriter::sibling_arrival() {
  return program_.semaphore(WaitReason::kPeerCore);
}

Handle TileWriter::exchange(SemaphoreId arrival, std::uint64_t send_bytes, Handle ready) {
  if (lnc_ == 1) return ready;
  Transfer transfer;
  transfer.bytes_per_repeat = Bytes(send_bytes);
  transfer.descriptors_per_repeat = std::max<std::uint32_t>(1, descriptors(send_bytes));
  transfer.peer = 0;
  transfer.queue = static_cast<std::uint8_t>(Queue::kSibling);
  transfer.source = Space::kSbuf;
  transfer.destination = Space::kSbuf;
  transfer.on_delivery = {arrival, 1};
  segment().dma(Engine::kGpSimd, transfer, Count::constant(1), {ready});
  segment().wait(Engine::kVector, arrival, 1);
  return segment().emit(Engine::kVector, Instruction{}, {ready});
}

Handle TileWriter::times(std::uint64_t count, Engine last, const std::function<Handle()>& body) {
  Handle handle;
  if (count <= kWrittenOut) {
    for (std::uint64_t i = 0; i < count; ++i) handle = body();
    return handle;
  }
  return segment().loop(Count::constant(count), [&] { body(); }).on(last);
}

}  // namespace trnsim
