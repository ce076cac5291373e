#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/tiles.h"
#include "workloads/kernels/vector_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kColumns = 512;  // of one tile
constexpr std::uint32_t kBuffers = 2;    // load the next tile while computing on this one

}  // namespace

// Half of the partitions work: the lower half of x is first copied to the partitions of the upper half, by scalar.
void rope_tiles(TileWriter& w, const RotaryTiles& r) {
  const std::uint64_t columns = w.share(r.columns), half = r.head_dim / 2;
  if (columns == 0 || half == 0) return;
  if (r.head_dim > w.partitions()) {
    throw InfeasibleError("head_dim=" + std::to_string(r.head_dim) +
                          ": the elements of a head lie on partitions, has " + std::to_string(w.partitions()));
  }
  const Bytes tile(storage_bytes(kColumns, r.dtype));
  const BufferRing inputs = w.program().sbuf_ring(tile, kBuffers);
  const BufferRing tables = w.program().sbuf_ring(tile * 2, kBuffers);
  const BufferRing copies = w.program().sbuf_ring(tile, kBuffers);
  const BufferRing results = w.program().sbuf_ring(tile, kBuffers);
  w.program().reserve_sbuf(tile * 4);  // products
  SegmentBuilder& segment = w.segment();
  Handle stored;
  for (std::uint64_t at = 0; at < columns; at += kColumns) {
    const std::uint64_t n = std::min(kColumns, columns - at), bytes = storage_bytes(n, r.dtype);
    segment.acquire(Engine::kSync, inputs);
    const Handle x = load(w, Queue::kTiles, {.rows = r.head_dim, .row_bytes = bytes});
    segment.acquire(Engine::kSync, tables);
    const Handle cosine = load(w, Queue::kSmall, {.rows = half, .row_bytes = bytes});
    const Handle sine = load(w, Queue::kSmall, {.rows = half, .row_bytes = bytes});
    segment.acquire(Engine::kScalar, copies);
    const Handle moved = w.run(Engine::kScalar, tile_op(Op::kCopy, r.dtype, n, half), {x});
    const TileWriter::Elementwise combine = tile_op(Op::kBinary, r.dtype, n, half);
    w.run(Engine::kVector, combine, {x, cosine});
    w.run(Engine::kVector, combine, {moved, sine});
    segment.acquire(Engine::kVector, results);
    w.run(Engine::kVector, combine, {});  // difference of the two
    w.run(Engine::kVector, combine, {});
    const Handle read = w.run(Engine::kVector, combine, {});
    segment.release(read, inputs);
    segment.release(read, tables);
    segment.release(read, copies);
    const Handle done = w.run(Engine::kVector, combine, {});
    stored = store(w, Queue::kStore, {.rows = r.head_dim, .row_bytes = bytes}, {done});
    segment.release(stored, results);
  }
  end_after(w, {stored});
}

}  // namespace trnsim
