#include "workloads/kernels/latent_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kFp32Bytes = 4;
constexpr std::uint64_t kReluWeightSum = 3;  // operations on a score of one head

}  // namespace

LatentCount count_of(const LatentDecode& a) {
  const Wide queries = Wide(a.sequences) * a.heads, rows = Wide(a.sequences) * a.keys;
  LatentCount c;
  c.absorb_flop = 2 * queries * a.nope_dim * a.kv_rank;
  c.score_flop = 2 * rows * a.heads * a.row();
  c.value_flop = 2 * rows * a.heads * a.kv_rank;
  c.value_up_flop = 2 * queries * a.kv_rank * a.value_dim;
  if (a.sequences > 0) c.weight_bytes = Wide(a.heads) * a.kv_rank * (a.nope_dim + a.value_dim) * kBf16Bytes;
  c.kv_read_bytes = rows * a.row() * kBf16Bytes;
  c.kv_write_bytes = Wide(a.written) * a.row() * kBf16Bytes;
  return c;
}

LatentCount count_of(const LatentPrefill& a) {
  const std::uint64_t last = a.first_query + a.queries;
  const Wide pairs = a.sequences * (Wide(last) * (last + 1) - Wide(a.first_query) * (a.first_query + 1)) / 2;
  const Wide rows = Wide(a.sequences) * a.keys;
  const std::uint64_t expanded = a.nope_dim + a.value_dim;
  LatentCount c;
  c.expand_flop = 2 * rows * a.kv_rank * a.heads * expanded;
  c.score_flop = 2 * pairs * a.heads * (a.nope_dim + a.rope_dim);
  c.value_flop = 2 * pairs * a.heads * a.value_dim;
  if (rows > 0) c.weight_bytes = Wide(a.kv_rank) * a.heads * expanded * kBf16Bytes;
  c.kv_write_bytes = rows * a.heads * expanded * kBf16Bytes;
  c.kv_read_bytes = c.kv_write_bytes + rows * a.rope_dim * kBf16Bytes;
  return c;
}

std::uint64_t IndexerDecode::key_bytes() const {
  return storage_bytes(dim, Dtype::kFp8) + kFp32Bytes;
}

IndexerCount count_of(const IndexerDecode& a) {
  const Wide tokens = a.sequences, rows = tokens * a.keys, width = Wide(a.heads) * a.dim;
  IndexerCount c;
  c.query_flop = 2 * tokens * a.q_rank * width;
  c.key_flop = 2 * tokens * a.hidden * a.dim;
  c.head_weight_flop = 2 * tokens * a.hidden * a.heads;
  c.score_flop = 2 * rows * width;
  c.vector_operations = kReluWeightSum * rows * a.heads;
  if (tokens > 0) c.weight_bytes = kBf16Bytes * (a.q_rank * width + Wide(a.hidden) * (a.dim + a.heads));
  c.kv_read_bytes = rows * a.key_bytes();
  c.kv_write_bytes = Wide(a.written) * a.key_bytes();
  return c;
}

}  // namespace trnsim
