// The bias of a matmul's columns: a row in HBM, added to every result tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "workloads/kernels/matmul_parts.h"

namespace trnsim {

/// Rows of biases are loaded two tiles ahead and copied to all partitions one tile ahead, both by GpSimd.
class BiasRows {
 public:
  static constexpr std::uint64_t kBuffers = 3;  ///< of one tile's columns: a choice of software

  BiasRows(MatmulParts& parts, const ScheduledMatmul& s) : parts_(parts), s_(s) {
    const std::uint64_t slot = storage_bytes(parts.tile().n, s.result_dtype);
    ring_ = parts.writer().program().sbuf_ring(Bytes(slot), kBuffers);
  }

  /// Starts a product: the result tiles come in order of rows, columns within `block_m` x `block_n`.
  void begin() {
    columns_.clear();
    rows_.clear();
    spread_.clear();
    added_ = 0;
    for (const Range& m : cut({0, s_.m}, s_.block_m)) {
      for (const Range& n : cut({0, s_.n}, s_.block_n)) {
        for (std::uint64_t i = 0; i < ceil_div(m.size, parts_.tile().m); ++i) {
          for (const Range& part : cut(n, parts_.tile().n)) columns_.push_back(part.size);
        }
      }
    }
  }

  /// Adds the bias to the next result tile, in SBUF and of `rows` rows, on the vector engine.
  Handle add(std::uint64_t rows, Handle tile) {
    const std::size_t at = added_++;
    while (rows_.size() < std::min(columns_.size(), at + kBuffers)) load();
    while (spread_.size() < std::min(columns_.size(), at + kBuffers - 1)) spread();
    const Handle sum = parts_.writer().run(Engine::kVector,
                                           {.op = Op::kBinary,
                                            .free = Count::constant(columns_[at]),
                                            .dtype = s_.result_dtype,
                                            .rows = static_cast<std::uint32_t>(rows),
                                            .second = Space::kSbuf},
                                           {tile, spread_[at]});
    parts_.writer().segment().release(sum, ring_);
    return sum;
  }

  /// Bytes of all rows that are loaded.
  [[nodiscard]] static std::uint64_t bytes(const TileShape& tile, const ScheduledMatmul& s) {
    std::uint64_t rows = 0, row = 0;
    for (const Range& block : cut({0, s.m}, s.block_m)) rows += ceil_div(block.size, tile.m);
    for (const Range& block : cut({0, s.n}, s.block_n)) {
      for (const Range& part : cut(block, tile.n)) row += storage_bytes(part.size, s.dtype);
    }
    return rows * row * s.batch;
  }

 private:
  void load() {
    parts_.writer().segment().acquire(Engine::kGpSimd, ring_);
    rows_.push_back(parts_.load(Engine::kGpSimd, Queue::kInput, 1, columns_[rows_.size()], s_.dtype, Traffic::kBiases));
  }

  void spread() {
    const std::size_t at = spread_.size();
    spread_.push_back(parts_.writer().run(
        Engine::kGpSimd, {.op = Op::kCopy, .free = Count::constant(columns_[at]), .dtype = s_.dtype}, {rows_[at]}));
  }

  MatmulParts& parts_;
  const ScheduledMatmul& s_;
  BufferRing ring_;
  std::vector<std::uint64_t> columns_;  ///< of every result tile
  std::vector<Handle> rows_, spread_;   ///< as loaded, and on all partitions
  std::size_t added_ = 0;
};

}  // namespace trnsim
