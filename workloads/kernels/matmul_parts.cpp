#include "workloads/kernels/matmul_parts.h"

#include "models/mechanism/error.h"

namespace trnsim {

std::vector<Range> cut(Range range, std::uint64_t step) {
  std::vector<Range> parts;
  for (std::uint64_t at = 0; at < range.size; at += step) {
    parts.push_back({range.begin + at, std::min(step, range.size - at)});
  }
  return parts;
}

TileShape::TileShape(const CoreSpec& core, Dtype dtype)
    : m(features_per_tile(core)),
      n(core.moving_columns()),
      k(is_microscaled(dtype)  ? core.tensor.mx_rows
        : dtype == Dtype::kFp8 ? core.tensor.fp8_rows
                               : core.tensor.rows) {}

std::uint64_t loaded_bytes(Range k, std::uint64_t block_k, std::uint64_t tile_k, Range other, std::uint64_t block,
                           std::uint64_t load, Dtype dtype) {
  std::uint64_t bytes = 0;
  for (const Range k_block : cut(k, block_k)) {
    for (const Range k_tile : cut(k_block, tile_k)) {
      for (const Range part : cut(other, block)) {
        for (const Range piece : cut(part, load)) bytes += storage_bytes(k_tile.size * piece.size, dtype);
      }
    }
  }
  return bytes;
}

std::uint64_t slot_bytes(const CoreSpec& core, std::uint64_t rows, std::uint64_t columns, Dtype dtype) {
  return ceil_div(storage_bytes(rows * columns, dtype), std::min<std::uint64_t>(rows, core.partitions));
}

// Descriptors of fixed addresses are made ahead where no hardware makes them on the way.
MatmulParts::MatmulParts(TileWriter& w, const ScheduledMatmul& s, std::uint32_t transposes)
    : w_(w),
      s_(s),
      tile_(w.core(), s.dtype),
      generation_(w.machine().dma.hardware_generators > 0 ? DescriptorGeneration::kHardware
                                                          : DescriptorGeneration::kPrebuilt) {
  const std::uint32_t all = w.core().psum_banks;
  if (all <= transposes) {
    throw InfeasibleError("this matmul needs " + std::to_string(transposes + 1) + " PSUM banks, has " +
                          std::to_string(all));
  }
  banks_ = all - transposes;
  bank_ = w.program().psum_ring(w.core().psum_bank(), banks_);
  if (transposes > 0) transpose_bank_ = w.program().psum_ring(w.core().psum_bank(), transposes);
}

Handle MatmulParts::load(Engine engine, Queue queue, std::uint64_t rows, std::uint64_t columns, Dtype dtype,
                         Traffic traffic, std::initializer_list<Handle> after) {
  const std::uint64_t row = storage_bytes(columns, dtype);
  return w_.move(engine, queue,
                 {.bytes = storage_bytes(rows * columns, dtype),
                  .descriptors = rows * ceil_div(row, w_.machine().dma.max_descriptor.count()),
                  .traffic = traffic,
                  .generation = generation_},
                 after);
}

Handle MatmulParts::store(Engine engine, Queue queue, std::uint64_t rows, std::uint64_t columns, Dtype from, Dtype to,
                          std::initializer_list<Handle> after) {
  const std::uint64_t row = storage_bytes(columns, to);
  const std::uint64_t wider = ceil_div(quarter_bits(from), quarter_bits(to));
  return w_.move(engine, queue,
                 {.bytes = storage_bytes(rows * columns, to),
                  .descriptors = rows * ceil_div(row, w_.machine().dma.max_descriptor.count()),
                  .source = Space::kSbuf,
                  .destination = Space::kHbm,
                  .generation = generation_,
                  .reads = static_cast<std::uint8_t>(wider)},
                 after);
}

Engine MatmulParts::next_drain() {
  if (s_.evacuation) return *s_.evacuation;
  return turn_++ % 2 == 0 ? Engine::kVector : Engine::kScalar;
}

Handle MatmulParts::copy(Engine engine, std::uint64_t rows, std::uint64_t columns,
                         std::initializer_list<Handle> after) {
  return w_.run(engine,
                {.op = Op::kCopy,
                 .free = Count::constant(columns),
                 .source = Space::kPsum,
                 .dtype = Dtype::kFp32,
                 .rows = static_cast<std::uint32_t>(rows)},
                after);
}

Handle MatmulParts::accumulate(std::span<const Step> steps, std::uint64_t columns, std::uint64_t moving,
                               const Spend& spend) {
  Handle last;
  for (std::size_t at = 0; at < steps.size();) {
    std::size_t end = at + 1;
    const auto known = [](const Step& step) { return step.a->waited && step.b->waited; };
    const auto stays = [](const Step& step) { return step.a->uses > 1 && step.b->uses > 1; };
    if (known(steps[at]) && stays(steps[at])) {
      while (end < steps.size() && known(steps[end]) && stays(steps[end]) && steps[end].k == steps[at].k) ++end;
    }
    last = w_.matmul({.dtype = s_.dtype,
                      .rows = steps[at].k,
                      .columns = columns,
                      .free = Count::constant(moving),
                      .repeat = Count::constant(end - at)},
                     {steps[at].a->ready, steps[at].b->ready});
    for (; at < end; ++at) {
      steps[at].a->waited = steps[at].b->waited = true;
      --steps[at].a->uses;
      --steps[at].b->uses;
      spend(last, *steps[at].a, *steps[at].b);
    }
  }
  return last;
}

void OperandStream::reserve(std::uint64_t& room) {
  if (least() > room) throw InfeasibleError("an operand block needs more SBUF than is left");
  const std::uint64_t wanted = plan_.units > 1 ? (plan_.buffers - 1) * plan_.pieces : 0;
  const std::uint64_t more = std::min(wanted, (room - least()) / plan_.slot);
  spare_ = more;
  room -= least() + more * plan_.slot;
  // Each queue has buffers of its own, so that one cannot take those that the other needs first.
  for (std::size_t q = 0; q < kLoadQueues.size(); ++q) {
    const std::uint64_t depth = plan_.turns ? dealt(plan_.pieces, q) + dealt(more, q)
                                : q == 0    ? plan_.pieces + more
                                            : 0;
    if (depth == 0) continue;
    rings_[q] = parts_.writer().program().sbuf_ring(Bytes(plan_.slot), static_cast<std::uint32_t>(depth));
  }
}

void OperandStream::begin(std::size_t unit) {
  if (unit == 0) {
    current_pieces_ = plan_.unit(0);
  } else {
    current_pieces_ = std::exchange(next_pieces_, {});
    current_ = std::exchange(next_, {});
  }
  load(current_, current_pieces_, current_pieces_.size());
  if (unit + 1 == plan_.units) return;
  next_pieces_ = plan_.unit(unit + 1);
  load(next_, next_pieces_, static_cast<std::size_t>(std::min<std::uint64_t>(spare_, next_pieces_.size())));
}

void OperandStream::load(Tiles& tiles, const std::vector<Piece>& pieces, std::size_t most) {
  SegmentBuilder& segment = parts_.writer().segment();
  for (std::size_t i = tiles.size(); i < most; ++i) {
    const Piece& piece = pieces[i];
    const std::size_t queue = plan_.turns ? i % kLoadQueues.size() : 0;
    const LoadQueue by = plan_.turns ? kLoadQueues[queue] : LoadQueue{Engine::kGpSimd, Queue::kInput};
    segment.acquire(by.engine, rings_[queue]);
    LoadedTile& tile = tiles[{piece.at, piece.k}];
    tile.ready = parts_.load(by.engine, by.queue, piece.rows, piece.columns, plan_.dtype, plan_.traffic);
    tile.uses = piece.uses;
    tile.queue = static_cast<std::uint8_t>(queue);
    fresh_.push_back(&tile);
  }
}

std::uint64_t OperandStream::uses() const {
  std::uint64_t sum = 0;
  for (const Piece& piece : current_pieces_) sum += piece.uses;
  return sum;
}

void OperandStream::spend(Handle product, const LoadedTile& tile) {
  if (tile.uses > 0) return;
  SegmentBuilder& segment = parts_.writer().segment();
  if (plan_.buffers > 1) return segment.release(product, rings_[tile.queue]);
  ++spent_[tile.queue];
  std::uint64_t spent = 0;
  for (const std::uint32_t of_queue : spent_) spent += of_queue;
  if (spent < current_pieces_.size()) return;
  for (std::size_t q = 0; q < spent_.size(); ++q) segment.signal(product, rings_[q].free_slots, spent_[q]);
  spent_ = {};
}

}  // namespace trnsim
