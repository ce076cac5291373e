#include "workloads/graph/count.h"

#include <algorithm>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// sum += a * b. Throws InfeasibleError rather than wrap.
void add_product(std::uint64_t& sum, std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum)) {
    throw InfeasibleError("the programs do more than 2^64 of something that is counted; a smaller job is needed");
  }
}

class Walk {
 public:
  Walk(const CoreJob& job, const Call& call) : job_(job), call_(call), segment_(job.program->segments[call.segment]) {}

  void all(WorkCount& count) {
    for (const auto& list : segment_.instructions) {
      for (std::size_t at = 0; at < list.size();) at = one(list, at, 0, count);
    }
  }

 private:
  // Counts the instruction or loop at `at`; returns the position after it. `trip` is that of the innermost loop.
  std::size_t one(const std::vector<Instruction>& list, std::size_t at, std::uint64_t trip, WorkCount& count) {
    const Instruction& instruction = list[at];
    if (instruction.op == Op::kLoopBegin) {
      const std::uint64_t trips = value(instruction.repeat, trip);
      for (std::uint64_t i = 0; i < trips; ++i) {
        for (std::size_t inner = at + 1; inner < instruction.transfer;) inner = one(list, inner, i, count);
      }
      return instruction.transfer + 1;
    }
    const std::uint64_t repeat = value(instruction.repeat, trip);
    if (instruction.op != Op::kNop) ++count.instructions;
    if (instruction.op == Op::kMatmul) {
      std::uint64_t columns = 0;
      add_product(columns, value(instruction.free, trip), repeat);
      add_product(count.macs[static_cast<std::size_t>(instruction.dtype)],
                  std::uint64_t{instruction.stored_rows()} * instruction.columns, columns);
    }
    if (instruction.op == Op::kDma) transfer(segment_.transfers[instruction.transfer], repeat, count);
    return at + 1;
  }

  static void transfer(const Transfer& transfer, std::uint64_t repeat, WorkCount& count) {
    const std::uint64_t bytes = transfer.bytes_per_repeat.count() * repeat;
    count.bytes[static_cast<std::size_t>(transfer.traffic)] += bytes;
    if (transfer.peer == kSelf) return;
    count.bytes_to_peer[transfer.peer] += bytes;
    (transfer.peer == 0 ? count.sibling_bytes : count.sent_bytes) += bytes;
  }

  [[nodiscard]] std::uint64_t value(const Count& count, std::uint64_t trip) const {
    if (count.kind == Count::Kind::kConstant) return count.scale;
    const std::size_t index = std::size_t{call_.frame} + count.index + (count.kind == Count::Kind::kIndexed ? trip : 0);
    check(index < job_.registers.size(), "a program reads only registers that its job sets");
    return count.scale * job_.registers[index];
  }

  const CoreJob& job_;
  const Call& call_;
  const Segment& segment_;
};

}  // namespace

void WorkCount::add(const WorkCount& other, std::uint64_t times) {
  for (std::size_t i = 0; i < kDtypeCount; ++i) add_product(macs[i], other.macs[i], times);
  for (std::size_t i = 0; i < kTrafficCount; ++i) add_product(bytes[i], other.bytes[i], times);
  for (const auto& [peer, sent] : other.bytes_to_peer) bytes_to_peer[peer] += sent * times;
  sent_bytes += other.sent_bytes * times;
  sibling_bytes += other.sibling_bytes * times;
  instructions += other.instructions * times;
}

WorkCount count_work(const CoreJob& job) {
  WorkCount count;
  if (job.program == nullptr) return count;
  for (const Call& call : job.program->calls) Walk(job, call).all(count);
  return count;
}

bool has_work(const CoreJob& job) {
  const auto has_instructions = [](const Segment& segment) {
    return std::ranges::any_of(segment.instructions, [](const auto& list) { return !list.empty(); });
  };
  return job.program != nullptr && std::ranges::any_of(job.program->segments, has_instructions);
}

}  // namespace trnsim
