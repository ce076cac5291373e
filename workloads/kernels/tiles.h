// Tiles between HBM and SBUF, for kernels that lay out SBUF themselves: one descriptor per partition row.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "workloads/kernels/writer.h"

namespace trnsim {

/// [rows x row_bytes] of a tensor in HBM; a row is contiguous there and lies on one partition in SBUF.
struct Piece {
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  Traffic traffic = Traffic::kActivations;
  std::uint64_t run_bytes = 0;  ///< contiguous in HBM; 0: a whole row
};

/// Where the machine generates descriptors in hardware kernels let it; else the compiler writes them in advance.
inline DescriptorGeneration usual_generation(const TileWriter& w) {
  return w.machine().dma.hardware_generators > 0 ? DescriptorGeneration::kHardware : DescriptorGeneration::kPrebuilt;
}

inline TileWriter::Move move_of(const TileWriter& w, const Piece& piece) {
  const std::uint64_t longest = w.machine().dma.max_descriptor.count();
  const std::uint64_t run = piece.run_bytes == 0 ? piece.row_bytes : piece.run_bytes;
  TileWriter::Move move;
  move.bytes = piece.rows * piece.row_bytes;
  move.descriptors = run == 0 ? 0 : piece.rows * ceil_div(piece.row_bytes, run) * ceil_div(run, longest);
  move.traffic = piece.traffic;
  move.generation = usual_generation(w);
  return move;
}

/// HBM to SBUF. Loads are started by the sync engine and run ahead as far as the buffers that it acquires allow.
inline Handle load(TileWriter& w, Queue queue, const Piece& piece, std::initializer_list<Handle> after = {}) {
  return w.move(Engine::kSync, queue, move_of(w, piece), after);
}

/// SBUF to HBM. Stores are started by GpSimd, so that loads do not wait behind results.
inline Handle store(TileWriter& w, Queue queue, const Piece& piece, std::initializer_list<Handle> after) {
  TileWriter::Move move = move_of(w, piece);
  move.source = Space::kSbuf;
  move.destination = Space::kHbm;
  return w.move(Engine::kGpSimd, queue, move, after);
}

/// The kernel ends when `stored` is in HBM.
inline Handle end_after(TileWriter& w, std::initializer_list<Handle> stored) {
  return w.segment().emit(Engine::kCollective, Instruction{}, stored);
}

/// Elements of FP32 that one PSUM bank holds per partition and one matmul fills.
inline std::uint64_t bank_columns(const TileWriter& w) {
  return w.core().moving_columns();
}

/// A ring of `count` whole PSUM banks.
inline BufferRing bank_ring(TileWriter& w, std::uint32_t count) {
  return w.program().psum_ring(w.core().psum_bank(), count);
}

/// One operation of a tile [rows x free] on the vector, scalar or GpSimd engine; operands lie in SBUF unless changed.
inline TileWriter::Elementwise tile_op(Op op, Dtype dtype, std::uint64_t free, std::uint64_t rows) {
  TileWriter::Elementwise e;
  e.op = op;
  e.dtype = dtype;
  e.free = Count::constant(free);
  e.rows = static_cast<std::uint32_t>(rows);
  if (op == Op::kBinary || op == Op::kScan || op == Op::kScalarTensorTensor) e.second = Space::kSbuf;
  return e;
}

inline TileWriter::Elementwise from_psum(TileWriter::Elementwise e) {
  e.source = Space::kPsum;
  return e;
}

/// A scalar-engine function of a tile.
inline TileWriter::Elementwise tile_function(Function function, Dtype dtype, std::uint64_t free, std::uint64_t rows) {
  TileWriter::Elementwise e = tile_op(Op::kActivation, dtype, free, rows);
  e.function = function;
  return e;
}

}  // namespace trnsim
