#include <algorithm>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/scan_steps.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kColumnBuffers = 4;  // columns of a, one element per partition each
constexpr std::uint64_t kInner = 2;          // b delta u, which c x replaces, and x: the vector engine alone uses them

/// Buffers of each operand: one, and more as far as SBUF has room.
struct Depths {
  std::uint32_t spread = 1, decay = 1, delta = 1, u = 1, sums = 1;
};

void raise(std::uint32_t& depth, std::uint32_t most, std::uint64_t bytes, std::uint64_t& left) {
  for (; depth < most && left >= bytes; ++depth) left -= bytes;
}

/// Bytes per partition that columns of a leave.
std::uint64_t sbuf_room(const TileWriter& w, const ScanSteps& steps) {
  const std::uint64_t columns = kColumnBuffers * steps.bytes(1);
  const std::uint64_t sbuf = w.core().sbuf_per_partition.count();
  return sbuf > columns ? sbuf - columns : 0;
}

[[noreturn]] void refuse(std::uint64_t needs, std::uint64_t has) {
  throw InfeasibleError("a step of the scan needs " + std::to_string(needs) + " bytes of SBUF per partition, has " +
                        std::to_string(has) + "; use shorter chunks or fewer channels");
}

Piece piece_of(const ScanSteps& steps, std::uint64_t lanes, std::uint64_t columns) {
  return {.rows = lanes, .row_bytes = steps.bytes(columns)};
}

/// What a step is made of; both orders of the loops put it together.
class Body {
 public:
  Body(TileWriter& w, ScanSteps& steps, std::uint64_t width, bool in_chunks, const Depths& d)
      : w_(w), steps_(steps), stays_in_psum_(width <= bank_columns(w)), in_chunks_(in_chunks) {
    ProgramBuilder& program = w.program();
    const Bytes step(steps.bytes(width));
    program.reserve_sbuf(step * kInner);
    columns_ = program.sbuf_ring(Bytes(steps.bytes(1)), kColumnBuffers);
    spread = program.sbuf_ring(step, d.spread);
    decays_ = program.sbuf_ring(step, d.decay);
    banks_ = bank_ring(w, w.core().psum_banks);
  }

  Handle load_a(std::uint64_t lanes) {
    w_.segment().acquire(Engine::kSync, columns_);
    return load(w_, Queue::kSmall, piece_of(steps_, lanes, 1));
  }
  void release_a(Handle decay) { w_.segment().release(decay, columns_); }

  struct State {
    Handle b, decay;
  };
  /// Row of b, and exp(delta a) after `delta`, `a` and `other`.
  State begin(std::uint64_t n, std::uint64_t lanes, Handle delta, Handle a, Handle other) {
    State state;
    state.b = spread_row(n, lanes);
    state.decay = steps_.decay(decays_, n, lanes, delta, a, other);
    return state;
  }
  /// b (delta u).
  Handle drive(const State& state, std::uint64_t n, std::uint64_t lanes, Handle product) {
    return multiply(n, lanes, {state.b, product});
  }
  /// x, then c x.
  Handle finish(const State& state, std::uint64_t n, std::uint64_t lanes, Handle carry) {
    const Handle c = spread_row(n, lanes);
    const Handle scanned = steps_.running(n, lanes, state.decay, carry, in_chunks_);
    w_.segment().release(scanned, decays_);
    multiply(n, lanes, {c});
    return scanned;
  }

  BufferRing spread;

 private:
  // A row that fits one bank is multiplied from there; a longer one is put together in SBUF.
  Handle spread_row(std::uint64_t n, std::uint64_t lanes) {
    const Handle row = steps_.load_row(spread, n);
    if (!stays_in_psum_) return steps_.spread_to_sbuf(banks_, row, n, lanes);
    const Handle product = steps_.spread_to_psum(banks_, row, n, lanes);
    w_.segment().release(product, spread);
    return product;
  }

  Handle multiply(std::uint64_t n, std::uint64_t lanes, std::initializer_list<Handle> after) {
    const Handle done = steps_.combine(Op::kBinary, n, lanes, after, stays_in_psum_ ? Space::kPsum : Space::kSbuf);
    w_.segment().release(done, stays_in_psum_ ? banks_ : spread);
    return done;
  }

  TileWriter& w_;
  ScanSteps& steps_;
  bool stays_in_psum_;
  bool in_chunks_;
  BufferRing columns_, decays_, banks_;
};

/// States outside: the sums of all channel tiles stay in SBUF. Tiles of delta and u stay as far as there is room; the
/// others are read again for every state.
class StateOuter {
 public:
  StateOuter(TileWriter& w, const SelectiveScan& s)
      : w_(w), s_(s), steps_(w, s), depths_{4, 2, 2, 2, 1}, body_(w, steps_, s.sequence, false, depths_) {
    const std::uint64_t tile = steps_.bytes(s.sequence);
    const std::uint64_t tiles = steps_.channel_tiles();
    // The product of delta and u is of one step alone: the vector engine uses it at once.
    const std::uint64_t fixed = tile * (depths_.spread + depths_.decay + kInner + 1 + tiles);
    const std::uint64_t room = sbuf_room(w, steps_);
    const std::uint64_t streamed = tile * (depths_.delta + depths_.u);
    if (fixed + streamed > room) refuse(fixed + streamed, room);
    resident_ = tiles;
    if (fixed + tiles * 2 * tile > room) {
      resident_ = (room - fixed - streamed) / (2 * tile);
      deltas_ = w.program().sbuf_ring(Bytes(tile), depths_.delta);
      us_ = w.program().sbuf_ring(Bytes(tile), depths_.u);
    }
    w.program().reserve_sbuf(Bytes(tile * (1 + tiles + 2 * resident_)));
    loaded_.resize(resident_);
  }

  void emit() {
    for (std::uint64_t b = 0; b < s_.batch; ++b) {
      for (std::uint64_t state = 0; state < s_.states; ++state) {
        for (std::uint64_t tile = 0; tile < steps_.channel_tiles(); ++tile) step(state, tile);
      }
    }
    end_after(w_, {stored_});
  }

 private:
  struct Inputs {
    Handle delta, u;
  };

  Inputs inputs(std::uint64_t state, std::uint64_t tile) {
    const bool stays = tile < resident_;
    if (stays && state > 0) return loaded_[tile];
    const Piece piece = piece_of(steps_, steps_.lanes(tile), s_.sequence);
    Inputs in;
    if (!stays) w_.segment().acquire(Engine::kSync, deltas_);
    in.delta = load(w_, Queue::kTiles, piece);
    if (!stays) w_.segment().acquire(Engine::kSync, us_);
    in.u = load(w_, Queue::kTiles, piece);
    if (stays) loaded_[tile] = in;
    return in;
  }

  void step(std::uint64_t state, std::uint64_t tile) {
    const std::uint64_t n = s_.sequence, lanes = steps_.lanes(tile);
    const Inputs in = inputs(state, tile);
    const Handle a = body_.load_a(lanes);
    const Handle product = steps_.combine(Op::kBinary, n, lanes, {in.delta, in.u});
    const bool stays = tile < resident_;
    const Body::State begun = body_.begin(n, lanes, in.delta, a, stays ? Handle{} : product);
    body_.release_a(begun.decay);
    if (!stays) {
      w_.segment().release(begun.decay, deltas_);
      w_.segment().release(product, us_);
    }
    body_.drive(begun, n, lanes, {});
    body_.finish(begun, n, lanes, {});
    if (state == 0) steps_.zero(n, lanes);
    const Handle added = steps_.combine(Op::kBinary, n, lanes, {});
    if (state + 1 == s_.states) stored_ = store(w_, Queue::kStore, piece_of(steps_, lanes, n), {added});
  }

  TileWriter& w_;
  const SelectiveScan& s_;
  ScanSteps steps_;
  Depths depths_;
  Body body_;
  std::uint64_t resident_ = 0;
  BufferRing deltas_, us_;
  std::vector<Inputs> loaded_;
  Handle stored_;
};

/// Buffers of the loops with channel tiles outside.
struct Layout {
  std::uint64_t spilled = 0;  ///< operands of a whole tile that do not stay, 0, 2 or 3
  Depths depths;
};

Layout layout_of(const TileWriter& w, const ScanSteps& steps, std::uint64_t sequence, std::uint64_t width) {
  const std::uint64_t whole = steps.bytes(sequence), step = steps.bytes(width), room = sbuf_room(w, steps);
  Layout l;
  const auto needs = [&](std::uint64_t kept) {
    return whole * kept + step * (l.depths.spread + l.depths.decay + kInner);
  };
  std::uint64_t kept = 3;  // delta, its product with u, sums
  if (needs(kept) > room) {
    l.spilled = needs(2) <= room ? 2 : 3;
    kept = l.spilled == 2 ? 2 : 1;
    if (needs(kept) > room || width < sequence) refuse(needs(width < sequence ? 3 : kept), room);
  }
  std::uint64_t left = room - needs(kept);
  raise(l.depths.spread, 2, step, left);
  raise(l.depths.decay, 2, step, left);
  if (l.spilled == 0) {
    for (std::uint32_t* depth : {&l.depths.delta, &l.depths.u, &l.depths.sums}) raise(*depth, 2, whole, left);
  }
  raise(l.depths.spread, 4, step, left);
  return l;
}

/// Channel tiles outside: delta and u are read once per tile, their product is made once and takes the place of u.
/// Where the tiles of a state do not fit SBUF side by side, delta and the product come again for every state through
/// one buffer, and at the worst the sums leave and come back through it too.
class ChannelOuter {
 public:
  ChannelOuter(TileWriter& w, const SelectiveScan& s)
      : w_(w),
        s_(s),
        steps_(w, s),
        width_(s.schedule == ScanSchedule::kChannelOuter ? s.sequence : std::min(s.chunk, s.sequence)),
        layout_(layout_of(w, steps_, s.sequence, width_)),
        body_(w, steps_, width_, s.schedule == ScanSchedule::kChannelOuterChunked, layout_.depths) {
    const auto ring = [&](std::uint32_t depth) {
      return w.program().sbuf_ring(Bytes(steps_.bytes(s.sequence)), depth);
    };
    if (layout_.spilled < 3) sums_ = ring(layout_.depths.sums);
    if (layout_.spilled > 0) {
      staged_ = ring(1);
    } else {
      deltas_ = ring(layout_.depths.delta);
      us_ = ring(layout_.depths.u);
    }
  }

  void emit() {
    for (std::uint64_t b = 0; b < s_.batch; ++b) {
      for (std::uint64_t tile = 0; tile < steps_.channel_tiles(); ++tile) {
        layout_.spilled > 0 ? spilling_tile(steps_.lanes(tile)) : resident_tile(steps_.lanes(tile));
      }
    }
    end_after(w_, {stored_});
  }

 private:
  Handle load_tile(BufferRing ring, std::uint64_t lanes, Handle after = {}) {
    w_.segment().acquire(Engine::kSync, ring);
    return load(w_, Queue::kTiles, piece_of(steps_, lanes, s_.sequence), {after});
  }
  Handle store_tile(Queue queue, BufferRing ring, std::uint64_t lanes, Handle ready) {
    const Handle stored = store(w_, queue, piece_of(steps_, lanes, s_.sequence), {ready});
    w_.segment().release(stored, ring);
    return stored;
  }

  void resident_tile(std::uint64_t lanes) {
    const Handle delta = load_tile(deltas_, lanes);
    const Handle u = load_tile(us_, lanes);
    const Handle product = steps_.combine(Op::kBinary, s_.sequence, lanes, {delta, u});
    w_.segment().acquire(Engine::kVector, sums_);
    Handle added = steps_.zero(s_.sequence, lanes);
    Body::State state;
    Handle driven;
    for (std::uint64_t i = 0; i < s_.states; ++i) {
      const Handle a = body_.load_a(lanes);
      Handle carry;
      for (std::uint64_t at = 0; at < s_.sequence; at += width_) {
        const std::uint64_t n = std::min(width_, s_.sequence - at);
        state = body_.begin(n, lanes, delta, a, i + 1 == s_.states ? product : Handle{});
        driven = body_.drive(state, n, lanes, {});
        const Handle scanned = body_.finish(state, n, lanes, carry);
        if (at + width_ < s_.sequence) carry = steps_.carry(lanes, scanned);
        added = steps_.combine(Op::kBinary, n, lanes, {});
      }
      body_.release_a(state.decay);
    }
    w_.segment().release(state.decay, deltas_);
    w_.segment().release(driven, us_);
    stored_ = store_tile(Queue::kStore, sums_, lanes, added);
  }

  void spilling_tile(std::uint64_t lanes) {
    const bool sums_leave = layout_.spilled == 3;
    const BufferRing sums = sums_leave ? staged_ : sums_;
    const std::uint64_t n = s_.sequence;
    const Handle first = load_tile(staged_, lanes);
    const Handle u = load_tile(body_.spread, lanes);
    const Handle product = steps_.combine(Op::kBinary, n, lanes, {first, u});
    w_.segment().release(product, staged_);
    const Handle away = store_tile(Queue::kKvWrite, body_.spread, lanes, product);
    w_.segment().acquire(Engine::kVector, sums);
    Handle added = steps_.zero(n, lanes);
    for (std::uint64_t i = 0; i < s_.states; ++i) {
      if (sums_leave) store_tile(Queue::kStore, staged_, lanes, added);
      const Handle a = body_.load_a(lanes);
      const Body::State state = body_.begin(n, lanes, load_tile(staged_, lanes), a, {});
      body_.release_a(state.decay);
      w_.segment().release(state.decay, staged_);
      const Handle again = load_tile(staged_, lanes, i == 0 ? away : Handle{});
      w_.segment().release(body_.drive(state, n, lanes, again), staged_);
      body_.finish(state, n, lanes, {});
      added = steps_.combine(Op::kBinary, n, lanes, {sums_leave ? load_tile(staged_, lanes) : Handle{}});
    }
    stored_ = store_tile(Queue::kStore, sums, lanes, added);
  }

  TileWriter& w_;
  const SelectiveScan& s_;
  ScanSteps steps_;
  std::uint64_t width_;
  Layout layout_;
  Body body_;
  BufferRing deltas_, us_, sums_, staged_;
  Handle stored_;
};

}  // namespace

void scan(TileWriter& w, const SelectiveScan& s) {
  if (s.batch == 0 || s.channels == 0 || s.sequence == 0 || s.states == 0) return;
  if (s.schedule == ScanSchedule::kStateOuter) {
    StateOuter(w, s).emit();
  } else {
    ChannelOuter(w, s).emit();
  }
}

}  // namespace trnsim
