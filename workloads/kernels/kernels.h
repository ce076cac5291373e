// The kernels of a transformer, for one physical core of a logical core. One file each.
//
// Activations lie with features on the partitions and tokens along the free dimension. All kernels take the
// handle that makes their input ready and return the one that makes their output ready.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/kernels/writer.h"

namespace trnsim {

/// y = x / rms(x) * gain over `hidden`, for all tokens. Squares on scalar, the sum over partitions as a matmul with
/// ones, the products on vector. The gain comes from HBM.
Handle rms_norm(KernelWriter& w, std::uint64_t hidden, std::uint64_t tokens, Handle ready);

/// y = (x - mean(x)) / deviation(x) * gain, and + bias if there is one. Sums of values and of squares as matmuls with
/// ones; gain and bias come from HBM.
Handle layer_norm(KernelWriter& w, std::uint64_t hidden, bool bias, std::uint64_t tokens, Handle ready);
/// RMS norm of each head among `width` query and key features; one gain of `head_dim` for queries, one for keys.
Handle head_norm(KernelWriter& w, std::uint64_t head_dim, std::uint64_t width, std::uint64_t tokens, Handle ready);

/// A weight matrix [contraction x columns] applied to `tokens` tokens.
struct Projection {
  std::uint64_t contraction = 0, columns = 0, tokens = 0;
  Dtype dtype = Dtype::kBf16;
  bool bias = true;         ///< one BF16 value per column from HBM, added while PSUM is emptied
  Op evacuate = Op::kCopy;  ///< kCopy, or kBinary to combine with what SBUF holds (running maximum)
};
/// Streams the weights once through SBUF; weights stationary, tokens moving.
Handle project(KernelWriter& w, const Projection& p, Handle ready);

/// Rotary embedding of `width` query and key features, in place: two products and a sum on vector.
Handle rope(KernelWriter& w, std::uint64_t width, std::uint64_t tokens, Handle ready);

/// One decode step of attention over a KV cache in HBM.
struct DecodeAttention {
  std::uint64_t sequences = 0, q_heads = 0, kv_heads = 0, head_dim = 0;
  std::uint64_t keys = 0;     ///< per sequence, on this core
  std::uint64_t written = 0;  ///< sequences whose new key and value this core writes
};
Handle attention_decode(KernelWriter& w, const DecodeAttention& a, Handle ready);

/// Attention of a block of consecutive queries of each sequence over keys and values in HBM.
struct PrefillAttention {
  std::uint64_t sequences = 0, q_heads = 0, kv_heads = 0, head_dim = 0;
  std::uint64_t first_query = 0;  ///< position of this core's first query
  std::uint64_t queries = 0;      ///< per sequence, on this core
  std::uint64_t keys = 0;         ///< per sequence; a causal query at position p sees keys up to p
  std::uint64_t window = 0;       ///< keys seen by a query; 0 = all
  bool causal = true;

  /// Keys that the queries at positions [from, to) see: the first and one past the last.
  [[nodiscard]] std::uint64_t first_seen(std::uint64_t from) const;
  [[nodiscard]] std::uint64_t end_seen(std::uint64_t to) const;
};
Handle attention_prefill(KernelWriter& w, const PrefillAttention& a, Handle ready);
/// Queries that pass over the keys together. If the keys of one head fit a KV buffer all do, and keys are read once.
[[nodiscard]] std::uint64_t queries_per_pass(const KernelWriter& w, const PrefillAttention& a);
/// Keys read from HBM per sequence and KV head with `per_pass` queries in each pass.
[[nodiscard]] std::uint64_t keys_read(const PrefillAttention& a, std::uint64_t per_pass);

/// down(act(gate x) * up x), or down(act(up x)), over this core's `inner` columns of the inner width: partial sums of
/// the whole hidden width.
struct FeedForward {
  std::uint64_t hidden = 0, inner = 0, tokens = 0;
  std::uint64_t matrices = 3;  ///< 3: gate, up, down; 2: up, down
  bool bias = false;           ///< of all matrices; each core of a logical core reads its part of that of down
};
Handle feed_forward(KernelWriter& w, const FeedForward& f, Handle ready);

/// Scores of all experts for `tokens` tokens, the k best of them and their softmax.
struct Router {
  std::uint64_t hidden = 0, experts = 0, top_k = 0, tokens = 0;
  bool bias = true;
};
Handle router(KernelWriter& w, const Router& r, Handle ready);

/// Experts of one core: `hidden` wide, `inner` columns of each expert's inner width.
struct ExpertShape {
  std::uint64_t hidden = 0, inner = 0, tokens = 0;  ///< tokens that experts pick from
  Dtype dtype = Dtype::kBf16;
  bool gathers = true;             ///< an expert takes some of the tokens, not all
  bool from_hbm = false;           ///< tokens are rows in HBM, fetched and added up there by index
  std::uint64_t entry_tokens = 0;  ///< most tokens of one entry, see MoeRegisters
  bool bias = true;                ///< of all three matrices
};
/// Most tokens that an expert can take at a time on `w`'s core, at most `wanted`.
[[nodiscard]] std::uint64_t tokens_per_entry(const KernelWriter& w, std::uint64_t hidden, std::uint64_t wanted);
/// Whether one expert's weights stay in SBUF while its tokens pass in several entries.
[[nodiscard]] bool expert_stays(const KernelWriter& w, const ExpertShape& e);

/// Work list of one call, in registers. Entries go in pairs: one trip of the loop does entry 2i and 2i+1, so that the
/// second's matmuls hide the first's activation. An odd list ends with an empty entry.
struct MoeRegisters {
  std::uint32_t trips = 0;                ///< pairs
  std::uint32_t experts = 0;              ///< whose biases are read
  std::array<std::uint32_t, 2> loads{};   ///< first of max_trips: 1 = this entry brings new weights
  std::array<std::uint32_t, 2> tokens{};  ///< first of max_trips
  std::uint32_t max_trips = 0;

  static MoeRegisters reserve(SegmentBuilder& segment, std::uint32_t max_trips);
};
/// Gate, up, activation, down and weighted sum for the experts that registers name.
Handle moe(KernelWriter& w, const ExpertShape& e, const MoeRegisters& registers, Handle ready);

/// Final scores over this core's `vocabulary` columns and the best token among them.
Handle lm_head(KernelWriter& w, std::uint64_t hidden, std::uint64_t vocabulary, std::uint64_t tokens, Handle ready);

/// C[m x n] = A[m x k] B[k x n], all in HBM; `batch` products of this shape.
struct MatmulKernel {
  std::uint64_t m = 0, n = 0, k = 0;
  Dtype dtype = Dtype::kBf16;
  Dtype result = Dtype::kBf16;
  std::uint64_t batch = 1;
};
Handle matmul_kernel(KernelWriter& w, const MatmulKernel& shape);
/// Bytes of B that it reads.
[[nodiscard]] std::uint64_t matmul_weight_bytes(const KernelWriter& w, const MatmulKernel& shape);

/// `bytes` moved in `transfers` equal transfers, dealt over `queues` queues of one engine, from `first_queue` on.
struct DmaCopy {
  std::uint64_t bytes = 0;
  std::uint64_t transfers = 1;
  std::uint64_t descriptor_bytes = 1;  ///< payload of one descriptor
  std::uint64_t queues = 1;
  std::uint64_t first_queue = 0;
  std::uint64_t qos = 0;
  Traffic traffic = Traffic::kActivations;
  std::uint64_t partitions = 0;  ///< SBUF partitions touched; 0 = all
  Engine engine = Engine::kSync;
  DescriptorGeneration generation = DescriptorGeneration::kHardware;
  Space source = Space::kHbm;
  Space destination = Space::kSbuf;
  bool casts = false;
  bool reduced = false;  ///< the vector engine reduces every tile that arrives in SBUF
  Dtype dtype = Dtype::kBf16;
};
Handle dma_copy(TileWriter& w, const DmaCopy& copy);

/// `count` equal instructions back to back on one engine, each after the result of the one before if `dependent`; on
/// the tensor engine after `warmup` full BF16 matmuls, on the scalar engine with the function's table loaded before
/// unless `table_load`. Meanwhile `beside` copies as many times what the instruction reads to where it writes, in the
/// same PSUM bank or in another.
struct InstructionSeries {
  Engine engine = Engine::kTensor;
  Instruction instruction;
  std::uint64_t count = 1;
  std::uint64_t warmup = 0;
  bool dependent = false;
  bool table_load = false;
  std::optional<Engine> beside;
  bool same_bank = false;
};
/// Contraction depth of one pass of `matmul`, as it lies in the array.
[[nodiscard]] std::uint32_t most_rows(const TensorSpec& array, const Instruction& matmul);
/// The engine that is made for `op`.
[[nodiscard]] Engine engine_of(Op op, const CoreSpec& core);
/// Operators `warmup` and `instruction`. Throws InfeasibleError if the engine has not the operation or the operands
/// exceed it.
Handle instruction_series(TileWriter& w, const InstructionSeries& series);

}  // namespace trnsim
