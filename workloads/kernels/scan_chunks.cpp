#include <algorithm>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/scan_steps.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kSumBanks = 2;     // one chunk is emptied while the next one adds
constexpr std::uint32_t kTileBuffers = 2;  // delta and u: load the next while computing on this one
constexpr std::uint32_t kStepBuffers = 2;  // rows of b and c, exp(delta a), results of a chunk

/// Chunks of the sequence in their order, all states for each: y adds up in PSUM and is stored chunk by chunk. A state
/// leaves its last column behind for the next chunk.
class ChunkOuter {
 public:
  ChunkOuter(TileWriter& w, const SelectiveScan& s)
      : w_(w),
        s_(s),
        steps_(w, s),
        width_(std::min({s.chunk, s.sequence, bank_columns(w)})),
        buffered_(s.schedule == ScanSchedule::kChunkOuterBuffered),
        loaded_(buffered_ ? width_ : s.sequence) {
    ProgramBuilder& program = w.program();
    const Bytes step(steps_.bytes(width_)), tile(steps_.bytes(loaded_));
    program.reserve_sbuf(step * 2 + tile + Bytes(steps_.bytes(s.states)));  // b delta u, x; delta u; last columns
    as_ = program.sbuf_ring(Bytes(steps_.bytes(s.states)), kTileBuffers);
    deltas_ = program.sbuf_ring(tile, kTileBuffers);
    us_ = program.sbuf_ring(tile, kTileBuffers);
    // Unbuffered, a row of b and one of c are spread over the buffer that they land in.
    rows_ = program.sbuf_ring(step, 2 * kStepBuffers);
    decays_ = program.sbuf_ring(step, kStepBuffers);
    results_ = program.sbuf_ring(step, kStepBuffers);
    sums_ = bank_ring(w, kSumBanks);
    if (w.core().psum_banks <= kSumBanks) throw InfeasibleError("the scan needs three PSUM banks");
    banks_ = bank_ring(w, w.core().psum_banks - kSumBanks);
  }

  void emit() {
    for (std::uint64_t b = 0; b < s_.batch; ++b) {
      for (std::uint64_t tile = 0; tile < steps_.channel_tiles(); ++tile) channel_tile(steps_.lanes(tile));
    }
    end_after(w_, {stored_});
  }

 private:
  struct Inputs {
    Handle delta, product;
  };

  Inputs inputs(std::uint64_t columns, std::uint64_t lanes) {
    const Piece piece{.rows = lanes, .row_bytes = steps_.bytes(columns)};
    Inputs in;
    w_.segment().acquire(Engine::kSync, deltas_);
    in.delta = load(w_, Queue::kTiles, piece);
    w_.segment().acquire(Engine::kSync, us_);
    const Handle u = load(w_, Queue::kTiles, piece);
    in.product = steps_.combine(Op::kBinary, columns, lanes, {in.delta, u});
    w_.segment().release(in.product, us_);
    return in;
  }

  void channel_tile(std::uint64_t lanes) {
    w_.segment().acquire(Engine::kSync, as_);
    const Handle a = load(w_, Queue::kSmall, {.rows = lanes, .row_bytes = steps_.bytes(s_.states)});
    Inputs in;
    carries_.assign(s_.states, {});
    for (std::uint64_t at = 0; at < s_.sequence; at += width_) {
      if (at % loaded_ == 0) in = inputs(std::min(loaded_, s_.sequence - at), lanes);
      const Handle decay = chunk(std::min(width_, s_.sequence - at), lanes, in, a);
      const bool last = at + width_ >= s_.sequence;
      if (last || (at + width_) % loaded_ == 0) w_.segment().release(decay, deltas_);
      if (last) w_.segment().release(decay, as_);
    }
  }

  // All states of one chunk; returns the last use of delta.
  Handle chunk(std::uint64_t n, std::uint64_t lanes, const Inputs& in, Handle a) {
    w_.segment().acquire(Engine::kVector, sums_);
    steps_.zero(n, lanes, Space::kPsum);
    Handle decay;
    for (std::uint64_t state = 0; state < s_.states; ++state) {
      decay = step(n, lanes, in.delta, a, state + 1 == s_.states ? in.product : Handle{}, carries_[state]);
    }
    w_.segment().acquire(Engine::kVector, results_);
    const Handle copied = w_.run(Engine::kVector, from_psum(tile_op(Op::kCopy, s_.dtype, n, lanes)), {});
    w_.segment().release(copied, sums_);
    stored_ = store(w_, Queue::kStore, {.rows = lanes, .row_bytes = steps_.bytes(n)}, {copied});
    w_.segment().release(stored_, results_);
    return decay;
  }

  Handle step(std::uint64_t n, std::uint64_t lanes, Handle delta, Handle a, Handle product, Handle& carry) {
    const Handle b = steps_.load_row(rows_, n);
    const Handle c = steps_.load_row(rows_, n);
    const Handle b_ready = spread(b, n, lanes);
    const Handle decay = steps_.decay(decays_, n, lanes, delta, a, product);
    const Handle c_ready = spread(c, n, lanes);
    multiply(b_ready, n, lanes);
    const Handle scanned = steps_.running(n, lanes, decay, carry, true);
    w_.segment().release(scanned, decays_);
    carry = steps_.carry(lanes, scanned);
    multiply(c_ready, n, lanes);
    TileWriter::Elementwise add = tile_op(Op::kBinary, s_.dtype, n, lanes);
    add.second = add.destination = Space::kPsum;
    w_.run(Engine::kVector, add, {});
    return decay;
  }

  // Buffered: the multiply reads the bank; else the row is copied to SBUF first.
  Handle spread(Handle row, std::uint64_t n, std::uint64_t lanes) {
    if (!buffered_) return steps_.spread_to_sbuf(banks_, row, n, lanes);
    const Handle product = steps_.spread_to_psum(banks_, row, n, lanes);
    w_.segment().release(product, rows_);
    return product;
  }

  void multiply(Handle row_ready, std::uint64_t n, std::uint64_t lanes) {
    const Space second = buffered_ ? Space::kPsum : Space::kSbuf;
    const Handle done = steps_.combine(Op::kBinary, n, lanes, {row_ready}, second);
    w_.segment().release(done, buffered_ ? banks_ : rows_);
  }

  TileWriter& w_;
  const SelectiveScan& s_;
  ScanSteps steps_;
  std::uint64_t width_;
  bool buffered_;
  std::uint64_t loaded_;  ///< columns of delta and u per load
  BufferRing as_, deltas_, us_, rows_, decays_, results_, sums_, banks_;
  std::vector<Handle> carries_;  ///< by state
  Handle stored_;
};

}  // namespace

void scan_chunks(TileWriter& w, const SelectiveScan& s) {
  if (s.batch == 0 || s.channels == 0 || s.sequence == 0 || s.states == 0) return;
  ChunkOuter(w, s).emit();
}

}  // namespace trnsim
