// Cached keys of all sequences cut into pieces that stream through SBUF, two at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/kernels/writer.h"

namespace trnsim {

/// New rows of a cache, each with a descriptor of its own.
inline Handle write_rows(KernelWriter& w, std::uint64_t rows, std::uint64_t row_bytes, Handle ready) {
  return w.move(Engine::kGpSimd, Queue::kKvWrite,
                {.bytes = rows * row_bytes,
                 .descriptors = rows,
                 .traffic = Traffic::kKvWrite,
                 .source = Space::kSbuf,
                 .destination = Space::kHbm,
                 .generation = DescriptorGeneration::kSoftware},
                {ready});
}

/// Some keys of each of some sequences.
struct KeyPiece {
  std::uint64_t sequences = 0;
  std::uint64_t keys = 0;  ///< per sequence
};

struct PieceCut {
  std::uint64_t sequences = 0, keys = 0;  ///< in all
  std::uint64_t most_tiles = 1;           ///< of keys, in one piece
  std::uint64_t most_sequences = 1;       ///< in one piece

  /// Pieces that the keys of one sequence make.
  [[nodiscard]] std::uint64_t pieces(const TileWriter& w) const { return ceil_div(keys, piece_keys(w)); }
  /// Keys of one sequence in one piece. A lone sequence makes two, so that loading overlaps computing.
  [[nodiscard]] std::uint64_t piece_keys(const TileWriter& w) const {
    const std::uint64_t tiles = w.tiles(keys);
    const std::uint64_t most = sequences == 1 ? std::min(most_tiles, ceil_div(tiles, 2)) : most_tiles;
    return std::min(keys, ceil_div(tiles, ceil_div(tiles, most)) * w.tile_width());
  }
};

using PiecesBody = std::function<Handle(const std::vector<KeyPiece>&)>;

namespace detail {

inline Handle equal_pieces(TileWriter& w, Engine last, std::uint64_t whole, const KeyPiece& full, const KeyPiece& rest,
                           const PiecesBody& body) {
  Handle done = w.times(whole / 2, last, [&] { return body({full, full}); });
  std::vector<KeyPiece> tail;
  if (whole % 2 == 1) tail.push_back(full);
  if (rest.sequences > 0 && rest.keys > 0) tail.push_back(rest);
  return tail.empty() ? done : body(tail);
}

}  // namespace detail

/// `body` takes one or two pieces and returns its last handle, on `last`. REQUIRES: there are keys.
inline Handle in_pieces(TileWriter& w, const PieceCut& cut, Engine last, const PiecesBody& body) {
  const std::uint64_t keys = cut.piece_keys(w);
  if (keys < cut.keys) {
    return w.times(cut.sequences, last, [&] {
      return detail::equal_pieces(w, last, cut.keys / keys, {1, keys}, {1, cut.keys % keys}, body);
    });
  }
  const std::uint64_t fit = std::min(cut.most_tiles / w.tiles(keys), cut.most_sequences);
  const std::uint64_t sequences = std::clamp<std::uint64_t>(fit, 1, ceil_div(cut.sequences, 2));
  return detail::equal_pieces(w, last, cut.sequences / sequences, {sequences, keys}, {cut.sequences % sequences, keys},
                              body);
}

}  // namespace trnsim
