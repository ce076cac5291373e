// Kernels over rows: a token or row per partition, features along the free dimension, operands in HBM.
#pragma once

#include <cstdint>

#include "workloads/kernels/writer.h"

namespace trnsim {

/// x / rms(x) * gain of [tokens x hidden], written in `result`; FP8 results are quantised row by row, with FP32 scales.
struct RowNorm {
  std::uint64_t tokens = 0, hidden = 0;
  Dtype dtype = Dtype::kBf16, result = Dtype::kBf16;
};
void rms_norm_rows(TileWriter& w, const RowNorm& n);

/// Softmax of each row of [m x n]. In one pass over HBM a row stays in SBUF from maximum to quotient; in three the row
/// is read for its maximum, for its sum, and for the quotients.
struct RowSoftmax {
  std::uint64_t m = 0, n = 0;
  bool resident = true;
  Dtype dtype = Dtype::kFp32;
};
void softmax_rows(TileWriter& w, const RowSoftmax& s);

}  // namespace trnsim
