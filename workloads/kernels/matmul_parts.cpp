#include "workloads/kernels/matmul_parts.h"

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kAhead = 16384;  // bytes per partition that an operand has at least, however small its blocks

}  // namespace

std::vector<Range> cut(Range range, std::uint64_t step) {
  std::vector<Range> parts;
  for (std::uint64_t at = 0; at < range.size; at += step) {
    parts.push_back({range.begin + at, std::min(step, range.size - at)});
  }
  return parts;
}

TileShape::TileShape(const CoreSpec& core, Dtype dtype, bool turned)
    : m(features_per_tile(core)), n(core.moving_columns()), k(core.tensor.contraction_rows(dtype)) {
  if (turned) k = std::min(k, m);
}

ScheduledMatmul by_whole_tiles(const CoreSpec& core, ScheduledMatmul s) {
  const TileShape tile(core, s.dtype, s.transpose_lhs);
  const auto round = [](std::uint64_t& part, std::uint64_t unit, std::uint64_t most) {
    part = std::min(ceil_div(part, unit) * unit, most);
  };
  round(s.block_k, tile.k, s.k);
  round(s.load_m, tile.m, s.block_m);
  round(s.load_n, tile.n, s.block_n);
  round(s.load_k, tile.k, s.block_k);
  round(s.store_n, tile.n, s.block_n);
  return s;
}

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

DrainRings::DrainRings(ProgramBuilder& program, std::uint64_t slot, std::uint64_t depth, std::optional<Engine> only) {
  const auto half = static_cast<std::uint32_t>(only ? depth : ceil_div(depth, std::uint64_t{2}));
  if (only != Engine::kScalar) vector = program.sbuf_ring(Bytes(slot), half);
  if (only != Engine::kVector) scalar = program.sbuf_ring(Bytes(slot), half);
}

// Descriptors of fixed addresses are made ahead where no hardware makes them on the way.
MatmulParts::MatmulParts(TileWriter& w, const ScheduledMatmul& s, std::uint32_t transposes)
    : w_(w),
      s_(s),
      tile_(w.core(), s.dtype, s.transpose_lhs),
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

OperandStream::OperandStream(MatmulParts& parts, Plan plan)
    : parts_(parts), plan_(std::move(plan)), buffers_(even(plan_.pieces)) {}

// Buffers dealt to two queues: as many for each.
std::uint64_t OperandStream::even(std::uint64_t count) const {
  return plan_.turns ? ceil_div(count, kLoadQueues.size()) * kLoadQueues.size() : count;
}

void OperandStream::reserve(std::uint64_t& room) {
  if (least() > room) throw InfeasibleError("an operand block needs more SBUF than is left");
  room -= least();
  std::uint64_t wanted = plan_.pieces;
  if (!plan_.single && plan_.units > 1) wanted = std::max(2 * plan_.pieces, kAhead / plan_.slot);
  while (buffers_ < wanted && room >= plan_.slot * even(1)) {
    buffers_ += even(1);
    room -= plan_.slot * even(1);
  }
  // Each queue has buffers of its own, so that one cannot take those that the other needs first.
  const std::size_t queues = plan_.turns ? kLoadQueues.size() : 1;
  for (std::size_t q = 0; q < queues; ++q) {
    rings_[q] = parts_.writer().program().sbuf_ring(Bytes(plan_.slot), static_cast<std::uint32_t>(buffers_ / queues));
  }
}

void OperandStream::begin(std::size_t unit) {
  if (unit == 0) {
    window_.clear();
    next_unit_ = 0;
    loaded_ = before_ = 0;
  } else {
    before_ += window_.front().pieces.size();
    window_.pop_front();
  }
  if (window_.empty()) window_.push_back({plan_.unit(next_unit_++), {}});
  load(window_.front(), window_.front().pieces.size());
}

void OperandStream::ahead(std::uint64_t part, std::uint64_t of_parts) {
  const std::uint64_t more = buffers_ > pieces() ? (buffers_ - pieces()) * part / of_parts : 0;
  const std::uint64_t most = pieces() + more;
  for (std::size_t at = 0; loaded_ < before_ + most; ++at) {
    if (at == window_.size()) {
      if (next_unit_ == plan_.units) return;
      window_.push_back({plan_.unit(next_unit_++), {}});
    }
    load(window_[at], most);
  }
}

// Loads pieces of `unit` until it is complete or `most` buffers hold pieces from the present unit on.
void OperandStream::load(Unit& unit, std::uint64_t most) {
  SegmentBuilder& segment = parts_.writer().segment();
  while (unit.tiles.size() < unit.pieces.size() && loaded_ < before_ + most) {
    const Piece& piece = unit.pieces[unit.tiles.size()];
    const std::size_t queue = plan_.turns ? loaded_ % kLoadQueues.size() : 0;
    const LoadQueue by = plan_.turns ? kLoadQueues[queue] : LoadQueue{Engine::kGpSimd, Queue::kInput};
    segment.acquire(by.engine, rings_[queue]);
    LoadedTile& tile = unit.tiles[{piece.at, piece.k}];
    tile.ready = parts_.load(by.engine, by.queue, piece.rows, piece.columns, plan_.dtype, plan_.traffic);
    tile.uses = piece.uses;
    tile.queue = static_cast<std::uint8_t>(queue);
    fresh_.push_back(&tile);
    ++loaded_;
  }
}

std::uint64_t OperandStream::uses() const {
  std::uint64_t sum = 0;
  for (const Piece& piece : window_.front().pieces) sum += piece.uses;
  return sum;
}

void OperandStream::spend(Handle product, const LoadedTile& tile) {
  if (tile.uses > 0) return;
  SegmentBuilder& segment = parts_.writer().segment();
  if (!plan_.single) return segment.release(product, rings_[tile.queue]);
  ++spent_[tile.queue];
  std::uint64_t spent = 0;
  for (const std::uint32_t of_queue : spent_) spent += of_queue;
  if (spent < pieces()) return;
  for (std::size_t q = 0; q < spent_.size(); ++q) segment.signal(product, rings_[q].free_slots, spent_[q]);
  spent_ = {};
}

}  // namespace trnsim
