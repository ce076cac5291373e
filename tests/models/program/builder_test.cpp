#include "models/program/builder.h"

#include <gtest/gtest.h>

#include "models/mechanism/error.h"
#include "tests/models/program/interpreter.h"

namespace trnsim {
namespace {

Instruction op(Op what, std::uint64_t free = 1) {
  Instruction instruction;
  instruction.op = what;
  instruction.free = Count::constant(free);
  return instruction;
}

Transfer load(std::uint8_t queue = 0) {
  Transfer transfer;
  transfer.bytes_per_repeat = Bytes(64);
  transfer.queue = queue;
  return transfer;
}

Job job_of(std::shared_ptr<const Program> program, std::vector<std::uint32_t> registers = {}) {
  Job job;
  job.cores.push_back({std::move(program), std::move(registers), {}});
  return job;
}

struct Trace {
  std::string waiting, leftovers;
  std::vector<test::Step> steps;
  [[nodiscard]] std::size_t first(Op op, std::uint64_t free) const {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].instruction->op == op && steps[i].free == free) return i;
    }
    return steps.size();
  }
};

Trace run(const Job& job, bool last_first = false) {
  Trace trace;
  test::Interpreter interpreter(job, last_first);
  interpreter.on_step = [&](const test::Step& step) { trace.steps.push_back(step); };
  trace.waiting = interpreter.run();
  trace.leftovers = interpreter.leftovers();
  return trace;
}

void expect_clean(const Job& job) {
  for (const bool last_first : {false, true}) {
    const Trace trace = run(job, last_first);
    EXPECT_EQ(trace.waiting, "");
    EXPECT_EQ(trace.leftovers, "");
  }
}

TEST(ProgramBuilder, AConsumerNeverStartsBeforeItsProducer) {
  ProgramBuilder program("p");
  program.call(program.segment("s", [](SegmentBuilder& s) {
    const Handle weights = s.dma(Engine::kSync, load(), Count::constant(1), {});
    const Handle product = s.emit(Engine::kTensor, op(Op::kMatmul, 7), {weights});
    s.emit(Engine::kVector, op(Op::kCopy, 9), {product});
  }));
  const Job job = job_of(program.finish());
  for (const bool last_first : {false, true}) {
    const Trace trace = run(job, last_first);
    EXPECT_EQ(trace.waiting, "");
    EXPECT_EQ(trace.leftovers, "");
    EXPECT_LT(trace.first(Op::kMatmul, 7), trace.first(Op::kCopy, 9));
  }
}

TEST(ProgramBuilder, ADependenceAlreadyWaitedForCostsNoSecondCount) {
  ProgramBuilder program("p");
  program.call(program.segment("s", [](SegmentBuilder& s) {
    const Handle first = s.emit(Engine::kTensor, op(Op::kMatmul));
    const Handle second = s.emit(Engine::kTensor, op(Op::kMatmul));
    s.emit(Engine::kVector, op(Op::kCopy), {second});
    s.emit(Engine::kVector, op(Op::kCopy), {first});  // the tensor engine is in order: implied by the wait before
  }));
  const auto finished = program.finish();
  EXPECT_EQ(finished->segments[0].instructions[static_cast<std::size_t>(Engine::kVector)][1].wait_count, 0);
  expect_clean(job_of(finished));
}

TEST(ProgramBuilder, LoopsBalanceForAnyTripCountEvenNone) {
  ProgramBuilder program("p");
  program.call(program.segment("s", [](SegmentBuilder& s) {
    const std::uint32_t trips = s.reserve_registers(1);
    const Handle outside = s.emit(Engine::kScalar, op(Op::kActivation));
    const auto exit = s.loop(Count::reg(trips), [&] {
      const Handle in = s.dma(Engine::kSync, load(), Count::constant(1), {outside});
      const Handle product = s.emit(Engine::kTensor, op(Op::kMatmul), {in, outside});
      s.emit(Engine::kVector, op(Op::kCopy), {product});
    });
    s.emit(Engine::kGpSimd, op(Op::kGather), {exit.on(Engine::kVector)});
  }));
  const auto finished = program.finish();
  for (const std::uint32_t trips : {0U, 1U, 5U}) expect_clean(job_of(finished, {trips}));
}

TEST(ProgramBuilder, CountsInsideALoopAreNotTakenForOneFromBefore) {
  // The vector engine waits for the first matmul only after the loop, but its waits inside must not use up that count.
  ProgramBuilder program("p");
  program.call(program.segment("s", [](SegmentBuilder& s) {
    const Handle before = s.emit(Engine::kTensor, op(Op::kMatmul, 100));
    s.loop(Count::constant(3), [&] {
      const Handle inside = s.emit(Engine::kTensor, op(Op::kMatmul, 7));
      s.emit(Engine::kVector, op(Op::kCopy, 9), {inside});
    });
    s.emit(Engine::kVector, op(Op::kCopy, 11), {before});
  }));
  const Job job = job_of(program.finish());
  for (const bool last_first : {false, true}) {
    std::int64_t produced = 0;
    for (const test::Step& step : run(job, last_first).steps) {
      if (step.free == 7) ++produced;
      if (step.free == 9) {
        EXPECT_GE(--produced, 0);
      }
    }
  }
  expect_clean(job);
}

TEST(ProgramBuilder, NestedLoopsReadTheRegisterOfTheInnermostCounter) {
  ProgramBuilder program("p");
  program.call(program.segment("s", [](SegmentBuilder& s) {
    const std::uint32_t inner = s.reserve_registers(2);
    s.loop(Count::constant(2),
           [&] { s.loop(Count::indexed(inner), [&] { s.emit(Engine::kVector, op(Op::kCopy, 5)); }); });
  }));
  const Job job = job_of(program.finish(), {2, 3});
  const Trace trace = run(job);
  EXPECT_EQ(std::count_if(trace.steps.begin(), trace.steps.end(), [](const auto& s) { return s.free == 5; }), 5);
  expect_clean(job);
}

TEST(ProgramBuilder, ARingHoldsTheProducerBackUntilABufferIsFree) {
  ProgramBuilder program("p");
  const BufferRing ring = program.sbuf_ring(Bytes(100), 2);
  program.call(program.segment("s", [&](SegmentBuilder& s) {
    s.loop(Count::constant(5), [&] {
      s.acquire(Engine::kSync, ring);
      const Handle in = s.dma(Engine::kSync, load(), Count::constant(1), {});
      s.release(s.emit(Engine::kTensor, op(Op::kMatmul), {in}), ring);
    });
  }));
  EXPECT_EQ(program.sbuf_per_partition(), Bytes(200));
  const Job job = job_of(program.finish());
  std::int64_t held = 0;
  for (const test::Step& step : run(job, true).steps) {
    held += step.instruction->op == Op::kDma ? 1 : step.instruction->op == Op::kMatmul ? -1 : 0;
    EXPECT_LE(held, 2);
  }
  expect_clean(job);
}

TEST(ProgramBuilder, MoreWaitsThanAnInstructionHoldsGoToOneBeforeIt) {
  ProgramBuilder program("p");
  program.call(program.segment("s", [](SegmentBuilder& s) {
    std::vector<Handle> loads;
    for (std::uint8_t q = 0; q < 9; ++q) loads.push_back(s.dma(Engine::kSync, load(q), Count::constant(1), {}));
    s.emit(Engine::kTensor, op(Op::kMatmul), loads);
  }));
  expect_clean(job_of(program.finish()));
}

TEST(ProgramBuilder, SegmentsCalledTwiceKeepTheirCountsApart) {
  ProgramBuilder program("p");
  const SemaphoreId ready = program.semaphore(WaitReason::kEngine);
  const std::uint32_t make =
      program.segment("make", [&](SegmentBuilder& s) { s.signal(s.emit(Engine::kVector, op(Op::kCopy)), ready); });
  const std::uint32_t use = program.segment("use", [&](SegmentBuilder& s) {
    s.reserve_registers(3);
    s.wait(Engine::kScalar, ready, 1);
    const Handle used = s.emit(Engine::kScalar, op(Op::kActivation));
    s.signal(s.emit(Engine::kVector, op(Op::kCopy), {used}), ready);
  });
  const std::uint32_t end = program.segment("end", [&](SegmentBuilder& s) {
    s.wait(Engine::kScalar, ready, 1);
    s.emit(Engine::kScalar, op(Op::kActivation));
  });
  EXPECT_EQ(program.call(make), 0U);
  EXPECT_EQ(program.call(use), 0U);
  EXPECT_EQ(program.call(use), 3U);
  EXPECT_EQ(program.call(end), 6U);
  expect_clean(job_of(program.finish()));
}

TEST(ProgramBuilder, AHandleFromInsideALoopIsRefusedAfterIt) {
  ProgramBuilder program("p");
  EXPECT_THROW(program.segment("s",
                               [](SegmentBuilder& s) {
                                 Handle inside;
                                 s.loop(Count::constant(2), [&] { inside = s.emit(Engine::kTensor, op(Op::kMatmul)); });
                                 s.emit(Engine::kVector, op(Op::kCopy), {inside});
                               }),
               InvariantError);
}

TEST(ProgramBuilder, AQueueBelongsToOneEngine) {
  ProgramBuilder program("p");
  EXPECT_THROW(program.segment("s",
                               [](SegmentBuilder& s) {
                                 s.dma(Engine::kSync, load(3), Count::constant(1), {});
                                 s.dma(Engine::kGpSimd, load(3), Count::constant(1), {});
                               }),
               InvariantError);
}

}  // namespace
}  // namespace trnsim
