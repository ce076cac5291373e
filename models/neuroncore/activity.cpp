#include "models/neuroncore/activity.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kPsumElementBytes = 4;  // PSUM holds FP32

void add_bytes(Activity& activity, Space space, std::uint64_t elements, Dtype dtype) {
  if (space == Space::kPsum) activity.psum_bytes += elements * kPsumElementBytes;
  if (space == Space::kSbuf) activity.sbuf_bytes += storage_bytes(elements, dtype);
}

}  // namespace

std::uint64_t macs_of(const Instruction& i, std::uint64_t elements) {
  return i.op == Op::kMatmul ? std::uint64_t{i.stored_rows()} * i.columns * elements : 0;
}

void add_activity(Activity& activity, Engine engine, const Instruction& i, std::uint64_t count,
                  std::uint64_t elements) {
  if (engine == Engine::kTensor) {
    const std::uint64_t moving = i.rows * elements;
    const std::uint64_t stationary = i.op == Op::kMatmul ? std::uint64_t{i.stored_rows()} * i.columns * count : 0;
    const std::uint64_t results = i.op == Op::kMatmul ? i.columns * elements : moving;
    activity.macs[static_cast<std::size_t>(i.dtype)] += macs_of(i, elements);
    activity.sbuf_bytes += storage_bytes(moving, i.dtype) + storage_bytes(stationary, i.dtype);
    if (i.sparsity != Sparsity::kDense) activity.sbuf_bytes += ceil_div(stationary * kSparsityTagBits, 8);
    activity.psum_bytes += 2 * results * kPsumElementBytes;
    return;
  }
  if (i.op == Op::kNop || i.op == Op::kDma || i.op == Op::kLoopBegin || i.op == Op::kLoopEnd) return;
  const std::uint64_t all = i.rows * elements;
  activity.vector_elements += all;
  add_bytes(activity, i.source, i.op == Op::kBinary ? 2 * all : all, i.dtype);
  if (i.op != Op::kReduce) add_bytes(activity, i.destination, all, i.dtype);
}

}  // namespace trnsim
