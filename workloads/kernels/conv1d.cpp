#include <algorithm>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/tiles.h"
#include "workloads/kernels/vector_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint32_t kTileBuffers = 2;  // one tile is loaded while the one before is convolved

/// For every position a multiply by the taps and a sum, on the vector engine, one channel per partition. Input and
/// output tiles are zeroed before they are loaded and written. An image that is declared resident as a whole passes
/// through the buffers that fit all the same: two declarations of all images exceed SBUF.
class Convolution {
 public:
  Convolution(TileWriter& w, const DepthwiseConvolution& c) : w_(w), c_(c) {
    channels_ = w.share(c.channels);
    filters_.resize(tiles());
    const std::uint64_t in = bytes(padded()), out = bytes(c.sequence), filters = bytes(c.taps) * filter_tiles();
    const std::uint64_t sbuf = w.core().sbuf_per_partition.count();
    std::uint32_t depth = kTileBuffers;
    if (!c.tile_resident) {
      const std::uint64_t fit = sbuf > filters ? (sbuf - filters) / (in + out) : 0;
      depth = static_cast<std::uint32_t>(std::min(fit, std::max<std::uint64_t>(1, c.batch * tiles())));
      if (depth == 0) throw InfeasibleError("one input and one output tile of the convolution exceed SBUF");
    }
    w.program().reserve_sbuf(Bytes(filters));
    in_ = w.program().sbuf_ring(Bytes(in), depth);
    out_ = w.program().sbuf_ring(Bytes(out), depth);
    if (c.tile_resident) filter_bank_ = bank_ring(w, kTileBuffers);
  }

  void emit() {
    const std::uint64_t count = c_.batch * tiles();
    Ready next = prepare(0);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Ready ready = next;
      if (i + 1 < count) next = prepare(i + 1);
      convolve(i, ready);
    }
    end_after(w_, {stored_});
  }

 private:
  struct Ready {
    Handle input, output, filter;
  };

  [[nodiscard]] std::uint64_t bytes(std::uint64_t elements) const { return storage_bytes(elements, c_.dtype); }
  [[nodiscard]] std::uint64_t padded() const { return c_.sequence + DepthwiseConvolution::kPadded; }
  [[nodiscard]] std::uint64_t tiles() const { return w_.tiles(channels_); }
  [[nodiscard]] std::uint64_t filter_tiles() const { return c_.tile_resident ? kTileBuffers : tiles(); }
  /// The channel tile of the i-th step.
  [[nodiscard]] std::uint64_t tile_of(std::uint64_t i) const { return c_.tile_resident ? i / c_.batch : i % tiles(); }
  [[nodiscard]] std::uint64_t lanes(std::uint64_t i) const {
    return std::min(w_.tile_width(), channels_ - tile_of(i) * w_.tile_width());
  }
  /// Positions with a full set of taps; with padding 1 and three taps as many as there are columns.
  [[nodiscard]] std::uint64_t positions() const { return std::min(c_.sequence, padded() - c_.taps + 1); }

  // Zeroes and loads the input tile of step `i`, zeroes its output tile.
  Ready prepare(std::uint64_t i) {
    if (new_filter(i)) load_filter(tile_of(i), lanes(i));
    Ready ready;
    ready.filter = filters_[tile_of(i)];
    w_.segment().acquire(Engine::kGpSimd, in_);
    const Handle zeroed = w_.run(Engine::kGpSimd, tile_op(Op::kMemset, c_.dtype, padded(), lanes(i)), {});
    ready.input = load(w_, Queue::kTiles, {.rows = lanes(i), .row_bytes = bytes(c_.sequence)}, {zeroed});
    w_.segment().acquire(Engine::kGpSimd, out_);
    ready.output = w_.run(Engine::kGpSimd, tile_op(Op::kMemset, c_.dtype, c_.sequence, lanes(i)), {});
    return ready;
  }

  [[nodiscard]] bool new_filter(std::uint64_t i) const { return c_.tile_resident ? i % c_.batch == 0 : i < tiles(); }

  void load_filter(std::uint64_t tile, std::uint64_t lanes) {
    const Piece piece{.rows = lanes, .row_bytes = bytes(c_.taps), .traffic = Traffic::kWeights};
    filters_[tile] = load(w_, Queue::kSmall, piece);
    if (!c_.tile_resident) return;
    w_.segment().acquire(Engine::kScalar, filter_bank_);
    TileWriter::Elementwise copy = tile_op(Op::kCopy, c_.dtype, c_.taps, lanes);
    copy.destination = Space::kPsum;
    filters_[tile] = w_.run(Engine::kScalar, copy, {filters_[tile]});
  }

  void convolve(std::uint64_t i, const Ready& ready) {
    TileWriter::Elementwise multiply = tile_op(Op::kBinary, c_.dtype, c_.taps, lanes(i));
    if (c_.tile_resident) multiply.second = Space::kPsum;
    const TileWriter::Elementwise sum = tile_op(Op::kReduce, c_.dtype, c_.taps, lanes(i));
    Handle done;
    for (std::uint64_t position = 0; position < positions(); ++position) {
      w_.run(Engine::kVector, multiply, {ready.input, ready.output, ready.filter});
      done = w_.run(Engine::kVector, sum, {});
    }
    w_.segment().release(done, in_);
    const bool last_of_filter = c_.tile_resident && (i + 1) % c_.batch == 0;
    if (last_of_filter) w_.segment().release(done, filter_bank_);
    stored_ = store(w_, Queue::kStore, {.rows = lanes(i), .row_bytes = bytes(c_.sequence)}, {done});
    w_.segment().release(stored_, out_);
  }

  TileWriter& w_;
  const DepthwiseConvolution& c_;
  std::uint64_t channels_ = 0;
  BufferRing in_, out_, filter_bank_;
  std::vector<Handle> filters_;  ///< by channel tile
  Handle stored_;
};

}  // namespace

// REQUIRES: 1 to as many taps as there are padded columns.
void conv1d(TileWriter& w, const DepthwiseConvolution& c) {
  if (c.batch == 0 || w.share(c.channels) == 0 || c.sequence == 0) return;
  Convolution(w, c).emit();
}

}  // namespace trnsim
