#include "workloads/kernels/attention_steps.h"

#include <algorithm>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

// Copies out of PSUM in six published Trn2 profiles (trainium-kernel-fusion, allenkchau): 30 of 111 on vector.
constexpr std::uint64_t kVectorEvery = 4;

}  // namespace

BufferRing AttentionSteps::banks(std::uint32_t count) {
  return w_.program().psum_ring(w_.core().psum_bank(), count);
}

BufferRing AttentionSteps::tiles_in_banks(std::uint32_t count) {
  const auto tiles = static_cast<std::uint32_t>(block() / tile());
  return w_.program().psum_ring(Bytes(w_.core().psum_bank().count() / tiles), tiles * count);
}

BufferRing AttentionSteps::buffers(std::uint64_t bytes, std::uint32_t count) {
  return w_.program().sbuf_ring(Bytes(bytes), count);
}

Handle AttentionSteps::multiply(Dtype dtype, std::uint64_t contraction, std::uint64_t stationary, std::uint64_t moving,
                                After after) {
  return w_.matmul({.dtype = dtype,
                    .rows = contraction,
                    .columns = stationary,
                    .free = Count::constant(moving),
                    .repeat = Count::constant(1)},
                   after);
}

Handle AttentionSteps::turn(Dtype dtype, std::uint64_t rows, std::uint64_t columns, After after) {
  return w_.transpose(rows, columns, 1, after, dtype);
}

Handle AttentionSteps::copy(std::uint64_t free, Space from, After after, std::uint32_t rows) {
  const bool on_vector = ++drains_ % kVectorEvery == 0;
  const Handle copied = w_.run(
      on_vector ? Engine::kVector : Engine::kScalar,
      {.op = Op::kCopy, .free = Count::constant(free), .source = from, .dtype = Dtype::kFp32, .rows = rows}, after);
  drained_[on_vector ? 0 : 1] = copied;
  return copied;
}

Handle AttentionSteps::reduce(std::uint64_t free, Space from, Dtype dtype, After after) {
  return w_.run(Engine::kVector, {.op = Op::kReduce, .free = Count::constant(free), .source = from, .dtype = dtype},
                after);
}

Handle AttentionSteps::masked_maximum(Engine engine, std::uint64_t free, After after) {
  return w_.run(engine,
                {.op = engine == Engine::kScalar ? Op::kActivation : Op::kSelect,
                 .free = Count::constant(free),
                 .source = Space::kPsum,
                 .dtype = Dtype::kFp32,
                 .row_sum = engine == Engine::kScalar},
                after);
}

Handle AttentionSteps::scale(std::uint64_t free, Space from, Dtype dtype, After after, std::uint32_t rows) {
  return w_.run(Engine::kVector,
                {.op = Op::kTensorScalar,
                 .free = Count::constant(free),
                 .source = from,
                 .dtype = dtype,
                 .rows = rows,
                 .reads_scalar = true},
                after);
}

Handle AttentionSteps::combine(std::uint64_t free, Space first, Space second, After after) {
  return w_.run(
      Engine::kVector,
      {.op = Op::kBinary, .free = Count::constant(free), .source = first, .dtype = Dtype::kFp32, .second = second},
      after);
}

Handle AttentionSteps::reciprocal(std::uint64_t free, After after) {
  return w_.run(Engine::kVector, {.op = Op::kReciprocal, .free = Count::constant(free), .dtype = Dtype::kFp32}, after);
}

Handle AttentionSteps::exponential(std::uint64_t free, Space from, Dtype dtype, bool row_sum, After after) {
  return w_.run(Engine::kScalar,
                {.op = Op::kActivation,
                 .free = Count::constant(free),
                 .source = from,
                 .dtype = dtype,
                 .function = Function::kExp,
                 .reads_scalar = true,
                 .row_sum = row_sum},
                after);
}

Handle AttentionSteps::vector_exponential(std::uint64_t free, Space from, Dtype dtype, After after) {
  return w_.run(Engine::kVector,
                {.op = Op::kExponential,
                 .free = Count::constant(free),
                 .source = from,
                 .dtype = dtype,
                 .function = Function::kExp,
                 .reads_scalar = true,
                 .row_sum = true},
                after);
}

Handle AttentionSteps::load(Engine engine, Queue queue, const Tile& tile, After after) {
  return move(engine, queue, tile, Space::kHbm, after);
}

void AttentionSteps::reserve_operands(const AttentionCall& call) {
  w_.program().reserve_sbuf(Bytes((call.shape.queries + 2 * call.shape.keys) * storage_bytes(1, call.dtype)));
}

Handle AttentionSteps::load_operand(const AttentionCall& call, std::uint64_t tokens, Traffic traffic) {
  const std::uint64_t row = tokens * storage_bytes(1, call.dtype);
  return load(Engine::kSync, Queue::kTiles, {.rows = call.shape.head_dim, .run_bytes = row, .traffic = traffic}, {});
}

Handle AttentionSteps::store(Engine engine, Queue queue, const Tile& tile, After after) {
  return move(engine, queue, tile, Space::kSbuf, after);
}

// Where no hardware makes descriptors the compiler has written them down before.
Handle AttentionSteps::move(Engine engine, Queue queue, const Tile& tile, Space source, After after) {
  const DmaSpec& dma = w_.machine().dma;
  const bool prebuilt = tile.generation == DescriptorGeneration::kHardware && dma.hardware_generators == 0;
  return w_.move(engine, queue,
                 {.bytes = tile.rows * tile.runs * tile.run_bytes,
                  .descriptors = tile.rows * tile.runs * ceil_div(tile.run_bytes, dma.max_descriptor.count()),
                  .traffic = tile.traffic,
                  .source = source,
                  .destination = source == Space::kHbm ? Space::kSbuf : Space::kHbm,
                  .generation = prebuilt ? DescriptorGeneration::kPrebuilt : tile.generation,
                  .partitions = std::min<std::uint64_t>(tile.rows, w_.partitions()),
                  .transposes = tile.transposes,
                  .computes = tile.casts},
                 after);
}

namespace {

/// How often the keys and values of one KV head come from HBM: once for all its query heads, or once for each.
std::uint64_t kv_readers(const AttentionCall& call) {
  switch (call.schedule) {
    case AttentionSchedule::kSpilledScores:
    case AttentionSchedule::kFlash:
    case AttentionSchedule::kFusedBlock:
      return call.kv_heads;
    default:
      return call.heads;
  }
}

}  // namespace

void write_attention(TileWriter& w, const AttentionCall& call) {
  if (call.heads == 0 || call.shape.queries == 0) return;
  switch (call.schedule) {
    case AttentionSchedule::kAuto:
      break;
    case AttentionSchedule::kThreePhases:
    case AttentionSchedule::kFused:
      return attention_phases(w, call);
    case AttentionSchedule::kHbmPasses:
    case AttentionSchedule::kHbmPassesFusedSum:
      return attention_hbm_passes(w, call);
    case AttentionSchedule::kRecompute:
    case AttentionSchedule::kRecomputeFusedSum:
      return attention_recompute(w, call);
    case AttentionSchedule::kSingleMax:
      return attention_single_max(w, call);
    case AttentionSchedule::kRowwise:
    case AttentionSchedule::kRowwiseFusedSum:
    case AttentionSchedule::kRowwiseDelayedDivision:
      return attention_rowwise(w, call);
    case AttentionSchedule::kSpilledScores:
      return attention_spilled_scores(w, call);
    case AttentionSchedule::kFlash:
      attention_flash(w, call, {});
      return;
    case AttentionSchedule::kFusedBlock:
      return attention_block(w, call);
  }
  throw InvariantError("a schedule by name is written");
}

std::uint64_t attention_kv_bytes(const AttentionCall& call) {
  if (call.heads == 0 || call.shape.queries == 0) return 0;
  const std::uint64_t keys = call.shape.keys - (call.schedule == AttentionSchedule::kFusedBlock ? 1 : 0);
  return kv_readers(call) * 2 * keys * call.shape.head_dim * storage_bytes(1, call.dtype);
}

void check_whole_blocks(const AttentionSteps& steps, const AttentionCall& call) {
  const std::string schedule = "schedule=" + std::string(kAttentionSchedules[static_cast<std::size_t>(call.schedule)]);
  const PrefillAttention& s = call.shape;
  if (s.causal || s.window > 0) throw InfeasibleError(schedule + " has no mask; use causal=no and window=0");
  if (steps.block() % steps.tile() != 0) throw InfeasibleError(schedule + " needs PSUM banks of whole tiles");
  if (s.queries % steps.block() != 0 || s.keys % steps.block() != 0) {
    throw InfeasibleError(schedule + " takes query_tokens and context in multiples of " +
                          std::to_string(steps.block()));
  }
  if (s.head_dim > steps.tile()) {
    throw InfeasibleError(schedule + " takes head_dim up to " + std::to_string(steps.tile()));
  }
}

}  // namespace trnsim
