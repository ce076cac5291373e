#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;

class Experts {
 public:
  Experts(KernelWriter& w, const ExpertShape& e, const MoeRegisters& registers)
      : w_(w), e_(e), registers_(registers), output_tiles_(w.tiles(e.hidden)) {
    // Blocks of inner columns: bounded by a weight buffer and by the PSUM that gate and up take.
    const std::uint64_t width = w.core().tensor.columns;
    const std::uint64_t by_psum = std::max<std::uint64_t>(1, w.rings().psum_slot / (2 * e.entry_tokens)) * width;
    const std::uint64_t by_sbuf = w.rings().weight_slot * w.partitions() / storage_bytes(3 * e.hidden, e.dtype);
    if (by_sbuf == 0) throw InfeasibleError("one inner column of an expert does not fit a weight buffer in SBUF");
    load_columns_ = std::min(e.inner, by_sbuf);
    pass_columns_ = std::min(load_columns_, by_psum);
  }

  /// Gate, up and activation of all blocks, interleaved with the down products of the blocks before.
  struct Progress {
    Handle weights;  ///< buffer in use
    Handle input;    ///< gathered tokens
    Handle sums;     ///< last down product
  };

  void pair() {
    std::array<Handle, 2> input;
    for (std::size_t i = 0; i < 2; ++i) input[i] = gather(i);
    if (load_columns_ == e_.inner && pass_columns_ == e_.inner) {
      interleaved(input);
    } else {
      for (std::size_t i = 0; i < 2; ++i) in_blocks(i, input[i]);
    }
  }

  /// Where the last step of an entry ends: rows stored to HBM are waited for by the otherwise idle CC-cores.
  [[nodiscard]] Engine last_engine() const {
    if (e_.from_hbm) return Engine::kCollective;
    return e_.gathers ? Engine::kGpSimd : Engine::kVector;
  }

 private:
  [[nodiscard]] Count tokens(std::size_t i, std::uint64_t scale = 1) const {
    return Count::indexed(registers_.tokens[i], scale);
  }

  // From HBM: one row per descriptor, turned by the DMA engines on the way.
  [[nodiscard]] KernelWriter::Move rows(std::size_t i, Space from, Space to) const {
    return {.bytes = e_.hidden * kBf16Bytes,
            .descriptors = 1,
            .repeat = tokens(i),
            .source = from,
            .destination = to,
            .generation = DescriptorGeneration::kSoftware};
  }

  Handle gather(std::size_t i) {
    if (e_.from_hbm) {
      const Handle loaded = w_.move(Engine::kGpSimd, Queue::kInput, rows(i, Space::kHbm, Space::kSbuf), {});
      return quantize(w_, e_.dtype, tokens(i, w_.tiles(e_.hidden)), loaded);
    }
    if (!e_.gathers) return {};
    return w_.run(Engine::kGpSimd, {Op::kGather, tokens(i, w_.tiles(e_.hidden))}, {});
  }

  Handle load(std::size_t i, std::uint64_t columns) {
    w_.segment().acquire(Engine::kSync, w_.rings().weights);
    return w_.move(Engine::kSync, Queue::kWeights,
                   {.bytes = storage_bytes(3 * e_.hidden * columns, e_.dtype),
                    .repeat = Count::indexed(registers_.loads[i]),
                    .traffic = Traffic::kWeights},
                   {});
  }

  // The whole share of an expert at once: both entries' gate and up, then both entries' down.
  void interleaved(const std::array<Handle, 2>& input) {
    std::array<Handle, 2> inner;
    for (std::size_t i = 0; i < 2; ++i) inner[i] = gate_up(i, e_.inner, input[i], load(i, e_.inner));
    for (std::size_t i = 0; i < 2; ++i) {
      w_.segment().acquire(Engine::kTensor, w_.rings().sums);
      const Handle sums = down(i, e_.inner, inner[i]);
      w_.segment().release(sums, w_.rings().weights);
      combine(i, sums);
    }
  }

  // More than one buffer of weights, or of PSUM, per expert: block by block, down products accumulate in PSUM.
  void in_blocks(std::size_t i, Handle input) {
    w_.segment().acquire(Engine::kTensor, w_.rings().sums);
    Handle sums;
    for (std::uint64_t first = 0; first < e_.inner; first += load_columns_) {
      const std::uint64_t loaded = std::min(load_columns_, e_.inner - first);
      const Handle weights = load(i, loaded);
      Handle before;
      std::uint64_t before_columns = 0;
      for (std::uint64_t at = 0; at < loaded; at += pass_columns_) {
        const std::uint64_t columns = std::min(pass_columns_, loaded - at);
        const Handle inner = gate_up(i, columns, input, weights);
        if (before.valid()) down(i, before_columns, before);
        before = inner;
        before_columns = columns;
      }
      sums = down(i, before_columns, before);
      w_.segment().release(sums, w_.rings().weights);
    }
    combine(i, sums);
  }

  Handle gate_up(std::size_t i, std::uint64_t columns, Handle input, Handle weights) {
    const std::uint64_t tiles = ceil_div(columns, w_.core().tensor.columns);
    w_.segment().acquire(Engine::kTensor, w_.rings().psum);
    const Handle products = w_.matmul({.dtype = e_.dtype,
                                       .rows = std::min(e_.hidden, w_.contraction_rows(e_.dtype)),
                                       .columns = ceil_div(columns, tiles),
                                       .free = tokens(i),
                                       .repeat = Count::constant(2 * w_.passes(e_.hidden, e_.dtype) * tiles)},
                                      {input, weights});
    const Handle gate = w_.run(Engine::kScalar, {Op::kActivation, tokens(i, tiles), Space::kPsum}, {products});
    Handle inner = w_.run(Engine::kVector, {Op::kBinary, tokens(i, tiles), Space::kPsum}, {products, gate});
    w_.segment().release(inner, w_.rings().psum);
    return quantize(w_, e_.dtype, tokens(i, tiles), inner);
  }

  Handle down(std::size_t i, std::uint64_t columns, Handle inner) {
    return w_.matmul({.dtype = e_.dtype,
                      .rows = std::min(columns, w_.contraction_rows(e_.dtype)),
                      .columns = ceil_div(e_.hidden, output_tiles_),
                      .free = tokens(i),
                      .repeat = Count::constant(w_.passes(columns, e_.dtype) * output_tiles_)},
                     {inner});
  }

  // Times the router's weight while PSUM is emptied, then added to the tokens it belongs to.
  void combine(std::size_t i, Handle sums) {
    const Handle weighted = w_.run(Engine::kVector, {Op::kBinary, tokens(i, output_tiles_), Space::kPsum}, {sums});
    w_.segment().release(weighted, w_.rings().sums);
    if (e_.from_hbm) {
      const Handle stored = w_.move(Engine::kGpSimd, Queue::kScatter, rows(i, Space::kSbuf, Space::kHbm), {weighted});
      w_.segment().emit(Engine::kCollective, Instruction{}, {stored});
      return;
    }
    const Op op = e_.gathers ? Op::kGather : Op::kBinary;
    w_.run(last_engine(), {op, tokens(i, output_tiles_)}, {weighted});
  }

 public:
  static Handle quantize(KernelWriter& w, Dtype dtype, Count free, Handle ready) {
    if (is_microscaled(dtype)) return w.run(Engine::kVector, {Op::kQuantizeMx, free}, {ready});
    if (dtype != Dtype::kFp8) return ready;
    w.run(Engine::kVector, {Op::kReduce, free}, {ready});
    return w.run(Engine::kVector, {Op::kCopy, free}, {});
  }

 private:
  KernelWriter& w_;
  const ExpertShape& e_;
  const MoeRegisters& registers_;
  std::uint64_t output_tiles_;
  std::uint64_t load_columns_ = 0;
  std::uint64_t pass_columns_ = 0;
};

}  // namespace

std::uint64_t tokens_per_entry(const KernelWriter& w, std::uint64_t hidden, std::uint64_t wanted) {
  const std::uint64_t by_sums = w.rings().sums_slot / w.tiles(hidden);
  const std::uint64_t by_gate_up = w.rings().psum_slot / 2;
  const std::uint64_t most = std::min({by_sums, by_gate_up, w.core().moving_columns()});
  if (most == 0) throw InfeasibleError("the output of one token of an expert does not fit a PSUM buffer");
  return std::max<std::uint64_t>(1, std::min(most, wanted));
}

bool expert_stays(const KernelWriter& w, const ExpertShape& e) {
  return storage_bytes(3 * e.hidden * e.inner, e.dtype) <= w.rings().weight_slot * w.partitions();
}

MoeRegisters MoeRegisters::reserve(SegmentBuilder& segment, std::uint32_t max_trips) {
  MoeRegisters r;
  r.max_trips = max_trips;
  r.trips = segment.reserve_registers(1);
  r.experts = segment.reserve_registers(1);
  for (std::size_t i = 0; i < 2; ++i) {
    r.loads[i] = segment.reserve_registers(max_trips);
    r.tokens[i] = segment.reserve_registers(max_trips);
  }
  return r;
}

Handle moe(KernelWriter& w, const ExpertShape& e, const MoeRegisters& registers, Handle ready) {
  if (e.tokens == 0) return ready;
  const Count all = Count::constant(w.free_elements(e.hidden, e.tokens));
  Handle input = ready;
  if (!e.from_hbm) {
    const Handle zeroed = w.run(Engine::kVector, {Op::kCopy, all}, {ready});
    input = Experts::quantize(w, e.dtype, all, zeroed);
  }
  const Handle biases = w.move(Engine::kGpSimd, Queue::kExpertBiases,
                               {.bytes = e.bias ? (2 * e.inner + w.share(e.hidden)) * kBf16Bytes : 0,
                                .descriptors = 3,
                                .repeat = Count::reg(registers.experts),
                                .traffic = Traffic::kBiases,
                                .generation = DescriptorGeneration::kSoftware},
                               {ready});
  // The other core of the logical core has every column of a width of one.
  if (e.inner == 0) return w.segment().emit(Engine::kVector, Instruction{}, {biases, input});
  // The list of experts is known: weights may be fetched, tokens gathered, biases used.
  w.segment().emit(Engine::kSync, Instruction{}, {ready});
  w.segment().emit(Engine::kTensor, Instruction{}, {input});
  w.segment().emit(Engine::kGpSimd, Instruction{}, {input});
  w.segment().emit(Engine::kScalar, Instruction{}, {biases});
  w.segment().emit(Engine::kVector, Instruction{}, {biases});
  Experts experts(w, e, registers);
  const SegmentBuilder::LoopExit exit = w.segment().loop(Count::reg(registers.trips), [&] { experts.pair(); });
  return w.segment().emit(Engine::kVector, Instruction{}, {exit.on(experts.last_engine()), exit.on(Engine::kVector)});
}

}  // namespace trnsim
