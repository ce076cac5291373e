#include "models/neuroncore/executions.h"

#include "models/neuroncore/sequencer.h"

namespace trnsim {
namespace {

std::uint64_t executions_of(Sequencer sequencer, bool one_by_one) {
  std::uint64_t sum = 0;
  while (const Instruction* instruction = sequencer.current()) {
    switch (instruction->op) {
      case Op::kLoopBegin:
        sequencer.enter_loop(*instruction, sequencer.value(instruction->repeat));
        break;
      case Op::kLoopEnd:
        ++sum;
        sequencer.end_loop();
        break;
      case Op::kNop:
        sequencer.advance();
        break;
      case Op::kDma:
        sum += 2;  // its issue and its time in the queue
        sequencer.advance();
        break;
      default: {
        const std::uint64_t repeat = sequencer.value(instruction->repeat);
        if (sequencer.value(instruction->free) > 0 && repeat > 0) sum += one_by_one ? repeat : 1;
        sequencer.advance();
      }
    }
  }
  return sum;
}

}  // namespace

std::uint64_t executions_of(const CoreJob& job, bool one_by_one) {
  std::uint64_t sum = 0;
  for (std::size_t e = 0; e < kEngineCount; ++e)
    sum += executions_of(Sequencer(static_cast<Engine>(e), job), one_by_one);
  return sum;
}

}  // namespace trnsim
