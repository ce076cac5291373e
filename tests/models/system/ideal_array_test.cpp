// An array without overlap and without overheads takes the textbook's cycles.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/system/simulation.h"
#include "tests/models/system/hand_made.h"

namespace trnsim {
namespace {

constexpr std::int64_t kNs = 1000;  // one cycle at 1 GHz

/// 128 x 128, weights enter a row per cycle, rows of A stream one per cycle, the last result leaves rows + columns - 2
/// cycles after the last row entered. Nothing else takes time.
MachineSpec ideal_machine(std::uint64_t m) {
  MachineSpec machine = small_machine();
  TensorSpec& tensor = machine.core.tensor;
  tensor.clock = Hertz(1'000'000'000);
  tensor.minimum_interval = 0;
  tensor.weight_load = tensor.rows;
  tensor.fill = Time((std::int64_t{tensor.rows} + tensor.columns - 2) * kNs);
  tensor.max_moving = static_cast<std::uint32_t>(m);
  machine.core.psum_per_partition = Bytes(machine.core.psum_banks * m * sizeof(float));
  machine.core.control = {};
  machine.core.control.semaphores = 256;
  return machine;
}

struct Cube {
  std::uint64_t size = 0;
  std::int64_t cycles = 0;
};

class IdealArray : public testing::TestWithParam<Cube> {};

// ceil(k/R) ceil(n/C) products of 2R + C + m - 2 cycles: the next one's weights enter when the array is empty.
TEST_P(IdealArray, TakesItsLoadStreamAndDrain) {
  const std::uint64_t size = GetParam().size;
  const MachineSpec machine = ideal_machine(size);
  const TensorSpec& tensor = machine.core.tensor;
  const auto program = program_of([&](ProgramBuilder&, SegmentBuilder& s) {
    Handle empty;
    for (std::uint64_t i = 0; i < ceil_div(size, tensor.rows) * ceil_div(size, tensor.columns); ++i) {
      Instruction weights = bf16_matmul(1);
      weights.op = Op::kLoadWeights;
      s.emit(Engine::kTensor, weights, {empty});
      Instruction multiply = bf16_matmul(size);
      multiply.columns = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, tensor.columns));
      const Handle product = s.emit(Engine::kTensor, multiply, {});
      empty = s.emit(Engine::kVector, Instruction{}, {product});
    }
  });
  const Time elapsed = simulate(machine, job_on(machine, program, {0}), {}).elapsed;
  EXPECT_EQ(elapsed, Time(GetParam().cycles * kNs));
  EXPECT_GE(elapsed.count(), static_cast<std::int64_t>(size * size * size / (tensor.rows * tensor.columns)) * kNs);
}

INSTANTIATE_TEST_SUITE_P(Cubes, IdealArray, testing::Values(Cube{64, 446}, Cube{1024, 89'984}, Cube{4096, 4'585'472}),
                         [](const auto& cube) { return std::to_string(cube.param.size); });

}  // namespace
}  // namespace trnsim
