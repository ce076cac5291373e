// Kernels written for one core alone, to count and to run what they emit.
#pragma once

#include <functional>
#include <memory>

#include "models/neuroncore/timing.h"
#include "tests/workloads/lowering.h"
#include "workloads/kernels/writer.h"

namespace trnsim::test {

struct WrittenKernel {
  std::shared_ptr<const Program> program;
  Job job;
  WorkCount count;

  [[nodiscard]] std::uint64_t bytes(Traffic traffic) const { return count.bytes[static_cast<std::size_t>(traffic)]; }
};

/// For one core of a logical core of one.
inline WrittenKernel written(const MachineSpec& machine, const std::function<void(KernelWriter&)>& kernel) {
  ProgramBuilder program("kernel");
  KernelWriter w(program, machine, 1, 0, 4096, 0);
  program.call(program.segment("kernel", [&](SegmentBuilder& s) {
    w.write_to(s);
    kernel(w);
  }));
  WrittenKernel result;
  result.program = program.finish();
  result.job.cores.push_back({result.program, {}, {CoreId(0)}});
  result.count = count_work(result.job.cores[0]);
  return result;
}

/// Every instruction is one that its engine has and fits it; the job ends with all semaphores as they were.
inline void expect_legal(const MachineSpec& machine, const Job& job) {
  Interpreter interpreter(job);
  interpreter.on_step = [&](const Step& step) {
    const Instruction& i = *step.instruction;
    if (i.op == Op::kDma || i.op == Op::kNop) return;
    (void)cost_of(machine.core, step.engine, i, step.free);  // throws for an operation that the engine does not have
    if (i.op != Op::kMatmul) {
      EXPECT_LE(i.rows, machine.core.partitions);
      return;
    }
    const TensorSpec& t = machine.core.tensor;
    EXPECT_LE(i.rows, t.contraction_rows(i.dtype));
    EXPECT_LE(i.columns, t.columns);
    EXPECT_LE(step.free, t.max_moving);
  };
  EXPECT_EQ(interpreter.run(), "");
  EXPECT_EQ(interpreter.leftovers(), "");
}

}  // namespace trnsim::test
